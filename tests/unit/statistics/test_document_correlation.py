"""Correlations of documents with human scores, against known truth."""

import numpy as np
import pytest
from scipy.stats import binom, pearsonr, rankdata, spearmanr

from macroscope.options import Resampling
from macroscope.statistics.crossed_bootstrap import CrossedRatings
from macroscope.statistics.document_correlation import correlate_documents

FEW = Resampling(resamples=100)


def shares(low, high, runs):
    """Return the smallest and the largest share of runs that an event of a probability between two has."""
    return binom.ppf(0.0005, runs, low) / runs, binom.ppf(0.9995, runs, high) / runs


def simulated(rng, rho, *, people=3, documents=60, ratings=2, noise=1.0, systems=1):
    """Values with correlation rho with the true scores, and noisy ratings by annotators of different strictness."""
    systems_of = np.arange(documents) % systems
    true = rng.normal(size=documents)
    values = rho * true + np.sqrt(1 - rho**2) * rng.normal(size=documents) + 2 * systems_of
    annotators = np.concatenate([rng.permutation(people)[:ratings] for _ in range(documents)])
    crossed = CrossedRatings(annotators, np.repeat(np.arange(documents), ratings))
    levels = (true + 2 * systems_of)[crossed.documents] + rng.normal(0, 0.5, people)[annotators]
    return values, systems_of, levels + rng.normal(0, noise, len(levels)), crossed


@pytest.mark.slow
@pytest.mark.parametrize(("rho", "systems"), [(0.0, 1), (0.6, 1), (0.6, 3), (-0.8, 1)])
def test_intervals_hold_the_truth(rho, systems, runs_of):
    hits, runs, seen = np.zeros(2), runs_of(1000), []
    rng = np.random.default_rng(7)
    noisy = rho / np.sqrt(1 + 1 / 2)
    for run in range(runs):
        correlation = correlate_documents(*simulated(rng, rho, systems=systems), Resampling(resamples=100, seed=run))
        hits += [
            correlation.pearson.low <= noisy <= correlation.pearson.high,
            correlation.disattenuated.low <= rho <= correlation.disattenuated.high,
        ]
        seen.append((correlation.pearson.value, correlation.disattenuated.value, correlation.reliability))
    assert np.mean(seen, axis=0) == pytest.approx([noisy, rho, 2 / 3], abs=0.05)
    low, high = shares(0.95, 0.97, runs)
    assert low <= hits[0] / runs <= high
    assert hits[1] / runs >= shares(0.97, 0.97, runs)[0]


@pytest.mark.slow
@pytest.mark.parametrize("people", [1, 3])
def test_many_systems_of_few_documents_keep_their_level(people, runs_of):
    """Every system's mean that is subtracted costs a degree of freedom."""
    systems, documents = 8, np.arange(24)
    crossed = CrossedRatings(np.tile(np.arange(people), 24), np.repeat(documents, people))
    rng = np.random.default_rng(3)
    hits, runs = np.zeros(2), runs_of(1000)
    for run in range(runs):
        ratings = rng.normal(size=24)[crossed.documents] + 0.7 * rng.normal(size=24 * people)
        values = rng.normal(size=24)
        correlation = correlate_documents(
            values, documents % systems, ratings, crossed, Resampling(resamples=100, seed=run)
        )
        hits += [correlation.pearson.p_value < 0.05, correlation.spearman.p_value < 0.05]
    assert (hits / runs <= shares(0.05, 0.05, runs)[1]).all(), hits


