"""Training: resuming after a kill with the same weights, the best checkpoint, and error messages."""

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import TrainerCallback

from macroscope import trainer
from macroscope.documents import Document, Provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.pretrained import load_saved_tokenizer
from macroscope.systems.language_model.model import context_window, load_base, load_model
from macroscope.systems.language_model.options import LanguageModelSystem, Training
from macroscope.systems.language_model.training import finetune, train_tokenizer
from macroscope.training import Schedule

from ....tiny import simulated_documents


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    documents = [
        Document(d.id, "valid" if n % 5 == 0 else "train", d.title, d.sections)
        for n, d in enumerate(simulated_documents("process", 40, 1))
    ]
    write_documents(folder / "documents.parquet", documents, Provenance("c"))
    train_tokenizer(folder / "documents.parquet", folder / "tokenizer", OPTIONS)
    return folder


OPTIONS = LanguageModelSystem(
    kind="language_model", base="tiny-gpt2", titles=True, context=32,
    training=Training(epochs=1, batch_size=16, device_batch_size=8, learning_rate=0.003, evaluations=4),
)  # fmt: skip


def train(corpus, output, options=OPTIONS):
    finetune(
        corpus / "documents.parquet",
        corpus / "tokenizer",
        output,
        options,
        seed=1,
        checkpoints=output.with_name(f"{output.name}-ck"),
    )
    return load_model(output)[0]


class Kill(TrainerCallback):
    """Callback that stops the training after the second checkpoint, like a kill."""

    def on_save(self, args, state, control, **kwargs):
        if len([e for e in state.log_history if "eval_loss" in e]) == 2:
            raise KeyboardInterrupt


def test_killed_training_ends_with_the_same_weights(corpus, tmp_path, monkeypatch):
    whole = train(corpus, tmp_path / "whole")
    assert cut_off(corpus, tmp_path / "cut", monkeypatch)
    assert not (tmp_path / "cut").exists()
    resumed = train(corpus, tmp_path / "cut")
    for a, b in zip(whole.parameters(), resumed.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
    assert not (tmp_path / "cut-ck").exists()


def cut_off(corpus, output, monkeypatch):
    """Train until a kill after the second checkpoint; return the checkpoints."""
    original = trainer.Trainer

    def dying(*arguments, **options):
        return original(*arguments, **(options | {"callbacks": [*options["callbacks"], Kill()]}))

    with monkeypatch.context() as patched:
        patched.setattr(trainer, "Trainer", dying)
        with pytest.raises(KeyboardInterrupt):
            train(corpus, output)
    folder = output.with_name(f"{output.name}-ck")
    return sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.partition("-")[2]))


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


BREAKS = {
    "a file is cut": lambda checkpoint: cut(checkpoint / "optimizer.pt"),
    "a file is missing": lambda checkpoint: (checkpoint / "trainer_state.json").unlink(),
    "killed before the end": lambda checkpoint: (checkpoint / trainer.WHOLE).unlink(),
}


