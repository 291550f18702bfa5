"""The decoder of fairseq: against logits of fairseq 0.12.2 itself, whose weights a formula gave."""

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

import macroscope.systems.language_model.architectures  # noqa: F401 - registers them with transformers

SIZES = {
    "bos_token_id": 0,
    "eos_token_id": 0,
    "n_positions": 64,
    "n_embd": 8,
    "n_layer": 2,
    "n_head": 2,
    "n_inner": 12,
    "activation_function": "relu",
}
TOKENS = [[2, 5, 3, 9, 4, 4, 10]]
LOGITS = {
    False: [-0.50929, 0.16705, 0.7684, 1.02485, 0.82127, 0.24905, -0.43496, -0.92373, -0.99787, -0.62409, 0.02982],
    True: [-0.91365, -0.16613, 0.65596, 1.18361, 1.17997, 0.64668, -0.17688, -0.92105, -1.25179, -1.02064, -0.33136],
}
"""Logits of the last token, by decoder_normalize_before."""
NAMES = {
    "mlp.c_fc": "fc1",
    "mlp.c_proj": "fc2",
    "attn.c_proj": "self_attn.out_proj",
    "ln_1": "self_attn_layer_norm",
    "ln_2": "final_layer_norm",
}
"""Parts of a block and their names in fairseq."""


def formula(name, *shape):
    """The numbers that fairseq's parameter of this name was given."""
    places = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return (torch.sin(places * 0.7 + sum(map(ord, name))) * 0.5).view(shape).float()


def set_weights(model):
    decoder, size = model.transformer, model.config.n_embd
    decoder.wte.weight.data = formula("decoder.embed_tokens.weight", *decoder.wte.weight.shape)
    for number, block in enumerate(decoder.h):
        prefix = f"decoder.layers.{number}."
        for ours, theirs in NAMES.items():
            part = block.get_submodule(ours)
            is_linear = part.weight.ndim == 2  # GPT-2 stores these transposed
            weight = formula(f"{prefix}{theirs}.weight", *reversed(part.weight.shape))
            part.weight.data = weight.T if is_linear else weight
            part.bias.data = formula(f"{prefix}{theirs}.bias", *part.bias.shape)
        three = [f"{prefix}self_attn.{letter}_proj" for letter in "qkv"]
        block.attn.c_attn.weight.data = torch.cat([formula(f"{name}.weight", size, size).T for name in three], dim=1)
        block.attn.c_attn.bias.data = torch.cat([formula(f"{name}.bias", size) for name in three])
    if model.config.norm_first:
        decoder.ln_f.weight.data = formula("decoder.layer_norm.weight", size)
        decoder.ln_f.bias.data = formula("decoder.layer_norm.bias", size)


@pytest.mark.parametrize("norm_first", LOGITS)
@torch.inference_mode()
def test_logits_are_those_of_fairseq(norm_first):
    config = AutoConfig.for_model("macroscope-fairseq", vocab_size=11, norm_first=norm_first, **SIZES)
    model = AutoModelForCausalLM.from_config(config).eval()
    set_weights(model)
    torch.testing.assert_close(
        model(torch.tensor(TOKENS)).logits[0, -1], torch.tensor(LOGITS[norm_first]), atol=2e-5, rtol=0
    )


def test_saved_models_keep_their_weights_and_share_the_output(tmp_path):
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model("macroscope-fairseq", vocab_size=11, **SIZES)).eval()
    model.save_pretrained(tmp_path)
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    assert loaded.lm_head.weight is loaded.transformer.wte.weight
    tokens = torch.tensor(TOKENS)
    torch.testing.assert_close(loaded(tokens).logits, model(tokens).logits)


@torch.inference_mode()
def test_initial_weights_have_the_scales_of_fairseq():
    config = AutoConfig.for_model("macroscope-fairseq", vocab_size=500, **(SIZES | {"n_embd": 128, "n_inner": 256}))
    model = AutoModelForCausalLM.from_config(config)
    block, width = model.transformer.h[0], 128
    assert model.transformer.wte.weight.std() == pytest.approx(width**-0.5, rel=0.02)
    # Xavier: variance 2 / (in + out), times the gain squared; uniform +-1 / sqrt(in): variance 1 / (3 in)
    assert block.attn.c_attn.weight.std() == pytest.approx((0.5 / width) ** 0.5, rel=0.02)
    assert block.attn.c_proj.weight.std() == pytest.approx((1 / width) ** 0.5, rel=0.02)
    assert block.mlp.c_fc.weight.std() == pytest.approx((1 / 3 / width) ** 0.5, rel=0.02)
    assert block.mlp.c_proj.weight.std() == pytest.approx((1 / 3 / 256) ** 0.5, rel=0.02)