def test_raw_correlations_are_those_of_scipy():
    """With one annotator, only the common level is subtracted."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=40), rng.normal(size=40)
    crossed = CrossedRatings(np.zeros(40, dtype=int), np.arange(40))
    correlation = correlate_documents(x, np.zeros(40, dtype=int), y, crossed, FEW)
    assert correlation.pearson.value == pytest.approx(pearsonr(x, y)[0])
    assert correlation.spearman.value == pytest.approx(spearmanr(x, y)[0])
    assert "no document was judged by two annotators" in correlation.reason
    assert np.isnan(correlation.disattenuated.value)


def test_undefined_correlations_have_a_reason():
    few = CrossedRatings(np.zeros(3, dtype=int), np.arange(3))
    zero = np.zeros(3, dtype=int)
    assert "fewer than 8" in correlate_documents(np.arange(3.0), zero, np.arange(3.0), few, FEW).reason
    ten = CrossedRatings(np.zeros(10, dtype=int), np.arange(10))
    flat = correlate_documents(np.ones(10), np.zeros(10, dtype=int), np.arange(10.0), ten, FEW)
    assert flat.reason == "all documents have the same value"
    flat = correlate_documents(np.arange(10.0), np.zeros(10, dtype=int), np.ones(10), ten, FEW)
    assert flat.reason == "all documents have the same score"


def compared(rng, rho, *, people=4, pairs=60, ratings=2):
    """Differences of two texts, and preferences (-1, 0, 1) by annotators who differ in their preferences."""
    true = rng.normal(size=pairs)
    values = rho * true + np.sqrt(1 - rho**2) * rng.normal(size=pairs)
    annotators = np.concatenate([rng.permutation(people)[:ratings] for _ in range(pairs)])
    crossed = CrossedRatings(annotators, np.repeat(np.arange(pairs), ratings))
    preferences = true[crossed.documents] + rng.normal(size=len(annotators))
    return values, None, np.sign(np.where(np.abs(preferences) < 0.3, 0, preferences)), crossed


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_intervals_and_p_values_of_compared_texts(rho, runs_of):
    rng, runs = np.random.default_rng(11), runs_of(1000)
    large = compared(rng, rho, pairs=40_000)
    means = np.bincount(large[3].documents, large[2]) / 2
    truth = float((large[0] * means).sum() / np.sqrt((large[0] ** 2).sum() * (means**2).sum()))
    correlations = [
        correlate_documents(*compared(rng, rho), Resampling(resamples=100, seed=run)) for run in range(runs)
    ]
    hits = np.mean([correlation.pearson.low <= truth <= correlation.pearson.high for correlation in correlations])
    low, high = shares(0.95, 0.97, runs)
    assert low <= hits <= high
    if rho == 0:
        low, high = shares(0.03, 0.05, runs)
        assert low <= np.mean([correlation.pearson.p_value <= 0.05 for correlation in correlations]) <= high
        assert low <= np.mean([correlation.spearman.p_value <= 0.05 for correlation in correlations]) <= high


def test_the_order_of_compared_texts_does_not_matter():
    values, _, ratings, crossed = compared(np.random.default_rng(3), 0.5)
    signs = np.where(np.random.default_rng(4).random(len(values)) < 0.5, -1.0, 1.0)
    original = correlate_documents(values, None, ratings, crossed, FEW)
    swapped = correlate_documents(values * signs, None, ratings * signs[crossed.documents], crossed, FEW)
    for name in ("pearson", "spearman", "disattenuated"):
        estimates = [(e.value, e.low, e.high, e.p_value) for e in (getattr(original, name), getattr(swapped, name))]
        assert estimates[0] == pytest.approx(estimates[1], rel=1e-4)
    means = np.bincount(crossed.documents, ratings) / 2
    # Brute force: both texts of a pair, relative to the mean of the two, as one sample.
    both = np.concatenate([values, -values]), np.concatenate([means, -means])
    assert original.pearson.value == pytest.approx(pearsonr(*both)[0])
    assert original.reliability == pytest.approx(swapped.reliability)


def test_annotators_do_not_change_the_error_of_comparisons():
    """No levels are subtracted from comparisons, so they cost no degrees of freedom."""
    values, _, ratings, crossed = compared(np.random.default_rng(5), 0.6, people=4)
    crowd = CrossedRatings(np.arange(len(ratings)), crossed.documents)
    few_annotators, many_annotators = (
        correlate_documents(values, None, ratings, ratings_by, FEW) for ratings_by in (crossed, crowd)
    )
    assert few_annotators.reliability == pytest.approx(many_annotators.reliability)
    means = np.bincount(crossed.documents, ratings) / 2
    error = ((ratings - means[crossed.documents]) ** 2).sum() / len(means)
    assert few_annotators.reliability == pytest.approx(1 - error / 2 / (means**2).mean())


@pytest.mark.slow
@pytest.mark.parametrize("documents_each", [1, 3, 5])
def test_the_reliability_of_many_annotators_with_few_documents_each_is_right(documents_each):
    """Annotators' means mostly reflect their documents here; subtracting them would remove true differences."""
    rng, values_of_runs = np.random.default_rng(6), []
    for run in range(100):
        true = rng.normal(size=60)
        documents = np.concatenate([rng.permutation(60), rng.permutation(60)])
        people = np.arange(120) // documents_each
        ratings = true[documents] + rng.normal(0, 0.5, 120)[people] + rng.normal(0, 0.7, 120)
        values = 0.6 * true + 0.8 * rng.normal(size=60)
        crowd = CrossedRatings(people, documents)
        correlation = correlate_documents(
            values, np.zeros(60, dtype=int), ratings, crowd, Resampling(resamples=50, seed=run)
        )
        values_of_runs.append((correlation.reliability, correlation.disattenuated.value))
    assert np.mean(values_of_runs, axis=0) == pytest.approx([1 / (1 + (0.5**2 + 0.7**2) / 2), 0.6], abs=0.05)


