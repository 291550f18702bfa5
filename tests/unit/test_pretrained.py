"""Pretrained models are complete, or an error says what is missing."""

import json
import pickle
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModel,
    AutoModelForSequenceClassification,
    BertForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
)

from macroscope.critics.text_encoder import TextEncoder
from macroscope.errors import MacroscopeError
from macroscope.models import resolve
from macroscope.pretrained import load_pretrained_encoder, load_saved, require_known_words
from macroscope.systems.language_model.model import load_base
from macroscope.systems.tokenizer import train_bpe

from ..tiny import write_encoder

SENTENCE = "the quick brown fox jumps over the lazy dog"
"""Words that the small encoder does not know."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture
def folder(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "encoder")


@pytest.fixture
def language_model(tmp_path):
    """A small GPT-2 with its tokenizer."""
    tokenizer = train_bpe(iter([SENTENCE] * 3), 300)
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=32, n_embd=16, n_layer=2, n_head=2)
    GPT2LMHeadModel(config).save_pretrained(tmp_path / "lm")
    tokenizer.save_pretrained(tmp_path / "lm")
    return tmp_path / "lm"


def without(folder, *words):
    """Remove the weights with one of these words in their names."""
    path = folder / "model.safetensors"
    kept = {name: value for name, value in load_file(path).items() if not any(word in name for word in words)}
    save_file(kept, path, metadata={"format": "pt"})


def edit(folder, **options):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | options))


def assert_refused(folder, message, load=load_pretrained_encoder):
    with pytest.raises(MacroscopeError, match=message) as error:
        load(str(folder))
    assert "\n" not in str(error.value)


def test_a_whole_model_is_loaded(whole):
    model, tokenizer = load_pretrained_encoder(str(whole))
    saved = load_file(whole / "model.safetensors")
    for name, value in model.state_dict().items():
        if "position_ids" not in name:
            assert torch.equal(value, saved[name])
    assert len(tokenizer) == model.config.vocab_size


def test_a_folder_without_a_tokenizer(folder):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    assert_refused(folder, "tokenizer")


def test_a_tokenizer_of_another_model(folder, language_model):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(language_model / name, folder / name)
    _, tokenizer = load_saved(language_model, causal_lm_class())
    vectors = json.loads((folder / "config.json").read_text())["vocab_size"]
    assert_refused(folder, rf"its tokenizer has {len(tokenizer):,} tokens, and the model vectors for {vectors:,}")


def causal_lm_class():
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM


def test_missing_weights(folder):
    without(folder, "attention", "intermediate")
    assert_refused(folder, r"lacks the weights encoder\.layer\.0\.attention.* in all\), so that they would be random")


def test_a_missing_pooling_layer_is_accepted(folder):
    without(folder, "pooler")
    load_pretrained_encoder(str(folder))


def test_a_config_with_more_layers_than_weights(folder):
    edit(folder, num_hidden_layers=2)
    assert_refused(folder, r"lacks the weights encoder\.layer\.1")


def test_a_config_with_fewer_layers_than_weights(folder):
    path = folder / "model.safetensors"
    weights = load_file(path)
    more = {name.replace("layer.0", "layer.1"): value.clone() for name, value in weights.items() if "layer.0" in name}
    save_file(weights | more, path, metadata={"format": "pt"})
    assert_refused(folder, r"has weights that its config has no place for: encoder\.layer\.1")


def test_a_config_of_another_width(folder):
    edit(folder, intermediate_size=48)
    assert_refused(folder, r"of another shape than its config says: encoder\.layer\.0\.intermediate")


def test_cut_weights(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    assert_refused(folder, "cannot be loaded")


class Code:
    def __reduce__(self):
        return print, ("run",)


def test_pickled_code_is_not_run_nor_advised(folder, capsys):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"a": Code()}, protocol=2))
    assert_refused(
        folder, "its weights are a Python pickle of more than tensors, which is not opened, since that runs code"
    )
    assert "run" not in capsys.readouterr().out.split()


def test_code_that_comes_with_a_model_is_not_run(folder):
    edit(folder, model_type="mine", auto_map={"AutoConfig": "mine.Config", "AutoModel": "mine.Model"})
    assert_refused(folder, "cannot be loaded")


def test_a_head_that_is_to_be_trained_may_be_missing(folder):
    def load(name, labels=3):
        return load_pretrained_encoder(name, AutoModelForSequenceClassification, new_head=True, num_labels=labels)

    model, _ = load(str(folder))
    assert model.classifier.out_features == 3
    model.save_pretrained(folder)  # with a head, of another number of labels
    assert isinstance(load(str(folder), 5)[0], BertForSequenceClassification)
    load_pretrained_encoder(str(folder))  # whose head goes
    without(folder, "attention.self.query.weight")
    assert_refused(
        folder, r"lacks the weights bert\.encoder\.layer\.0\.attention\.self\.query\.weight \(1 in all\)", load
    )


def test_a_language_model_that_is_not_whole(language_model):
    def load(name):
        source = resolve(name)
        return load_base(source, load_saved(language_model, causal_lm_class())[1], 1)

    load(str(language_model))
    edit(language_model, n_layer=3)
    with pytest.raises(MacroscopeError, match=r"lacks the weights transformer\.h\.2"):
        load(str(language_model))


def test_a_language_model_without_its_tokenizer(language_model):
    (language_model / "tokenizer.json").unlink()
    with pytest.raises(MacroscopeError, match="tokenizer"):
        load_saved(language_model, causal_lm_class())


def test_texts_that_a_tokenizer_does_not_know(whole):
    encoder = TextEncoder(str(whole), "mean", 16)
    with pytest.raises(MacroscopeError, match=r"does not know \d+ of \d+ tokens of these texts"):
        encoder.embed(["\u0431\u044b\u0442\u044c \u0438\u043b\u0438 \u043d\u0435 \u0431\u044b\u0442\u044c"] * 3)


def test_known_words_are_counted_over_all_texts(whole):
    _, tokenizer = load_pretrained_encoder(str(whole))
    unknown = tokenizer.unk_token_id
    require_known_words(tokenizer, [[unknown, unknown], [9, 9], [], np.array([unknown, 9])], "x")  # half of them
    with pytest.raises(MacroscopeError, match="does not know 4 of 6 tokens"):
        require_known_words(tokenizer, [[unknown, unknown], [9], np.array([unknown, unknown, 9])], "x")
    require_known_words(tokenizer, [], "x")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_encoders_compute_in_single_precision_whatever_they_are_saved_in(folder, dtype):
    AutoModel.from_pretrained(folder, dtype=dtype).save_pretrained(folder)
    assert load_pretrained_encoder(str(folder))[0].dtype == torch.float32
