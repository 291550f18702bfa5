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


def train(tmp_path, callback, steps=4, resume=None, **settings):
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=4, n_positions=16, n_embd=8, n_layer=1, n_head=1, bos_token_id=0, eos_token_id=0
    )
    arguments = transformers.TrainingArguments(
        str(tmp_path / "training"),
        max_steps=steps,
        eval_strategy="steps",
        eval_steps=2,
        save_steps=2,
        report_to=[],
        use_cpu=True,
        **settings,
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
    trainer.train(resume_from_checkpoint=resume)
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
    assert caplog.messages == ["step 2 is not judged, and the training goes on: too few texts"]


def fail(model, tokenizer):
    raise ZeroDivisionError("a bug of the user")


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (fail, "ZeroDivisionError: a bug of the user"),
        (lambda model, tokenizer: None, "the result of `sample`: None does not fit; give a list of which each is a"),
        (lambda model, tokenizer: "a text", "the result of `sample`: 'a text' does not fit"),
        (lambda model, tokenizer: ["a", None], r"the result of `sample`[1]: None does not fit"),
        (lambda model, tokenizer: REAL, "blocked/step-00000002/texts: Not a directory; give a place below a folder"),
    ],
)
def test_nothing_ends_a_training_and_each_reason_is_one_warning(sample, reason, tmp_path, caplog):
    from macroscope import MacroscopeCallback

    (tmp_path / "blocked").write_text("a file in the folder's place")
    trained = train(
        tmp_path,
        MacroscopeCallback(REAL, tmp_path / "blocked", sample=sample),
        load_best_model_at_end=True,
        metric_for_best_model="eval_macroscope_strings",
        greater_is_better=False,
    )
    assert trained.state.global_step == 4
    assert trained.state.best_metric in (None, float("inf"))
    warned = [record.getMessage() for record in caplog.records if record.name == "macroscope"]
    assert len(warned) == len({message.partition(":")[2] for message in warned})
    assert warned[0].startswith("step 2 is not judged, and the training goes on: ")
    assert reason in warned[0]


def test_a_step_that_failed_is_judged_when_a_resumed_training_reaches_it(tmp_path, caplog):
    from macroscope import MacroscopeCallback

    words = ["river", "mill", "bread", "garden", "letter", "winter", "road"]
    real = [" ".join(words[(n * k) % 7] for k in range(1, 40)) + "." for n in range(1, 31)]
    disk = ["full"]

    def sample(model, tokenizer):
        if disk:
            return real[:1]  # a single text cannot be judged
        return real

    callback = MacroscopeCallback(real, tmp_path / "judged", sample=sample, critics="tendencies", n_jobs=1)
    train(tmp_path, callback)
    assert "step 2 is not judged" in caplog.text
    assert list((tmp_path / "judged").glob("step-*/results/*/tables")) == []
    disk.clear()
    train(tmp_path, callback, resume=str(tmp_path / "training" / "checkpoint-2"))
    assert [path.parents[2].name for path in (tmp_path / "judged").glob("step-*/results/*/tables")] == ["step-00000004"]


def test_a_callback_needs_texts(tmp_path):
    from macroscope import MacroscopeCallback

    with pytest.raises(MacroscopeError, match="give `prompts`, or a function `sample`"):
        MacroscopeCallback(REAL, tmp_path)
