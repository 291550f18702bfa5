"""Tests of the similarity-level detector: its features, its fit, and what it finds on a walk with known damage."""

import numpy as np
import pytest
import torch

from macroscope.critics.narrative import evaluation
from macroscope.critics.narrative.corruption import corrupt_splits
from macroscope.critics.narrative.detector import Detector, new_detector
from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.critics.narrative.similarity_detector import (
    SENTENCE_FEATURES,
    SLOT_FEATURES,
    LabelledPlaces,
    SimilarityDetector,
    SimilaritySize,
    sentence_features,
    slot_features,
)

from .test_training import trained, walk

TASKS = ("missing", "discordant")


def directions(*degrees):
    """Return one segment of unit vectors in a plane at these angles, and a padded position."""
    angles = np.radians(degrees)
    vectors = torch.tensor(np.stack([np.cos(angles), np.sin(angles)], axis=-1), dtype=torch.float32)
    return torch.cat([vectors, torch.zeros(1, 2)])[None], torch.tensor([[True] * len(degrees) + [False]])


def cosine(degrees):
    return np.cos(np.radians(degrees))


def test_features_of_a_sentence_are_its_similarities_to_the_others():
    features = sentence_features(*directions(0, 30, 90))[0].numpy()
    assert features.shape == (4, SENTENCE_FEATURES)
    to_rest = [cosine(60), cosine(15), cosine(75)]  # the others' sums lie at 60, 45 and 15 degrees
    assert features[:3, 0] == pytest.approx(to_rest, abs=1e-6)
    assert features[:3, 1] == pytest.approx(to_rest - np.mean(to_rest), abs=1e-6)
    assert features[:3, 2] == pytest.approx([0.5, 1, 0])
    assert features[1, 3:] == pytest.approx(
        [
            (cosine(30) + cosine(60)) / 2, cosine(30),
            cosine(30) - (cosine(30) + cosine(30) + cosine(60)) / 3, cosine(60),
            cosine(30), cosine(60), cosine(90), cosine(90), 0.5, 0, 0,
        ],
        abs=1e-6,
    )  # fmt: skip
    assert not features[3].any()


def test_features_of_a_slot_are_the_similarities_across_it():
    features = slot_features(*directions(0, 30, 90))[0].numpy()
    assert features.shape == (4, SLOT_FEATURES)
    half = (cosine(30) - cosine(60)) / 2
    assert features[0] == pytest.approx([cosine(30), half, 1, cosine(90), 0, cosine(60), 1, 0], abs=1e-6)
    assert features[1] == pytest.approx([cosine(60), -half, 0, 0, cosine(90), cosine(75), 0, 1], abs=1e-6)
    assert not features[2:].any()


@pytest.mark.parametrize("task", TASKS)
def test_narratives_of_one_and_two_sentences_have_features(task):
    network = SimilarityDetector(SimilaritySize.of(task, 2))
    for degrees in ((10,), (10, 50)):
        vectors, mask = directions(*degrees)
        assert torch.isfinite(network(vectors, mask)["logits"]).all()


def test_weights_are_those_of_the_penalty_with_the_lowest_validation_loss():
    rng = np.random.default_rng(0)
    features = torch.tensor(rng.normal(size=(200, SENTENCE_FEATURES)), dtype=torch.float32)
    places = [
        LabelledPlaces(part, torch.tensor((rng.random(len(part)) < 0.5).astype(int)))
        for part in (features, features[:100] + 1)
    ]
    network = SimilarityDetector(SimilaritySize.of("discordant", 4))
    history = network.fit(*places)
    assert network.loss(places[1]) == pytest.approx(history["valid_loss"].min())
    assert history["valid_loss"].idxmin() == 0  # labels without a pattern: the strongest penalty
    assert (history["train_loss"].diff().dropna() < 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_damage_is_found_and_files_keep_the_detector(task, tmp_path, monkeypatch):
    monkeypatch.setattr(evaluation, "TIMED_SECONDS", 0.001)
    narratives = walk(300)
    metrics = trained(narratives, NarrativeOptions(similarity=None, draws=3), task, tmp_path)
    assert metrics["detector", "auc"] > 0.9
    detector = Detector.load(tmp_path / "detector")
    assert (detector.level, detector.task) == ("similarity", task)
    assert detector.slope > 0


@pytest.mark.slow
def test_training_is_the_same_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(evaluation, "TIMED_SECONDS", 0.001)
    options = NarrativeOptions(similarity=None, draws=1)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        trained(walk(200), options, "discordant", tmp_path / name)
    first, second = (tmp_path / name / "detector" / "model.safetensors" for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()


def test_a_new_detector_has_the_window_of_the_options():
    options = NarrativeOptions()
    examples, _ = corrupt_splits(walk(40), NarrativeOptions(similarity=None), "missing", 1)
    detector = new_detector(options, options.detector, "missing", 6, 1)
    assert detector.outputs(walk(40), examples["test"].inputs).shape == examples["test"].inputs.shape