def test_too_few_documents_of_two_annotators_have_a_reason():
    """Two people, 40 documents each, one of them shared: its one difference goes into their levels."""
    rng = np.random.default_rng(8)
    crossed = CrossedRatings(np.repeat([0, 1], 40), np.concatenate([np.arange(40), np.arange(39, 79)]))
    correlation = correlate_documents(rng.normal(size=79), np.zeros(79, dtype=int), rng.normal(size=80), crossed, FEW)
    assert "too few documents were judged by two annotators" in correlation.reason


def residuals(x, z):
    z = np.stack([np.ones(len(z)), z], axis=1)
    return x - z @ np.linalg.lstsq(z, x, rcond=None)[0]


def test_partial_correlations_are_those_of_what_length_leaves():
    """Closed form: the correlation of the residuals of both sides, of numbers and of ranks."""
    rng = np.random.default_rng(2)
    lengths = rng.gamma(3, 100, 40)
    x, y = lengths / 50 + rng.normal(size=40), lengths / 100 + rng.normal(size=40)
    crossed = CrossedRatings(np.zeros(40, dtype=int), np.arange(40))
    correlation = correlate_documents(x, np.zeros(40, dtype=int), y, crossed, FEW, lengths)
    assert correlation.partial_pearson.value == pytest.approx(pearsonr(residuals(x, lengths), residuals(y, lengths))[0])
    ranks = [rankdata(values) for values in (x, y, lengths)]
    expected = pearsonr(residuals(ranks[0], ranks[2]), residuals(ranks[1], ranks[2]))[0]
    assert correlation.partial_spearman.value == pytest.approx(expected)
    assert correlation.partial_pearson.low < correlation.partial_pearson.value < correlation.partial_pearson.high
    assert correlation.pearson.value > 0.5


def test_partial_correlations_within_systems_and_of_pairs():
    rng = np.random.default_rng(3)
    lengths, y = rng.normal(size=60), rng.normal(size=60)
    x = lengths + rng.normal(size=60)
    crossed, groups = CrossedRatings(np.zeros(60, dtype=int), np.arange(60)), np.arange(60) % 3
    dummies = np.stack([groups == group for group in range(3)] + [lengths], axis=1).astype(float)
    left = [values - dummies @ np.linalg.lstsq(dummies, values, rcond=None)[0] for values in (x, y)]
    within = correlate_documents(x, groups, y, crossed, FEW, lengths)
    assert within.partial_pearson.value == pytest.approx(pearsonr(*left)[0])
    pairs = correlate_documents(x, None, y, crossed, FEW, lengths)
    slopes = [values - lengths * (values @ lengths) / (lengths @ lengths) for values in (x, y)]
    cosine = slopes[0] @ slopes[1] / np.sqrt((slopes[0] ** 2).sum() * (slopes[1] ** 2).sum())
    assert pairs.partial_pearson.value == pytest.approx(cosine)


@pytest.mark.parametrize("lengths", [None, np.arange(20.0) * 3, np.full(20, 7.0), np.full(20, np.nan)])
def test_values_that_length_determines_have_no_partial_correlation(lengths):
    ratings, groups = np.random.default_rng(4).normal(size=20), np.zeros(20, dtype=int)
    crossed = CrossedRatings(groups, np.arange(20))
    correlation = correlate_documents(np.arange(20.0), groups, ratings, crossed, FEW, lengths)
    assert np.isnan(correlation.partial_pearson.value)
    assert np.isfinite(correlation.pearson.value)


@pytest.mark.slow
def test_partial_intervals_hold_the_truth():
    """Values and scores go with length alone: nothing is left of a correlation of 0.5."""
    rng, hits, rejections, raw = np.random.default_rng(5), 0, 0, 0
    for run in range(300):
        lengths = rng.normal(size=50)
        x, y = lengths + rng.normal(size=50), lengths + rng.normal(size=50)
        crossed = CrossedRatings(np.zeros(50, dtype=int), np.arange(50))
        correlation = correlate_documents(
            x, np.zeros(50, dtype=int), y, crossed, Resampling(resamples=100, seed=run), lengths
        )
        hits += correlation.partial_pearson.low <= 0 <= correlation.partial_pearson.high
        rejections += correlation.partial_spearman.p_value < 0.05
        raw += correlation.pearson.p_value < 0.05
    assert hits / 300 >= 0.91
    assert rejections / 300 <= 0.09
    assert raw / 300 > 0.9
