"""Fitting from files: kills, the two phases, perplexity, samples, and recovery of a known process."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import TrainerCallback

from macroscope import trainer as shared
from macroscope.corpora.simulated import HsmmSizes
from macroscope.corpora.simulated.hsmm import hsmm_process, simulate_texts
from macroscope.documents import Document, Provenance, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.hsmm import HsmmSystem, training
from macroscope.systems.hsmm.model import Hsmm, measure_perplexity, sample_hsmm
from macroscope.systems.hsmm.ngrams import Texts, count_ngrams
from macroscope.systems.hsmm.training import train_hsmm

from ....gpu import same_bytes

SIZES = HsmmSizes(
    states=3,
    subsequences=8,
    letters=6,
    shortest=2,
    longest=3,
    segments=4,
    transition_temperature=2,
    emission_temperature=2,
)
SMALL = {"kind": "hsmm", "states": 6, "longest": 3, "ngrams": 30, "samples": 50, "segments": 4}


@pytest.fixture(scope="module")
def process():
    return hsmm_process(SIZES, 1)


@pytest.fixture(scope="module")
def documents(process, tmp_path_factory):
    """A corpus of short texts."""
    path = tmp_path_factory.mktemp("corpus") / "documents.parquet"
    splits = ["train"] * 160 + ["valid"] * 20 + ["test"] * 20
    texts = simulate_texts(process, "process", 200, 3)
    write_documents(
        path,
        [Document(d.id, split, None, d.sections) for d, split in zip(texts, splits, strict=True)],
        Provenance("x"),
    )
    return path


def fit_model(documents, folder, fit, **changes):
    options = HsmmSystem(**SMALL | {"fit": fit} | changes)
    train_hsmm(documents, folder / "model", options, seed=1, checkpoints=folder / "checkpoints")
    return options


EM = {"method": "em", "iterations": 6, "tolerance": 0.0, "batch_size": 50, "starts": 2}
SGD = {"method": "sgd", "epochs": 3, "evaluations": 3, "batch_size": 16}


def test_expectation_maximisation_comes_near_the_process(documents, process, tmp_path):
    options = fit_model(documents, tmp_path, EM | {"iterations": 40, "starts": 1})
    measure_perplexity(documents, tmp_path / "model", tmp_path / "perplexity.parquet", options, split="test")
    table = pd.read_parquet(tmp_path / "perplexity.parquet")
    assert list(table["id"]) == [document.id for document in read_documents(documents, "test")]
    assert (table["tokens"] == table["words"] + 1).all()
    numbers = [
        [process.places[f"{p.strip()} /"] for p in d.text.split("/")[:-1]] for d in read_documents(documents, "test")
    ]
    true = -sum(process.log_probability(text) for text in numbers)
    # If all texts have M segments, a geometric distribution of their number costs (1 + log M) nats per text at most.
    assert 0.98 * true < table["nll"].sum() < true + len(table) * (1 + np.log(4))


def test_the_best_start_is_kept(documents, tmp_path, caplog):
    with caplog.at_level("INFO", "macroscope"):
        fit_model(documents, tmp_path, EM)
    log = pd.read_csv(tmp_path / "model" / "training_log.csv")
    by_start = next(m for m in caplog.messages if "by start" in m).partition(": ")[2]
    lowest = [float(loss) for loss in by_start.split(", ")]
    assert len(lowest) == 2
    assert log["valid_loss"].min() == pytest.approx(min(lowest), abs=1e-4)
    assert set(log["start"]) == {int(np.argmin(lowest))}
    assert list(log["step"]) == [int(np.argmin(lowest)) * 6 + n for n in range(6)]


def test_gradient_descent_goes_through_two_phases(documents, tmp_path):
    fit_model(documents, tmp_path, SGD)
    log = pd.read_csv(tmp_path / "model" / "training_log.csv")
    assert list(dict.fromkeys(log["phase"])) == ["emissions", "all"]
    losses = log.dropna(subset=["valid_loss"])["valid_loss"]
    assert losses.iloc[-1] < losses.iloc[0] - 0.3
    about = json.loads((tmp_path / "model" / "training.json").read_text())
    assert about["training_texts"] == 160
    assert about["parameters"] == sum(p.numel() for p in Hsmm.load(tmp_path / "model")[0].parameters())


def test_the_first_phase_fits_emissions_only(documents, tmp_path, monkeypatch):
    changed = []

    def recorded_train(model, *arguments):
        before = {name: p.detach().cpu().clone() for name, p in model.named_parameters()}
        history = shared.train(model, *arguments)
        changed.append({name for name, p in model.named_parameters() if not torch.equal(p.cpu(), before[name])})
        return history

    monkeypatch.setattr(training, "train", recorded_train)
    fit_model(documents, tmp_path, SGD)
    emissions = {name for name in changed[1] if name.startswith("emission")}
    assert changed[0] == emissions
    assert changed[1] == emissions | {"initial", "transition", "length"}


class Killed(Exception):
    pass


@same_bytes
@pytest.mark.parametrize("saves", [4, 6, 7, 10], ids=["first start", "its end", "second start", "later"])
def test_killed_expectation_maximisation_ends_with_the_same_weights(saves, documents, tmp_path, monkeypatch):
    (tmp_path / "whole").mkdir()
    fit_model(documents, tmp_path / "whole", EM)
    save, calls = training._save, []

    def killing(model, place, about):
        save(model, place, about)
        calls.append(place.name)
        if calls.count("last") == saves:
            raise Killed

    (tmp_path / "killed").mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(training, "_save", killing)
        with pytest.raises(Killed):
            fit_model(documents, tmp_path / "killed", EM)
    fit_model(documents, tmp_path / "killed", EM)
    for name in ("model.safetensors", "training_log.csv"):
        first, second = ((tmp_path / run / "model" / name).read_bytes() for run in ("whole", "killed"))
        assert first == second, name
    assert not (tmp_path / "killed" / "checkpoints").exists()


@same_bytes
def test_killed_gradient_descent_ends_with_the_same_weights(documents, tmp_path, monkeypatch):
    (tmp_path / "whole").mkdir()
    fit_model(documents, tmp_path / "whole", SGD)

    class Kill(TrainerCallback):
        def on_save(self, args, state, control, **kwargs):
            if "all" in args.output_dir and state.global_step >= 20:
                raise Killed

    original = shared.Trainer

    def killing(*arguments, **named):
        trainer = original(*arguments, **named)
        trainer.add_callback(Kill())
        return trainer

    (tmp_path / "killed").mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(shared, "Trainer", killing)
        with pytest.raises(Killed):
            fit_model(documents, tmp_path / "killed", SGD)
    fit_model(documents, tmp_path / "killed", SGD)
    first, second = ((tmp_path / run / "model" / "model.safetensors").read_bytes() for run in ("whole", "killed"))
    assert first == second


def test_samples_are_documents_and_cuts_are_counted(documents, tmp_path):
    options = fit_model(documents, tmp_path, EM | {"starts": 1}, segments=None, max_tokens=8)
    for name in ("once", "again"):
        sample_hsmm(tmp_path / "model", tmp_path / f"{name}.parquet", options, corpus="c", system="h", seed=1)
    assert (tmp_path / "once.parquet").read_bytes() == (tmp_path / "again.parquet").read_bytes()
    texts = list(read_documents(tmp_path / "once.parquet"))
    assert len(texts) == 50
    cut = sum(len(text.text.split()) == 8 for text in texts)
    counts = {count.filter: count.dropped for count in read_provenance(tmp_path / "once.parquet").counts}
    assert 0 < counts["end of a sample beyond 8 tokens"] <= cut
    reseeded = options.model_copy(update={"seed": 5})
    sample_hsmm(tmp_path / "model", tmp_path / "other.parquet", reseeded, corpus="c", system="h", seed=1)
    assert [d.text for d in read_documents(tmp_path / "other.parquet")] != [text.text for text in texts]


def test_a_model_without_ends_requires_a_number_of_segments():
    with pytest.raises(ValueError, match=r"h.segments: a model with ends: false samples endless texts"):
        HsmmSystem(kind="hsmm", ends=False).check("h", None)
    HsmmSystem(kind="hsmm", ends=False, segments=50).check("h", None)
    with pytest.raises(ValueError, match=r"h.segments: 50 segments are more than the 20 tokens of the longest"):
        HsmmSystem(kind="hsmm", segments=50, max_tokens=20).check("h", None)


def test_texts_without_words_are_refused():
    ngrams = count_ngrams([["a"]], 2, 5)
    with pytest.raises(MacroscopeError, match="1 of 2 texts have no words"):
        Texts([["a"], []], ngrams)
