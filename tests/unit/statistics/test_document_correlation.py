"""Correlations of documents with people's scores, against known truth."""

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from macroscope.statistics.crossed_bootstrap import TwoWay
from macroscope.statistics.document_correlation import correlate_documents
from macroscope.statistics.latent import Resampling

ONE = Resampling(resamples=100)


def simulated(rng, rho, *, people=3, documents=60, ratings=2, noise=1.0, systems=1):
    """Values that correlate with the true scores by rho, and noisy ratings by people of different strictness."""
    systems_of = np.arange(documents) % systems
    true = rng.normal(size=documents)
    values = rho * true + np.sqrt(1 - rho**2) * rng.normal(size=documents) + 2 * systems_of
    annotators = np.concatenate([rng.permutation(people)[:ratings] for _ in range(documents)])
    crossed = TwoWay(annotators, np.repeat(np.arange(documents), ratings))
    given = (true + 2 * systems_of)[crossed.documents] + rng.normal(0, 0.5, people)[annotators]
    return values, systems_of, given + rng.normal(0, noise, len(given)), crossed


@pytest.mark.parametrize(("rho", "systems"), [(0.0, 1), (0.6, 1), (0.6, 3), (-0.8, 1)])
def test_intervals_hold_the_truth(rho, systems):
    hits, runs, seen = np.zeros(2), 1000, []
    rng = np.random.default_rng(7)
    noisy = rho / np.sqrt(1 + 1 / 2)
    for run in range(runs):
        found = correlate_documents(*simulated(rng, rho, systems=systems), Resampling(resamples=100, seed=run))
        hits += [
            found.pearson.low <= noisy <= found.pearson.high,
            found.disattenuated.low <= rho <= found.disattenuated.high,
        ]
        seen.append((found.pearson.value, found.disattenuated.value, found.reliability))
    assert np.mean(seen, axis=0) == pytest.approx([noisy, rho, 2 / 3], abs=0.05)
    assert 0.93 <= hits[0] / runs <= 0.985
    assert hits[1] / runs >= 0.95


@pytest.mark.parametrize("people", [1, 3])
def test_many_systems_of_few_documents_keep_their_level(people):
    """Every system's mean that is taken off is a document less to tell by."""
    systems, documents = 8, np.arange(24)
    crossed = TwoWay(np.tile(np.arange(people), 24), np.repeat(documents, people))
    rng = np.random.default_rng(3)
    hits, runs = np.zeros(2), 1000
    for run in range(runs):
        ratings = rng.normal(size=24)[crossed.documents] + 0.7 * rng.normal(size=24 * people)
        values = rng.normal(size=24)
        found = correlate_documents(values, documents % systems, ratings, crossed, Resampling(resamples=100, seed=run))
        hits += [found.pearson.p_value < 0.05, found.spearman.p_value < 0.05]
    assert (hits / runs <= 0.075).all(), hits


