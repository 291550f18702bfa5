"""Intervals over documents and annotators, by simulation with crossed effects."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from macroscope.options import Resampling
from macroscope.statistics.crossed_bootstrap import (
    BOTH,
    DOCUMENTS,
    NOTHING,
    CrossedRatings,
    crossed_interval,
    mean_interval,
    weighted_mean,
)

RUNS = 1000


def coverage(n_annotators, annotator_sd, document_sd, noise, seed):
    """Share of the intervals that hold the mean, 40 documents with two annotators each."""
    rng = np.random.default_rng(seed)
    documents = np.repeat(np.arange(40), 2)
    annotators = np.concatenate([(np.arange(2) + number) % n_annotators for number in range(40)])
    crossed, hits = CrossedRatings(annotators, documents), 0
    for run in range(RUNS):
        effects = rng.normal(0, annotator_sd, n_annotators)[annotators] + rng.normal(0, document_sd, 40)[documents]
        ratings = effects + rng.normal(0, noise, 80)
        estimate = crossed_interval(weighted_mean(ratings), crossed, confidence=0.95, resamples=200, seed=run)
        assert estimate.over == BOTH
        hits += estimate.low <= 0 <= estimate.high
    return hits / RUNS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_annotators", "annotator_sd", "document_sd"),
    [(3, 0.3, 1), (3, 1, 1), (5, 1, 1), (5, 0.3, 0.3), (10, 0.3, 1), (10, 0, 1)],
)
def test_intervals_hold_the_mean(n_annotators, annotator_sd, document_sd):
    assert 0.92 <= coverage(n_annotators, annotator_sd, document_sd, 1, seed=n_annotators) <= 0.98


def test_intervals_over_documents_alone_are_too_short():
    """If annotators differ, an interval over documents is far too short, so the simulation above can fail."""
    rng = np.random.default_rng(0)
    hits = 0
    for run in range(300):
        annotators, documents = np.tile(np.arange(3), 40), np.repeat(np.arange(40), 3)
        ratings = rng.normal(0, 1, 3)[annotators] + rng.normal(0, 1, 40)[documents] + rng.normal(0, 1, 120)
        crossed = CrossedRatings(np.zeros(120, dtype=int), documents)
        estimate = crossed_interval(weighted_mean(ratings), crossed, confidence=0.95, resamples=200, seed=run)
        assert estimate.over == DOCUMENTS
        hits += estimate.low <= 0 <= estimate.high
    assert hits / 300 < 0.7


def test_the_standard_error_is_the_textbook_one():
    """Only documents differ, one rating each: the standard error of a mean, and Student's t."""
    x = np.random.default_rng(1).normal(size=50)
    crossed = CrossedRatings(np.zeros(50, dtype=int), np.arange(50))
    estimate = crossed_interval(weighted_mean(x), crossed, confidence=0.95, resamples=20000, seed=1)
    half = 2.0096 * x.std(ddof=1) / np.sqrt(50)
    assert estimate.value == pytest.approx(x.mean())
    assert estimate.high - estimate.value == pytest.approx(half, rel=0.03)


def test_one_document_has_no_interval():
    estimate = crossed_interval(
        weighted_mean([1.0, 0.0]),
        CrossedRatings.from_names(["a", "b"], ["x", "x"]),
        confidence=0.95,
        resamples=100,
        seed=1,
    )
    assert (estimate.value, estimate.over) == (0.5, NOTHING)
    assert np.isnan(estimate.low)


@pytest.mark.slow
def test_intervals_of_binary_answers_contain_the_share():
    rng = np.random.default_rng(1)
    annotators = np.concatenate([(np.arange(2) + number) % 3 for number in range(40)])
    documents, share, hits = np.repeat(np.arange(40), 2), norm.cdf(0.8), 0
    for run in range(1000):
        liking = rng.normal(0, 0.3, 3)[annotators] + rng.normal(0, 1, 40)[documents] + rng.normal(0, 1, 80)
        scores = (liking < 0.8 * np.sqrt(0.3**2 + 2)).astype(float)
        group = pd.DataFrame({"score": scores, "annotator": annotators, "document": documents})
        estimate = mean_interval(group, [0.0, 1.0], Resampling(resamples=100, seed=run))
        hits += estimate.low <= share <= estimate.high
    assert 0.93 <= hits / 1000 <= 0.985


def test_equal_ratings_on_a_longer_scale_have_no_interval():
    group = pd.DataFrame({"score": [3.0, 3.0], "annotator": ["a", "b"], "document": ["x", "y"]})
    estimate = mean_interval(group, [1.0, 2.0, 3.0], Resampling(resamples=100))
    assert (estimate.value, estimate.over) == (3.0, "")
