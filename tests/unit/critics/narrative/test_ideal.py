"""A detector against the ideal one: of stories with a known law, what is missing has a posterior by enumeration."""

from collections import defaultdict
from itertools import combinations
from math import comb

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from macroscope.critics.narrative import evaluation
from macroscope.critics.narrative.corruption import corrupted
from macroscope.critics.narrative.detector import Detector
from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.critics.narrative.training import _Training
from macroscope.statistics.latent import Resampling

from .made import told

EVENTS, FEWEST, SENTENCES = 8, 5, 5
"""As in the simulated scripts: five to all eight events are told in their order, the first and last among them."""


def stories(number, seed):
    """Their sentences are the events by number; the embedding of a sentence says which, and nothing else."""
    rng = np.random.default_rng(seed)
    events = []
    for _ in range(number):
        size = rng.integers(FEWEST, EVENTS + 1)
        events.append([0, *sorted(1 + rng.choice(EVENTS - 2, size - 2, replace=False)), EVENTS - 1])
    told_of = np.concatenate(events)
    splits = ["train"] * (number * 6 // 10) + ["valid"] * (number // 10)
    splits += ["test"] * (number - len(splits))
    vectors = np.eye(EVENTS, dtype=np.float16)[told_of]
    return told([len(some) for some in events], splits=splits, vectors=vectors), told_of


def told_stories():
    """(events, probability) of every story that there is."""
    for size in range(FEWEST, EVENTS + 1):
        for between in combinations(range(1, EVENTS - 1), size - 2):
            yield (0, *between, EVENTS - 1), 1 / (EVENTS - FEWEST + 1) / comb(EVENTS - 2, size - 2)


def posterior():
    """Events in a segment -> probability of each slot that a sentence was taken out of it; half the segments are whole.

    A whole one has as many sentences as a damaged one, and begins or ends the story where that would.
    """
    joint, total = defaultdict(lambda: np.zeros(SENTENCES - 2)), defaultdict(float)

    def add(left, probability, place=None):
        total[left] += probability / 2
        if place is not None:
            joint[left][place] += probability / 2

    for events, probability in told_stories():
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
    return {left: some / total[left] for left, some in joint.items()}


def test_a_trained_detector_comes_near_the_ideal_one_and_not_above(tmp_path, monkeypatch):
    monkeypatch.setattr(evaluation, "TIMED_SECONDS", 0.001)
    narratives, events = stories(2500, 1)
    detector = {"layers": 2, "heads": 4, "width": 64, "hidden": 64, "dropout": 0.0, "learning_rate": 2e-3, "epochs": 16}
    options = NarrativeOptions(sentences=SENTENCES, detector=detector, similarity=None, draws=3)
    examples, about = corrupted(narratives, options, "missing", 1)
    training = _Training(narratives, options, "judge", "missing", 1, tmp_path / "checkpoints")
    training.write(tmp_path / "detector", examples, about, None, Resampling(resamples=20))
    test = examples["test"]
    known = posterior()
    ideal = [p for row in test.inputs for p in known[tuple(events[n] for n in row if n >= 0)][: (row >= 0).sum() - 1]]
    labels = test.labels[test.labels >= 0]
    found = Detector.load(tmp_path / "detector").outputs(narratives, test.inputs)[test.labels >= 0]
    best, reached = roc_auc_score(labels, ideal), roc_auc_score(labels, found)
    assert best < 0.97
    assert best - 0.02 < reached < best + 0.005