@pytest.mark.parametrize("broken", BREAKS)
def test_after_a_broken_checkpoint_the_one_before_is_used(broken, corpus, tmp_path, monkeypatch, caplog):
    whole = train(corpus, tmp_path / "whole")
    before, newest = cut_off(corpus, tmp_path / "cut", monkeypatch)
    BREAKS[broken](newest)
    with caplog.at_level("INFO", logger="macroscope"):
        resumed = train(corpus, tmp_path / "cut")
    assert f"{newest} is incomplete" in caplog.text
    assert f"resuming from {before}" in caplog.text
    for a, b in zip(whole.parameters(), resumed.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_without_a_complete_checkpoint_training_starts_from_the_beginning(corpus, tmp_path, monkeypatch):
    whole = train(corpus, tmp_path / "whole")
    for checkpoint in cut_off(corpus, tmp_path / "cut", monkeypatch):
        cut(checkpoint / "model.safetensors")
    again = train(corpus, tmp_path / "cut")
    for a, b in zip(whole.parameters(), again.parameters(), strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize(
    ("batch", "device", "devices", "expected"),
    [
        (15, 8, 1, (5, 3)),
        (16, 8, 1, (8, 2)),
        (8, 16, 1, (8, 1)),
        (17, 8, 1, (1, 17)),
        (24, 8, 2, (6, 2)),
        (6, 4, 3, (2, 1)),
    ],
)
def test_a_batch_has_the_requested_size(batch, device, devices, expected, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", str(devices))
    assert trainer._split_batch(Schedule(1, batch, device, 0.1)) == expected
    assert expected[0] * expected[1] * devices == batch


def test_a_batch_that_cannot_be_divided_is_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(MacroscopeError, match="batch_size: 10 examples cannot be divided among 4 devices"):
        trainer._split_batch(Schedule(1, 10, 8, 0.1))


def test_a_training_that_diverges_says_at_which_step(corpus, tmp_path):
    wild = OPTIONS.model_copy(update={"training": OPTIONS.training.model_copy(update={"learning_rate": 1e30})})
    with pytest.raises(MacroscopeError, match=r"diverged at or before step \d+ of \d+: .* set a smaller learning_rate"):
        train(corpus, tmp_path / "wild", wild)


def test_the_kept_model_is_the_one_of_the_lowest_validation_loss(corpus, tmp_path):
    steep = OPTIONS.model_copy(
        update={"training": OPTIONS.training.model_copy(update={"epochs": 4, "learning_rate": 0.03})}
    )
    model = train(corpus, tmp_path / "model", steep)
    log = pd.read_csv(tmp_path / "model" / "training_log.csv")
    from macroscope.systems.language_model.log_probabilities import measure_perplexity

    measure_perplexity(corpus / "documents.parquet", tmp_path / "model", tmp_path / "p.parquet", OPTIONS, split="valid")
    table = pd.read_parquet(tmp_path / "p.parquet")
    # The Trainer's mean is over batches, the last of which has fewer tokens.
    assert table["nll"].sum() / table["tokens"].sum() == pytest.approx(log["valid_loss"].min(), rel=0.005)
    assert np.isfinite(log["valid_loss"].dropna()).all()
    assert model.config.n_positions == 256


def test_missing_base_model_is_one_sentence():
    from macroscope.models import resolve

    with pytest.raises(MacroscopeError, match="model 'no/such-model': cannot be loaded"):
        load_base(resolve("no/such-model"), None, 1)


def test_context_longer_than_the_model_has_is_refused():
    class Config:
        max_position_embeddings = 64

    assert context_window(Config, None) == 64
    with pytest.raises(MacroscopeError, match="128 tokens are more than the 64 positions"):
        context_window(Config, 128)


def test_weights_in_half_precision_are_trained_in_single(corpus, tmp_path):
    whole = train(corpus, tmp_path / "base")
    whole.half().save_pretrained(tmp_path / "half")
    load_saved_tokenizer(corpus / "tokenizer").save_pretrained(tmp_path / "half")
    trained = train(corpus, tmp_path / "trained", OPTIONS.model_copy(update={"base": str(tmp_path / "half")}))
    assert trained.dtype == torch.float32


def test_training_in_bfloat16_needs_no_gpu(corpus, tmp_path):
    options = OPTIONS.model_copy(update={"training": OPTIONS.training.model_copy(update={"precision": "bfloat16"})})
    half, single = train(corpus, tmp_path / "bfloat16", options), train(corpus, tmp_path / "float32")
    assert half.dtype == torch.float32
    losses = [pd.read_csv(tmp_path / name / "training_log.csv")["valid_loss"].min() for name in ("bfloat16", "float32")]
    assert losses[0] == pytest.approx(losses[1], rel=0.05)
    assert not torch.equal(half.lm_head.weight, single.lm_head.weight)
