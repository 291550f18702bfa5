"""Intervals over documents and annotators, by simulation with crossed effects."""

import numpy as np
import pytest

from macroscope.statistics.crossed_bootstrap import BOTH, DOCUMENTS, NOTHING, TwoWay, two_way_interval, weighted_mean

RUNS = 1000


def coverage(people, of_people, of_documents, noise, seed):
    """Share of the intervals that hold the mean, 40 documents with two annotators each."""
    rng = np.random.default_rng(seed)
    documents = np.repeat(np.arange(40), 2)
    annotators = np.concatenate([(np.arange(2) + number) % people for number in range(40)])
    crossed, hits = TwoWay(annotators, documents), 0
    for run in range(RUNS):
        effects = rng.normal(0, of_people, people)[annotators] + rng.normal(0, of_documents, 40)[documents]
        ratings = effects + rng.normal(0, noise, 80)
        found = two_way_interval(weighted_mean(ratings), crossed, confidence=0.95, resamples=200, seed=run)
        assert found.over == BOTH
        hits += found.low <= 0 <= found.high
    return hits / RUNS


@pytest.mark.parametrize(
    ("people", "of_people", "of_documents"),
    [(3, 0.3, 1), (3, 1, 1), (5, 1, 1), (5, 0.3, 0.3), (10, 0.3, 1), (10, 0, 1)],
)
def test_intervals_hold_the_mean(people, of_people, of_documents):
    assert 0.92 <= coverage(people, of_people, of_documents, 1, seed=people) <= 0.98


def test_documents_alone_would_not_do():
    """With annotators who differ, an interval over documents is far too short: the simulation can fail."""
    rng = np.random.default_rng(0)
    hits = 0
    for run in range(300):
        annotators, documents = np.tile(np.arange(3), 40), np.repeat(np.arange(40), 3)
        ratings = rng.normal(0, 1, 3)[annotators] + rng.normal(0, 1, 40)[documents] + rng.normal(0, 1, 120)
        crossed = TwoWay(np.zeros(120, dtype=int), documents)
        found = two_way_interval(weighted_mean(ratings), crossed, confidence=0.95, resamples=200, seed=run)
        assert found.over == DOCUMENTS
        hits += found.low <= 0 <= found.high
    assert hits / 300 < 0.7


def test_its_standard_error_is_the_textbook_one():
    """Only documents differ, one rating each: the standard error of a mean, and Student's t."""
    x = np.random.default_rng(1).normal(size=50)
    crossed = TwoWay(np.zeros(50, dtype=int), np.arange(50))
    found = two_way_interval(weighted_mean(x), crossed, confidence=0.95, resamples=20000, seed=1)
    half = 2.0096 * x.std(ddof=1) / np.sqrt(50)
    assert found.value == pytest.approx(x.mean())
    assert found.high - found.value == pytest.approx(half, rel=0.03)


def test_one_document_has_no_interval():
    found = two_way_interval(
        weighted_mean([1.0, 0.0]), TwoWay.of(["a", "b"], ["x", "x"]), confidence=0.95, resamples=100, seed=1
    )
    assert (found.value, found.over) == (0.5, NOTHING)
    assert np.isnan(found.low)
