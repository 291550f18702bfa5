"""Training of detectors: what they learn, how they go on after a kill, what they say where there is too little."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import logit
from transformers import TrainerCallback

from macroscope import training as shared
from macroscope.critics.narrative import evaluation, judges
from macroscope.critics.narrative import training as narrative
from macroscope.critics.narrative.corruption import corrupt, corrupted
from macroscope.critics.narrative.detector import Detector
from macroscope.critics.narrative.embedding import embed_sentences
from macroscope.critics.narrative.options import DetectorOptions, NarrativeOptions, PretrainingOptions
from macroscope.critics.narrative.training import _calibrate, _require, _Training, pretrain, train_detector
from macroscope.documents import Document, Provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.statistics.latent import Resampling

from ....tiny import simulated_documents, write_encoder
from .made import told

RESAMPLING = Resampling(resamples=100)
SMALL = {"layers": 1, "heads": 2, "width": 32, "hidden": 32, "dropout": 0.0, "learning_rate": 3e-3, "batch_size": 32}


@pytest.fixture(autouse=True)
def no_timing(monkeypatch):
    monkeypatch.setattr(evaluation, "TIMED_SECONDS", 0.001)


def walk(stories, sentences=8, seed=0):
    """Narratives whose sentence k + 1 has the embedding of sentence k, turned by a fixed angle in one plane."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, (stories, 1)) + 0.9 * np.arange(sentences)
    topics = np.repeat(rng.normal(size=(stories, 1, 4)), sentences, axis=1)
    vectors = np.concatenate([np.stack([np.cos(angles), np.sin(angles)], axis=-1), topics], axis=-1).reshape(-1, 6)
    splits = ["train"] * (stories * 7 // 10) + ["valid"] * (stories // 10)
    splits += ["test"] * (stories - len(splits))
    return told([sentences] * stories, splits=splits, vectors=vectors.astype(np.float16))


def trained(narratives, options, task, folder, name="judge", seed=1):
    examples, about = corrupted(narratives, options, task, seed)
    made = _Training(narratives, options, name, task, seed, folder / "checkpoints")
    made.write(folder / "detector", examples, about, None, RESAMPLING)
    return pd.read_csv(folder / "detector" / "metrics.csv").set_index(["of", "metric"])["value"]


@pytest.mark.parametrize("task", ["missing", "discordant"])
def test_a_detector_finds_what_does_not_follow(task, tmp_path):
    options = NarrativeOptions(detector=SMALL | {"epochs": 15}, similarity=None, draws=3)
    found = trained(walk(500), options, task, tmp_path)
    assert found["detector", "auc"] > 0.9
    assert set(found.index.levels[0]) == {"detector", "position", "single_sentence"}
    folder = tmp_path / "detector"
    about = json.loads((folder / "evaluation.json").read_text())
    assert (about["segments"], about["positives"]) == (100, 100)
    assert about["decisions"] == 100 * (3 if task == "missing" else 5)
    assert Detector.load(folder).slope > 0
    errors = pd.read_csv(folder / "errors.csv")
    assert set(errors["kind"]) <= {"not found", "not damaged"}
    assert errors["text"].str.contains("[", regex=False).all()


def test_a_detector_of_damage_in_noise_finds_nothing(tmp_path):
    """Embeddings that do not depend on each other: what is learnt of them must not show in the test."""
    made = walk(400)
    noise = made.with_vectors(np.random.default_rng(0).normal(size=made.vectors.shape).astype(np.float16), made.cut)
    options = NarrativeOptions(detector=SMALL | {"epochs": 3}, similarity=None, draws=1)
    assert abs(trained(noise, options, "missing", tmp_path)["detector", "auc"] - 0.5) < 0.15


def test_the_sentence_that_was_there_is_predicted(tmp_path):
    """With semantic matching, the prediction for a gap is nearer to what was there than to other sentences."""
    made = walk(500)
    options = NarrativeOptions(detector=SMALL | {"epochs": 15, "semantic_matching": 1.0}, intact=0.0, draws=3)
    trained(made, options, "missing", tmp_path)
    test = corrupted(made, options, "missing", 1)[0]["test"]
    detector = Detector.load(tmp_path / "detector")
    places = tuple(np.argwhere(test.labels == 1).T)
    predicted = detector.outputs(made, test.inputs, "predicted")[places]
    true = made.vectors[test.targets[places]].astype(float)
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
    embed_sentences(documents, options=options, language="en", output=folder / "embeddings")
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
    """Stands for a kill signal in the middle of a training."""

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
    found = detect(corpus, tmp_path / "words", "words", "discordant")
    assert found.level == "token"
    assert found.most == min(24, (64 - 1) // 5 - 1)
    assert {"metrics.csv", "roc.csv", "found.csv", "operating_point.json"} <= {
        p.name for p in (tmp_path / "words").iterdir()
    }


def test_a_pretrained_detector_begins_with_the_weights_that_it_is_given(corpus, tmp_path, monkeypatch):
    folder, options = corpus
    pretrain(
        folder / "documents.parquet", folder / "embeddings", options=options, language="en", seed=1,
        checkpoints=tmp_path / "ck", task="missing", name="warm", output=tmp_path / "pretrained",
    )  # fmt: skip
    assert not (tmp_path / "pretrained" / "metrics.csv").exists()
    given = Detector.load(tmp_path / "pretrained").network.state_dict()
    monkeypatch.setattr(narrative, "train_model", lambda *_: pd.DataFrame({"step": []}))
    begun = detect(corpus, tmp_path / "warm", "warm", pretrained=tmp_path / "pretrained").network.state_dict()
    assert all(torch.equal(given[name], begun[name]) for name in given)
    fresh = detect(corpus, tmp_path / "fresh", "judge", pretrained=tmp_path / "pretrained").network.state_dict()
    assert any(not torch.equal(given[name], fresh[name]) for name in given if given[name].shape == fresh[name].shape)


def test_judges_are_trained_here_where_none_are_given_and_copied_where_they_are(corpus, tmp_path):
    folder, options = corpus
    asked = options.model_copy(update={"tasks": ["missing"]})
    given = {"options": asked, "language": "en", "seed": 3, "resampling": RESAMPLING}
    judges.train(folder / "documents.parquet", checkpoints=tmp_path / "ck", output=tmp_path / "one", **given)
    judge = tmp_path / "missing.judge"
    (tmp_path / "one" / "missing").rename(judge)
    judges.train(folder / "documents.parquet", [judge], checkpoints=tmp_path / "ck", output=tmp_path / "two", **given)
    for path in judge.iterdir():
        assert (tmp_path / "two" / "missing" / path.name).read_bytes() == path.read_bytes()
    # What is computed on the way is what the jobs of the workflow compute.
    own, job = Detector.load(judge).network, detect(corpus, tmp_path / "job").network
    for a, b in zip(own.parameters(), job.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_too_few_segments_are_one_clear_sentence(tmp_path):
    options = NarrativeOptions(detector=SMALL, similarity=None, draws=1, intact=0.0)
    said = r"has 14 damaged segments of split 'train' .* and needs 20 \(0 documents are too short\)"
    with pytest.raises(MacroscopeError, match=said):
        trained(walk(20), options, "missing", tmp_path)
    examples, _ = corrupted(walk(40), options, "missing", 1)
    with pytest.raises(MacroscopeError, match=r"0 damaged segments of split 'valid'"):
        _require({"train": examples["train"], "valid": examples["test"].some(~examples["test"].damaged)}, {}, "missing")
    with pytest.raises(MacroscopeError, match=r"0 damaged segments of split 'valid'"):
        _require({"train": examples["train"]}, {}, "missing")


def test_without_a_test_split_there_is_nothing_to_say_but_that(tmp_path):
    made = walk(60)
    made = told(made.lengths, splits=["train"] * 50 + ["valid"] * 10, vectors=made.vectors)
    options = NarrativeOptions(detector=SMALL | {"epochs": 1}, similarity=None)
    examples, about = corrupted(made, options, "missing", 1)
    training = _Training(made, options, "judge", "missing", 1, tmp_path / "ck")
    training.write(tmp_path / "detector", examples, about, None, RESAMPLING)
    assert json.loads((tmp_path / "detector" / "evaluation.json").read_text()) == {"segments": 0}
    assert (tmp_path / "detector" / "found.csv").exists()


# ---- probabilities that mean what they say -----------------------------------------------------------------------


class Says(Detector):
    """A detector whose logit is the first number of a sentence's embedding."""

    def outputs(self, narratives, inputs, name="logits"):
        return np.asarray(narratives.vectors, dtype=float)[np.maximum(inputs, 0), 0]


@pytest.mark.parametrize(("times", "shift"), [(3.0, 1.0), (0.3, -2.0)])
def test_calibrated_probabilities_are_the_shares_that_are_found(times, shift):
    made = walk(4000, 5)
    examples, _ = corrupted(made, NarrativeOptions(intact=0.0, similarity=None), "missing", 1)
    test = examples["train"]
    rng = np.random.default_rng(0)
    truth = rng.uniform(0.02, 0.98, len(made.sentences))
    labels = np.where(test.labels >= 0, rng.random(test.labels.shape) < truth[test.inputs], -1)
    made = made.with_vectors(times * logit(truth)[:, None] + shift, made.cut)
    detector = Says("missing", "sentence", 4, 0, None)
    _calibrate(detector, made, type(test)(test.narratives, test.inputs, labels.astype(np.int8), test.targets))
    known = test.labels >= 0
    found = detector.probabilities(made, test.inputs)[known]
    assert found == pytest.approx(truth[test.inputs][known], abs=0.03)


def test_a_detector_that_is_worse_than_chance_says_the_base_rate():
    made = walk(300, 5)
    examples, _ = corrupted(made, NarrativeOptions(intact=0.0, similarity=None), "missing", 1)
    train = examples["train"]
    values = np.zeros(len(made.sentences))
    values[train.inputs[train.labels == 1]] = -1.0
    detector = Says("missing", "sentence", 4, 0, None)
    _calibrate(detector, made.with_vectors(values[:, None], made.cut), train)
    assert detector.slope == 0
    assert np.unique(detector.probabilities(made, train.inputs)[train.labels >= 0]) == pytest.approx([1 / 3])


def test_options_of_levels_are_checked():
    for given in ({"pretrained": True}, {"semantic_matching": 1.0}, {"autoencoder": "a"}):
        with pytest.raises(ValueError, match="a detector of level 'token' has no sentence embeddings"):
            DetectorOptions(level="token", **given)
