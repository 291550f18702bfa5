"""The callback under the real `Trainer`, with a model of a few parameters."""

import pandas as pd
import pytest

from macroscope import MacroscopeError

pytestmark = pytest.mark.slow
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
REAL = ["A real text."] * 3


class Result:
    """A result, as far as the callback reads it."""

    detectability = pd.DataFrame(
        {"system": ["split_half", "model"], "critic": "strings", "verdict": "unlike", "c2st_auc": [0.5, 0.75]}
    )


@pytest.fixture
def compared(monkeypatch):
    """Replace the comparison; return the calls that it had."""
    calls = []

    def compare(real, mine, **arguments):
        calls.append({"real": real, **mine, **arguments})
        return Result()

    monkeypatch.setattr("macroscope.api.trainer_callback.compare", compare)
    return calls


def tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {word: number for number, word in enumerate(["<end>", "a", "b", "c"])}
    plain = Tokenizer(models.WordLevel(words, unk_token="<end>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<end>")


def train(tmp_path, callback):
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=4, n_positions=16, n_embd=8, n_layer=1, n_head=1, bos_token_id=0, eos_token_id=0
    )
    arguments = transformers.TrainingArguments(
        str(tmp_path / "training"), max_steps=4, eval_strategy="steps", eval_steps=2, report_to=[], use_cpu=True
    )
    data = [{"input_ids": torch.tensor([1, 2, 3, 1]), "labels": torch.tensor([1, 2, 3, 1])}] * 8
    trainer = transformers.Trainer(
        transformers.GPT2LMHeadModel(config),
        arguments,
        train_dataset=data,
        eval_dataset=data,
        data_collator=transformers.default_data_collator,
        processing_class=tokenizer(),
        callbacks=[callback] if callback else [],
    )
    trainer.train()
    return trainer


def test_every_evaluation_is_judged_and_the_training_is_the_same(tmp_path, compared):
    from macroscope import MacroscopeCallback

    plain = train(tmp_path, None)
    callback = MacroscopeCallback(REAL, tmp_path / "judged", prompts=["a b", "c"], max_new_tokens=5, critics="strings")
    judged = train(tmp_path, callback)
    assert [call["keep"].name for call in compared] == ["step-00000002", "step-00000004"]
    assert all(len(call["model"]) == 2 and call["critics"] == "strings" for call in compared)
    assert judged.evaluate()["eval_macroscope_strings"] == 0.75
    for first, second in zip(plain.model.parameters(), judged.model.parameters(), strict=True):
        assert torch.equal(first, second)


def test_a_training_goes_on_if_its_texts_cannot_be_judged(tmp_path, monkeypatch, caplog):
    from macroscope import MacroscopeCallback

    def refuse(*texts, **arguments):
        raise MacroscopeError("too few texts")

    monkeypatch.setattr("macroscope.api.trainer_callback.compare", refuse)
    callback = MacroscopeCallback(REAL, tmp_path, sample=lambda model, tokenizer: ["one"])
    with caplog.at_level("WARNING", logger="macroscope"):
        assert train(tmp_path, callback).state.global_step == 4
    assert "step 2 is not judged: too few texts" in caplog.text


def test_a_callback_needs_texts(tmp_path):
    from macroscope import MacroscopeCallback

    with pytest.raises(MacroscopeError, match="give `prompts`, or a function `sample`"):
        MacroscopeCallback(REAL, tmp_path)
