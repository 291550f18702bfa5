"""Tests of training: learnt detectors, resumption after a kill, calibration, and errors."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import logit
from transformers import TrainerCallback

from macroscope import trainer as shared
from macroscope.critics.narrative import evaluation, judges
from macroscope.critics.narrative.checked_segments import CheckedSegment, Instance, Truth, make_checked_examples
from macroscope.critics.narrative.corruption import corrupt, corrupt_splits
from macroscope.critics.narrative.detector import Detector
from macroscope.critics.narrative.options import DetectorOptions, NarrativeOptions, PretrainingOptions
from macroscope.critics.narrative.report import detection_table
from macroscope.critics.narrative.training import _calibrate, _require_segments, _Training, pretrain, train_detector
from macroscope.critics.options import encoding_of
from macroscope.critics.text_encoder import embed_sentences
from macroscope.documents import Document, Provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.options import Resampling

from ....tiny import simulated_documents, write_encoder
from .made import make_narratives

RESAMPLING = Resampling(resamples=100)
SMALL = {
    "level": "sentence",
    **{"layers": 1, "heads": 2, "width": 32, "hidden": 32, "dropout": 0.0, "learning_rate": 3e-3, "batch_size": 32},
}


@pytest.fixture(autouse=True)
def no_timing(monkeypatch):
    monkeypatch.setattr(evaluation, "TIMED_SECONDS", 0.001)


def walk(stories, sentences=8, seed=0):
    """Make narratives in which each embedding is the previous one, rotated by a fixed angle in one plane."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, (stories, 1)) + 0.9 * np.arange(sentences)
    topics = np.repeat(rng.normal(size=(stories, 1, 4)), sentences, axis=1)
    vectors = np.concatenate([np.stack([np.cos(angles), np.sin(angles)], axis=-1), topics], axis=-1).reshape(-1, 6)
    splits = ["train"] * (stories * 7 // 10) + ["valid"] * (stories // 10)
    splits += ["test"] * (stories - len(splits))
    return make_narratives([sentences] * stories, splits=splits, vectors=vectors.astype(np.float16))


def trained(narratives, options, task, folder, name="judge", seed=1):
    examples, counts = corrupt_splits(narratives, options, task, seed)
    training = _Training(narratives, options, name, task, seed, folder / "checkpoints")
    training.run(folder / "detector", examples, counts, None, RESAMPLING)
    return pd.read_csv(folder / "detector" / "metrics.csv").set_index(["of", "metric"])["value"]


@pytest.mark.parametrize("task", ["missing", "discordant"])
def test_detector_detects_incoherent_places(task, tmp_path):
    options = NarrativeOptions(detector=SMALL | {"epochs": 15}, similarity=None, draws=3)
    metrics = trained(walk(500), options, task, tmp_path)
    assert metrics["detector", "auc"] > 0.9
    assert set(metrics.index.levels[0]) == {"detector", "position", "single_sentence"}
    folder = tmp_path / "detector"
    counts = json.loads((folder / "evaluation.json").read_text())
    assert (counts["segments"], counts["positives"]) == (100, 100)
    assert counts["decisions"] == 100 * (3 if task == "missing" else 5)
    assert Detector.load(folder).slope > 0
    errors = pd.read_csv(folder / "errors.csv")
    assert set(errors["kind"]) <= {"not found", "not damaged"}
    assert errors["text"].str.contains("[", regex=False).all()


def test_people_have_a_row_beside_the_detector_on_the_segments_that_they_judged(tmp_path):
    narratives = walk(60)
    options = NarrativeOptions(similarity=None, draws=2)
    examples, counts = corrupt_splits(narratives, options, "missing", 1)
    test = examples["test"]
    checked = []
    for row in range(len(test)):
        sentences = tuple(narratives.sentences[number] for number in test.inputs[row] if number >= 0)
        instance = Instance(f"i{row}", "missing", narratives.ids[test.narratives[row]], sentences, 1)
        damaged = bool(test.labels[row, 0] == 1)
        truth = Truth(instance.id, damaged, narratives.sentences[test.targets[row, 0]] if damaged else None)
        checked.append(CheckedSegment(instance, truth, 4, 4, {"a": damaged, "b": True}))
    examples["test"] = make_checked_examples(checked, narratives, "missing", tmp_path)
    training = _Training(narratives, options, "judge", "missing", 1, tmp_path / "checkpoints")
    training.run(tmp_path / "detector", examples, counts, None, RESAMPLING, checked)
    metrics = pd.read_csv(tmp_path / "detector" / "metrics.csv").set_index(["of", "metric"])["value"]
    share = np.mean([segment.truth.damaged for segment in checked])
    assert metrics["people", "recall"] == 1
    assert metrics["people", "accuracy"] == pytest.approx((1 + share) / 2)
    summary = json.loads((tmp_path / "detector" / "evaluation.json").read_text())
    assert summary["decisions"] == len(checked)
    table = detection_table({"missing": {"judge": tmp_path / "detector"}}).set_index("detector")
    assert table.index.tolist() == ["judge", "people", "position alone", "single sentences"]
    assert table.at["people", "AUC, %"] == "–"


def test_detector_learns_nothing_from_noise(tmp_path):
    """Independent embeddings: overfitting must not show in the test."""
    narratives = walk(400)
    noise = narratives.with_vectors(
        np.random.default_rng(0).normal(size=(len(narratives.vectors), narratives.vectors.width)).astype(np.float16),
        narratives.cut,
    )
    options = NarrativeOptions(detector=SMALL | {"epochs": 3}, similarity=None, draws=1)
    assert abs(trained(noise, options, "missing", tmp_path)["detector", "auc"] - 0.5) < 0.15


def test_original_sentence_is_predicted(tmp_path):
    """With semantic matching, the prediction for a gap is nearer to the original sentence than to others."""
    narratives = walk(500)
    options = NarrativeOptions(detector=SMALL | {"epochs": 15, "semantic_matching": 1.0}, intact=0.0, draws=3)
    trained(narratives, options, "missing", tmp_path)
    test = corrupt_splits(narratives, options, "missing", 1)[0]["test"]
    detector = Detector.load(tmp_path / "detector")
    places = tuple(np.argwhere(test.labels == 1).T)
    predicted = detector.outputs(narratives, test.inputs, "predicted")[places]
    true = narratives.vectors[test.targets[places]].astype(float)
    cosine = (predicted * true).sum(axis=1) / np.linalg.norm(predicted, axis=1) / np.linalg.norm(true, axis=1)
    others = np.roll(true, 1, axis=0)
    chance = (predicted * others).sum(axis=1) / np.linalg.norm(predicted, axis=1) / np.linalg.norm(others, axis=1)
    assert cosine.mean() > 0.8
    assert abs(chance.mean()) < 0.3


# ---- from files ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A corpus on disk with its embeddings and damage, and the options for it."""
    folder = tmp_path_factory.mktemp("corpus")
    splits = ["train"] * 40 + ["valid"] * 8 + ["test"] * 8
    documents = [
        Document(d.id, split, None, d.sections)
        for d, split in zip(simulated_documents("process", 56, 2), splits, strict=True)
    ]
    write_documents(folder / "documents.parquet", documents, Provenance("x"))
    documents = folder / "documents.parquet"
    options = NarrativeOptions(
        encoder=str(write_encoder(folder / "encoder")),
        max_tokens=24,
        similarity=None,
        draws=2,
        detector=SMALL | {"epochs": 4, "dropout": 0.1},
        compared={
            "words": {"level": "token", "hidden": 8, "epochs": 1},
            "warm": SMALL | {"epochs": 1, "pretrained": True},
        },
        pretraining=PretrainingOptions(corpus="x", sentences=8, damaged=2),
    )
    for task in ("missing", "discordant"):
        corrupt(documents, options=options, language="en", seed=3, task=task, output=folder / f"{task}.parquet")
    embed_sentences(documents, options=encoding_of(options), language="en", output=folder / "embeddings")
    return folder, options


def detect(corpus, output, name="judge", task="missing", **given):
    folder, options = corpus
    train_detector(
        folder / "documents.parquet",
        folder / f"{task}.parquet",
        folder / "embeddings",
        options=options,
        language="en",
        seed=3,
        checkpoints=output.with_name(output.name + "-ck"),
        resampling=RESAMPLING,
        task=task,
        name=name,
        output=output,
        **given,
    )
    return Detector.load(output)


class Kill(TrainerCallback):
    """A callback that simulates a kill signal in the middle of a training."""

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == state.max_steps // 2 + 1:
            raise KeyboardInterrupt


def test_a_killed_training_ends_with_the_same_weights(corpus, tmp_path, monkeypatch):
    whole = detect(corpus, tmp_path / "whole")
    original = shared.Trainer

    def dying(*arguments, **options):
        return original(*arguments, **(options | {"callbacks": [*options["callbacks"], Kill()]}))

    with monkeypatch.context() as patched:
        patched.setattr(shared, "Trainer", dying)
        with pytest.raises(KeyboardInterrupt):
            detect(corpus, tmp_path / "cut")
    assert not (tmp_path / "cut").exists()
    assert list((tmp_path / "cut-ck").glob("checkpoint-*"))
    resumed = detect(corpus, tmp_path / "cut")
    for a, b in zip(whole.network.parameters(), resumed.network.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
    assert (resumed.slope, resumed.intercept) == pytest.approx((whole.slope, whole.intercept), abs=1e-4)
    assert not (tmp_path / "cut-ck").exists()


def test_a_token_level_detector_is_trained_from_the_encoder(corpus, tmp_path):
    detector = detect(corpus, tmp_path / "words", "words", "discordant")
    assert detector.level == "token"
    assert detector.most == min(24, (64 - 1) // 5 - 1)
    assert {"metrics.csv", "roc.csv", "found.csv", "operating_point.json"} <= {
        p.name for p in (tmp_path / "words").iterdir()
    }


def test_pretrained_detector_starts_from_the_given_weights(corpus, tmp_path, monkeypatch):
    folder, options = corpus
    pretrain(
        folder / "documents.parquet", folder / "embeddings", options=options, language="en", seed=1,
        checkpoints=tmp_path / "ck", task="missing", name="warm", output=tmp_path / "pretrained",
    )  # fmt: skip
    assert not (tmp_path / "pretrained" / "metrics.csv").exists()
    given = Detector.load(tmp_path / "pretrained").network.state_dict()
    monkeypatch.setattr(shared, "train", lambda *_: pd.DataFrame({"step": []}))
    begun = detect(corpus, tmp_path / "warm", "warm", pretrained=tmp_path / "pretrained").network.state_dict()
    assert all(torch.equal(given[name], begun[name]) for name in given)
    fresh = detect(corpus, tmp_path / "fresh", "judge", pretrained=tmp_path / "pretrained").network.state_dict()
    assert any(not torch.equal(given[name], fresh[name]) for name in given if given[name].shape == fresh[name].shape)


def test_judges_are_copied_if_given_and_trained_otherwise(corpus, tmp_path):
    folder, options = corpus
    judge_options = options.model_copy(update={"tasks": ["missing"]})
    given = {"options": judge_options, "language": "en", "seed": 3, "resampling": RESAMPLING}
    judges.train(folder / "documents.parquet", checkpoints=tmp_path / "ck", output=tmp_path / "one", **given)
    judge = tmp_path / "missing.judge"
    (tmp_path / "one" / "missing").rename(judge)
    judges.train(folder / "documents.parquet", [judge], checkpoints=tmp_path / "ck", output=tmp_path / "two", **given)
    for path in judge.iterdir():
        assert (tmp_path / "two" / "missing" / path.name).read_bytes() == path.read_bytes()
    # Training in one stage gives the same weights as the jobs of the workflow.
    trained_here, job = Detector.load(judge).network, detect(corpus, tmp_path / "job").network
    for a, b in zip(trained_here.parameters(), job.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_too_few_segments_give_a_clear_error(tmp_path):
    options = NarrativeOptions(detector=SMALL, similarity=None, draws=1, intact=0.0)
    message = r"has 14 damaged segments of split 'train' .* and needs 20 for training \(0 documents are too short\)"
    with pytest.raises(MacroscopeError, match=message):
        trained(walk(20), options, "missing", tmp_path)
    examples, _ = corrupt_splits(walk(40), options, "missing", 1)
    with pytest.raises(MacroscopeError, match=r"0 damaged segments of split 'valid'"):
        _require_segments(
            {"train": examples["train"], "valid": examples["test"].select(~examples["test"].damaged)}, {}, "missing"
        )
    with pytest.raises(MacroscopeError, match=r"0 damaged segments of split 'valid'"):
        _require_segments({"train": examples["train"]}, {}, "missing")


def test_evaluation_without_a_test_split(tmp_path):
    narratives = walk(60)
    narratives = make_narratives(
        narratives.lengths, splits=["train"] * 50 + ["valid"] * 10, vectors=narratives.vectors[:]
    )
    options = NarrativeOptions(detector=SMALL | {"epochs": 1}, similarity=None)
    examples, counts = corrupt_splits(narratives, options, "missing", 1)
    training = _Training(narratives, options, "judge", "missing", 1, tmp_path / "ck")
    training.run(tmp_path / "detector", examples, counts, None, RESAMPLING)
    assert json.loads((tmp_path / "detector" / "evaluation.json").read_text()) == {"segments": 0}
    assert (tmp_path / "detector" / "found.csv").exists()


# ---- calibration -----------------------------------------------------------------------


class EmbeddedLogit(Detector):
    """A detector whose logit is the first component of a sentence's embedding."""

    def outputs(self, narratives, inputs, name="logits"):
        return narratives.vectors[np.maximum(inputs, 0)][..., 0].astype(float)


@pytest.mark.parametrize(("times", "shift"), [(3.0, 1.0), (0.3, -2.0)])
def test_calibrated_probabilities_are_the_shares_of_damage(times, shift):
    narratives = walk(4000, 5)
    examples, _ = corrupt_splits(narratives, NarrativeOptions(intact=0.0, similarity=None), "missing", 1)
    test = examples["train"]
    rng = np.random.default_rng(0)
    truth = rng.uniform(0.02, 0.98, len(narratives.sentences))
    labels = np.where(test.labels >= 0, rng.random(test.labels.shape) < truth[test.inputs], -1)
    narratives = narratives.with_vectors(times * logit(truth)[:, None] + shift, narratives.cut)
    detector = EmbeddedLogit("missing", "sentence", 4, 0, None)
    _calibrate(detector, narratives, type(test)(test.narratives, test.inputs, labels.astype(np.int8), test.targets))
    is_labelled = test.labels >= 0
    probabilities = detector.probabilities(narratives, test.inputs)[is_labelled]
    assert probabilities == pytest.approx(truth[test.inputs][is_labelled], abs=0.03)


def test_detector_worse_than_chance_predicts_the_base_rate():
    narratives = walk(300, 5)
    examples, _ = corrupt_splits(narratives, NarrativeOptions(intact=0.0, similarity=None), "missing", 1)
    train = examples["train"]
    values = np.zeros(len(narratives.sentences))
    values[train.inputs[train.labels == 1]] = -1.0
    detector = EmbeddedLogit("missing", "sentence", 4, 0, None)
    _calibrate(detector, narratives.with_vectors(values[:, None], narratives.cut), train)
    assert detector.slope == 0
    assert np.unique(detector.probabilities(narratives, train.inputs)[train.labels >= 0]) == pytest.approx([1 / 3])


def test_options_of_levels_are_checked():
    for given in ({"pretrained": True}, {"semantic_matching": 1.0}, {"autoencoder": "a"}):
        with pytest.raises(ValueError, match="a detector of level 'token' has no"):
            DetectorOptions(level="token", **given)
