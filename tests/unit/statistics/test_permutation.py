"""Permutation tests against enumeration, SciPy and simulation."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from macroscope.statistics.permutation import (
    permutation_p_value,
    permutation_sums,
    permutation_test,
    random_memberships,
    subset_sums,
)


def mean(sums, n):
    return sums[..., 0] / n


def difference_in_medians(a, b):
    return np.median(a, axis=-1) - np.median(b, axis=-1)


def test_permutation_equals_exact_enumeration_within_monte_carlo_error():
    a, b = np.array([1.0, 2.0, 4.0, 7.0]), np.array([3.0, 8.0, 9.0])
    exact = stats.permutation_test(
        (a, b), lambda x, y: abs(np.mean(x) - np.mean(y)), alternative="greater", n_resamples=np.inf
    ).pvalue
    p = permutation_p_value(a, b, mean, 20000, np.random.default_rng(0))
    assert p == pytest.approx(exact, abs=0.015)


def test_p_values_are_uniform_under_the_null():
    rng = np.random.default_rng(3)
    p = [permutation_p_value(rng.normal(size=25), rng.normal(size=40), mean, 199, rng) for _ in range(400)]
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert min(p) >= 1 / 200


def test_power_under_a_known_shift():
    rng = np.random.default_rng(4)
    p = [permutation_p_value(rng.normal(1, 1, 30), rng.normal(0, 1, 30), mean, 199, rng) for _ in range(100)]
    # The t-test's power for a shift of one standard deviation at n = 30 is 0.97.
    assert np.mean(np.array(p) < 0.05) > 0.9


def test_permutation_keeps_the_total():
    a, b = np.arange(5.0), np.arange(7.0)
    first, second = permutation_sums(a, b, 50, np.random.default_rng(0))
    np.testing.assert_allclose(first + second, a.sum() + b.sum())


def test_equal_samples_have_p_1():
    assert permutation_p_value([1.0, 1.0], [1.0, 1.0, 1.0], mean, 100, np.random.default_rng(0)) == 1


def test_undefined_differences_are_nan():
    assert np.isnan(permutation_p_value([np.inf], [1.0], mean, 100, np.random.default_rng(0)))


@pytest.mark.parametrize(("n", "size"), [(5, 2), (6, 3), (5, 4), (9, 1)])
def test_all_subsets_are_equally_likely(n, size):
    powers = 2.0 ** np.arange(n)  # the sum tells the subset
    drawn = Counter(subset_sums(powers, size, 40_000, np.random.default_rng(0))[:, 0].astype(int).tolist())
    expected = {sum(2**i for i in chosen) for chosen in itertools.combinations(range(n), size)}
    assert set(drawn) == expected
    assert stats.chisquare(list(drawn.values())).pvalue > 0.001


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
    monkeypatch.setattr("macroscope.statistics.permutation.usable_cores", lambda: 1)
    np.testing.assert_array_equal(many, subset_sums(x, 100, 500, np.random.default_rng(5)))


def test_few_divisions_are_enumerated():
    a, b = np.array([1.0, 2.0, 4.0, 7.0]), np.array([3.0, 8.0, 9.0])
    exact = stats.permutation_test((a, b), lambda x, y: x.mean() - y.mean(), n_resamples=np.inf).pvalue
    one_sided = stats.permutation_test(
        (a, b), lambda x, y: abs(x.mean() - y.mean()), alternative="greater", n_resamples=np.inf
    ).pvalue
    assert permutation_p_value(a, b, mean, 1000, np.random.default_rng(0)) == pytest.approx(one_sided)
    value, p = permutation_test(a, b, lambda x, y: x.mean(axis=-1) - y.mean(axis=-1), 1000, np.random.default_rng(0))
    assert value == pytest.approx(a.mean() - b.mean())
    assert p == pytest.approx(exact, abs=0.06)


def test_any_statistic_of_two_samples():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.7, 1, 40), rng.normal(0, 1, 50)
    value, p = permutation_test(a, b, difference_in_medians, 4000, np.random.default_rng(1))
    peer = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.median(x, axis=axis) - np.median(y, axis=axis),
        vectorized=True,
        n_resamples=4000,
        rng=2,
    )
    assert value == pytest.approx(peer.statistic)
    assert p == pytest.approx(peer.pvalue, abs=0.02)


def test_p_values_of_any_statistic_are_uniform_under_the_null():
    rng = np.random.default_rng(3)
    p = [
        permutation_test(rng.normal(size=25), rng.normal(size=25), difference_in_medians, 199, rng)[1]
        for _ in range(300)
    ]
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_negative_differences_are_as_significant_as_positive_ones():
    # The paper's pseudocode forgets the absolute value of the statistic: it would give p = 1 here.
    low, high = np.zeros(30) + np.arange(30) / 100, np.ones(30) + np.arange(30) / 100
    assert permutation_p_value(low, high, mean, 999, np.random.default_rng(0)) == 0.001
    assert permutation_p_value(high, low, mean, 999, np.random.default_rng(0)) == 0.001


def test_memberships_have_the_right_size():
    rows = np.concatenate(list(random_memberships(30, 12, 100, 7, np.random.default_rng(0))))
    assert rows.shape == (100, 30)
    assert (rows.sum(axis=1) == 12).all()
    every = np.concatenate(list(random_memberships(5, 2, 100, 3, np.random.default_rng(0))))
    assert len({tuple(row) for row in every}) == 10 == len(every)