def test_raw_correlations_are_the_textbooks():
    """One annotator, so that no level is taken off but the common one."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=40), rng.normal(size=40)
    crossed = TwoWay(np.zeros(40, dtype=int), np.arange(40))
    found = correlate_documents(x, np.zeros(40, dtype=int), y, crossed, ONE)
    assert found.pearson.value == pytest.approx(pearsonr(x, y)[0])
    assert found.spearman.value == pytest.approx(spearmanr(x, y)[0])
    assert "no document was judged by two annotators" in found.reason
    assert np.isnan(found.disattenuated.value)


def test_what_cannot_be_correlated_has_its_reason():
    few = TwoWay(np.zeros(3, dtype=int), np.arange(3))
    zero = np.zeros(3, dtype=int)
    assert "fewer than 8" in correlate_documents(np.arange(3.0), zero, np.arange(3.0), few, ONE).reason
    ten = TwoWay(np.zeros(10, dtype=int), np.arange(10))
    flat = correlate_documents(np.ones(10), np.zeros(10, dtype=int), np.arange(10.0), ten, ONE)
    assert flat.reason == "all documents have the same value"
    flat = correlate_documents(np.arange(10.0), np.zeros(10, dtype=int), np.ones(10), ten, ONE)
    assert flat.reason == "all documents have the same score"


def compared(rng, rho, *, people=4, pairs=60, ratings=2):
    """Differences of two texts, and preferences (-1, 0, 1) by people who differ in which text they like."""
    true = rng.normal(size=pairs)
    values = rho * true + np.sqrt(1 - rho**2) * rng.normal(size=pairs)
    annotators = np.concatenate([rng.permutation(people)[:ratings] for _ in range(pairs)])
    crossed = TwoWay(annotators, np.repeat(np.arange(pairs), ratings))
    given = true[crossed.documents] + rng.normal(size=len(annotators))
    return values, None, np.sign(np.where(np.abs(given) < 0.3, 0, given)), crossed


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_intervals_and_p_values_of_compared_texts(rho):
    rng = np.random.default_rng(11)
    large = compared(rng, rho, pairs=40_000)
    means = np.bincount(large[3].documents, large[2]) / 2
    truth = float((large[0] * means).sum() / np.sqrt((large[0] ** 2).sum() * (means**2).sum()))
    found = [correlate_documents(*compared(rng, rho), Resampling(resamples=100, seed=run)) for run in range(1000)]
    hits = np.mean([one.pearson.low <= truth <= one.pearson.high for one in found])
    assert 0.93 <= hits <= 0.985
    if rho == 0:
        assert 0.015 <= np.mean([one.pearson.p_value <= 0.05 for one in found]) <= 0.07
        assert 0.015 <= np.mean([one.spearman.p_value <= 0.05 for one in found]) <= 0.07


def test_it_does_not_matter_which_text_is_the_first():
    values, _, ratings, crossed = compared(np.random.default_rng(3), 0.5)
    turned = np.where(np.random.default_rng(4).random(len(values)) < 0.5, -1.0, 1.0)
    one = correlate_documents(values, None, ratings, crossed, ONE)
    other = correlate_documents(values * turned, None, ratings * turned[crossed.documents], crossed, ONE)
    for name in ("pearson", "spearman", "disattenuated"):
        found = [(e.value, e.low, e.high, e.p_value) for e in (getattr(one, name), getattr(other, name))]
        assert found[0] == pytest.approx(found[1], rel=1e-4)
    means = np.bincount(crossed.documents, ratings) / 2
    # Brute force: both texts of a pair, each against the mean of the two, as one sample.
    both = np.concatenate([values, -values]), np.concatenate([means, -means])
    assert one.pearson.value == pytest.approx(pearsonr(*both)[0])
    assert one.reliability == pytest.approx(other.reliability)


def test_of_compared_texts_the_annotators_error_is_the_same_whoever_they_are():
    """Nothing is taken off of their ratings, so that no freedom is spent on their levels."""
    values, _, ratings, crossed = compared(np.random.default_rng(5), 0.6, people=4)
    crowd = TwoWay(np.arange(len(ratings)), crossed.documents)
    one, other = (correlate_documents(values, None, ratings, some, ONE) for some in (crossed, crowd))
    assert one.reliability == pytest.approx(other.reliability)
    means = np.bincount(crossed.documents, ratings) / 2
    error = ((ratings - means[crossed.documents]) ** 2).sum() / len(means)
    assert one.reliability == pytest.approx(1 - error / 2 / (means**2).mean())


@pytest.mark.parametrize("judged", [1, 3, 5])
def test_of_a_crowd_of_whom_each_judged_few_the_reliability_is_right(judged):
    """Their means say more of their documents than of them: taken off, they would take what is true with them."""
    rng, found = np.random.default_rng(6), []
    for run in range(100):
        true = rng.normal(size=60)
        documents = np.concatenate([rng.permutation(60), rng.permutation(60)])
        people = np.arange(120) // judged
        ratings = true[documents] + rng.normal(0, 0.5, 120)[people] + rng.normal(0, 0.7, 120)
        values = 0.6 * true + 0.8 * rng.normal(size=60)
        crowd = TwoWay(people, documents)
        one = correlate_documents(values, np.zeros(60, dtype=int), ratings, crowd, Resampling(resamples=50, seed=run))
        found.append((one.reliability, one.disattenuated.value))
    assert np.mean(found, axis=0) == pytest.approx([1 / (1 + (0.5**2 + 0.7**2) / 2), 0.6], abs=0.05)


def test_too_few_documents_of_two_annotators_have_a_reason_of_their_own():
    """Two people, 40 documents each, one of them shared: its one difference goes into their levels."""
    rng = np.random.default_rng(8)
    crossed = TwoWay(np.repeat([0, 1], 40), np.concatenate([np.arange(40), np.arange(39, 79)]))
    found = correlate_documents(rng.normal(size=79), np.zeros(79, dtype=int), rng.normal(size=80), crossed, ONE)
    assert "too few documents were judged by two annotators" in found.reason
