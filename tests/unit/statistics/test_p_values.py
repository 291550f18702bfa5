"""Random subsets and p-values of distributions, against enumeration."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from macroscope.statistics.p_values import p_value_from_null
from macroscope.statistics.random_subset_sums import subset_sums


def test_negative_differences_are_as_significant_as_positive_ones():
    # The paper's pseudocode, without the absolute value of the statistic, would give p = 1 here.
    null = np.arange(-49, 50) / 10
    assert p_value_from_null(-6.0, null) == p_value_from_null(6.0, null) == 1 / 100


def test_exact_p_values_and_monte_carlo_p_values_above_0():
    assert p_value_from_null(3.0, [-3.0, 1.0, 2.0, 3.0 - 1e-12], exact=True) == 0.5
    assert p_value_from_null(3.0, [1.0, 2.0, 0.5]) == 0.25


@pytest.mark.parametrize(("n", "size"), [(5, 2), (6, 3), (5, 4), (9, 1)])
def test_all_subsets_are_equally_likely(n, size):
    powers = 2.0 ** np.arange(n)  # the sum identifies the subset
    counts = Counter(subset_sums(powers, size, 40_000, np.random.default_rng(0))[:, 0].astype(int).tolist())
    expected = {sum(2**i for i in members) for members in itertools.combinations(range(n), size)}
    assert set(counts) == expected
    assert stats.chisquare(list(counts.values())).pvalue > 0.001


@pytest.mark.parametrize(("n", "size"), [(1000, 500), (1000, 37), (777, 700), (64, 32), (130, 0), (130, 130)])
def test_sums_of_subsets_have_the_moments_of_sampling_without_replacement(n, size):
    x = np.random.default_rng(1).normal(size=(n, 2))
    sums = subset_sums(x, size, 20_000, np.random.default_rng(2))
    variance = size * (n - size) / n * x.var(axis=0, ddof=1)
    np.testing.assert_allclose(
        sums.mean(axis=0), size * x.mean(axis=0), atol=5 * np.sqrt(variance.max() / 20_000) + 1e-9
    )
    np.testing.assert_allclose(sums.var(axis=0), variance, rtol=0.05, atol=1e-9)


def test_same_seed_same_sums_whatever_the_number_of_threads(monkeypatch):
    x = np.random.default_rng(1).normal(size=300)
    many = subset_sums(x, 100, 500, np.random.default_rng(5))
    monkeypatch.setattr("macroscope.statistics.random_subset_sums.usable_cores", lambda: 1)
    np.testing.assert_array_equal(many, subset_sums(x, 100, 500, np.random.default_rng(5)))
