"""Comparison of a detector with the ideal one, whose posterior is enumerated for a known distribution of stories."""

from collections import defaultdict
from itertools import combinations
from math import comb

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from macroscope.critics.narrative import evaluation
from macroscope.critics.narrative.corruption import corrupt_splits
from macroscope.critics.narrative.detector import Detector
from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.critics.narrative.training import _Training
from macroscope.options import Resampling

from .made import make_narratives

EVENTS, FEWEST, SENTENCES = 8, 5, 5
"""As in the simulated scripts: five to eight events in order, always including the first and the last."""


def stories(number, seed):
    """Sample stories whose sentences are numbered events; embeddings encode only the event."""
    rng = np.random.default_rng(seed)
    events = []
    for _ in range(number):
        size = rng.integers(FEWEST, EVENTS + 1)
        events.append([0, *sorted(1 + rng.choice(EVENTS - 2, size - 2, replace=False)), EVENTS - 1])
    sentence_events = np.concatenate(events)
    splits = ["train"] * (number * 6 // 10) + ["valid"] * (number // 10)
    splits += ["test"] * (number - len(splits))
    vectors = np.eye(EVENTS, dtype=np.float16)[sentence_events]
    return make_narratives([len(story) for story in events], splits=splits, vectors=vectors), sentence_events


def enumerate_stories():
    """Yield (events, probability) of all possible stories."""
    for size in range(FEWEST, EVENTS + 1):
        for between in combinations(range(1, EVENTS - 1), size - 2):
            yield (0, *between, EVENTS - 1), 1 / (EVENTS - FEWEST + 1) / comb(EVENTS - 2, size - 2)


def posterior():
    """Map the events of a segment to the probability, per slot, of a removed sentence; half the segments are intact.

    An intact segment is as long as a damaged one, and begins or ends the story if that would.
    """
    joint, total = defaultdict(lambda: np.zeros(SENTENCES - 2)), defaultdict(float)

    def add(left, probability, place=None):
        total[left] += probability / 2
        if place is not None:
            joint[left][place] += probability / 2

    for events, probability in enumerate_stories():
        size = min(SENTENCES, len(events) - 1)
        last = len(events) - size
        for first in range(last + 1):
            share = probability / (last + 1)
            for place in range(1, size - 1):
                left = events[first : first + place] + events[first + place + 1 : first + size]
                add(left, share / (size - 2), place - 1)
            for start in {0} if first == 0 else {last + 1} if first == last else {first, first + 1}:
                add(events[start : start + size - 1], share / (2 if 0 < first < last else 1))
    assert sum(total.values()) == pytest.approx(1)
    return {left: counts / total[left] for left, counts in joint.items()}


@pytest.mark.slow
def test_trained_detector_is_near_the_ideal_one_and_not_better(tmp_path, monkeypatch):
    monkeypatch.setattr(evaluation, "TIMED_SECONDS", 0.001)
    narratives, events = stories(2500, 1)
    detector = {
        "level": "sentence",
        **{"layers": 2, "heads": 4, "width": 64, "hidden": 64, "dropout": 0.0, "learning_rate": 2e-3, "epochs": 16},
    }
    options = NarrativeOptions(sentences=SENTENCES, detector=detector, similarity=None, draws=3)
    examples, counts = corrupt_splits(narratives, options, "missing", 1)
    training = _Training(narratives, options, "judge", "missing", 1, tmp_path / "checkpoints")
    training.run(tmp_path / "detector", examples, counts, None, Resampling(resamples=20))
    test = examples["test"]
    posteriors = posterior()
    ideal = [
        p for row in test.inputs for p in posteriors[tuple(events[n] for n in row if n >= 0)][: (row >= 0).sum() - 1]
    ]
    labels = test.labels[test.labels >= 0]
    logits = Detector.load(tmp_path / "detector").outputs(narratives, test.inputs)[test.labels >= 0]
    best, reached = roc_auc_score(labels, ideal), roc_auc_score(labels, logits)
    assert best < 0.97
    assert best - 0.02 < reached < best + 0.005
