"""Tiny language models with random weights: structure without training."""

import pytest

CONTEXT = 16
VOCABULARY = 11

SIZES = {
    "gpt2": {"n_positions": CONTEXT, "n_embd": 16, "n_layer": 2, "n_head": 2},
    "macroscope-adaptive-gpt2": {"n_positions": CONTEXT, "n_embd": 16, "n_layer": 2, "n_head": 2, "cutoffs": [4, 8]},
    "macroscope-fairseq": {"n_positions": CONTEXT, "n_embd": 16, "n_layer": 2, "n_head": 2},
    "gpt_neo": {
        "max_position_embeddings": CONTEXT,
        "hidden_size": 16,
        "num_layers": 2,
        "num_heads": 2,
        "attention_types": [[["global", "local"], 1]],
        "window_size": 4,
    },
    "llama": {
        "max_position_embeddings": CONTEXT,
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    },
}
SIZES["mistral"] = SIZES["llama"] | {"sliding_window": 4}
SIZES["gemma2"] = SIZES["llama"] | {"sliding_window": 4, "head_dim": 4}
"""A model in which one of the two layers has a window."""

RECURRENT = {
    "macroscope-lstm": {"embedding_size": 8, "hidden_size": 12, "num_hidden_layers": 2},
    "macroscope-gated-cnn": {"hidden_size": 12, "num_hidden_layers": 3, "kernel_size": 3},
}
"""Sizes of models that carry a state."""


def tiny_model(kind, scale=None):
    """Return a model whose next-token distribution depends strongly on its whole context."""
    scale = scale or (1.5 if kind == "macroscope-fairseq" else 6.0)  # it scales its embeddings itself
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    import macroscope.systems.language_model.architectures  # noqa: F401 - registers them with transformers

    torch.manual_seed(3)
    sizes = (SIZES | RECURRENT)[kind]
    config = AutoConfig.for_model(kind, vocab_size=VOCABULARY, bos_token_id=0, eos_token_id=0, **sizes)
    model = AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(scale)
    return model


@pytest.fixture(params=list(SIZES))
def model(request):
    return tiny_model(request.param)


@pytest.fixture
def gpt2():
    return tiny_model("gpt2")


@pytest.fixture(scope="session")
def letters():
    """A byte-level tokenizer of `VOCABULARY` tokens: a few letters, line break, colon and space."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    tokens = ["<|endoftext|>", "Ċ", "a", "b", "c", "d", ":", "Ġ", "e", "f", "g"]
    tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<|endoftext|>", eos_token="<|endoftext|>")
