"""Wilson intervals against SciPy."""

import numpy as np
import pytest
from scipy.stats import binomtest, fisher_exact

from macroscope.statistics.proportions import exact_test, share_interval, wilson_interval


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_wilson_interval_agrees_with_scipy(confidence):
    n = np.array([1, 1, 5, 10, 10, 10, 400])
    k = np.array([0, 1, 2, 0, 8, 10, 399])
    low, high = wilson_interval(k, n, confidence)
    for i in range(len(n)):
        expected = binomtest(int(k[i]), int(n[i])).proportion_ci(confidence, method="wilson")
        assert (low[i], high[i]) == (pytest.approx(expected.low, abs=1e-12), pytest.approx(expected.high, abs=1e-12))


@pytest.mark.parametrize(
    "counts", [(0, 5, 0, 7), (5, 5, 7, 7), (3, 10, 0, 10), (7, 10, 3, 10), (187, 200, 48, 200), (1, 20_000, 9, 300)]
)
def test_exact_test_agrees_with_scipy(counts):
    k, n, other_k, other_n = counts
    expected = fisher_exact([[k, n - k], [other_k, other_n - other_k]]).pvalue
    assert exact_test(*counts) == pytest.approx(expected, rel=1e-6)


def test_no_trials_give_the_whole_interval():
    assert wilson_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("share", "concentration"), [(0.02, 1.0), (0.3, 0.5), (0.95, 3.0)])
@pytest.mark.parametrize("n", [20, 60, 300])
def test_interval_of_trials_that_come_in_documents_covers(share, concentration, n):
    """The share of a document is sampled from a beta distribution, so its trials are correlated."""
    rng, held = np.random.default_rng(0), []
    for _ in range(400):
        trials = rng.integers(3, 11, n)
        successes = rng.binomial(trials, rng.beta(share * concentration, (1 - share) * concentration, n))
        _, low, high = share_interval(successes, trials)
        held.append(low <= share <= high)
    assert np.mean(held) >= 0.92


def test_one_trial_a_document_is_wilsons_interval():
    successes = np.repeat([1, 0], [7, 23])
    _, low, high = share_interval(successes, np.ones(30))
    assert (low, high) == pytest.approx([float(end) for end in wilson_interval(7, 30)])


def test_without_a_success_each_document_is_one_trial_at_most():
    _, low, high = share_interval(np.zeros(10), np.full(10, 8.0))
    assert low == 0
    assert high > wilson_interval(0, 10)[1] > wilson_interval(0, 80)[1]
    assert np.isnan(share_interval([0], [0])).all()
