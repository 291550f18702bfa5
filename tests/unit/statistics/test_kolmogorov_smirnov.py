"""Kolmogorov-Smirnov distances and tests against SciPy, enumeration and simulation."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from macroscope.statistics.kolmogorov_smirnov import (
    ks_distance,
    ks_distance_of_counts,
    ks_interval,
    ks_test,
    monte_carlo_p_value,
)
from macroscope.statistics.permutation_groups import Permutation, build_permutation


@pytest.mark.parametrize("ties", [False, True])
def test_two_sample_distance_agrees_with_scipy(ties):
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, 80), rng.normal(0.3, 1.2, 55)
    if ties:
        a, b = a.round(), b.round()
    assert ks_distance(a, b) == pytest.approx(stats.ks_2samp(a, b).statistic)


def test_continuous_p_value_agrees_with_scipy():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=40), rng.normal(0.5, 1, 30)
    assert ks_test(a, b, Permutation((40, 30)), 100, rng) == pytest.approx(stats.ks_2samp(a, b).pvalue)


def test_p_value_with_ties_is_that_of_all_permutations():
    a, b = np.array([1, 1, 2, 2, 3]), np.array([2, 3, 3, 3])
    pool = np.concatenate([a, b])
    observed = ks_distance(a, b)
    reached = [
        ks_distance(pool[list(members)], np.delete(pool, list(members))) >= observed - 1e-12
        for members in itertools.combinations(range(9), 5)
    ]
    assert ks_test(a, b, Permutation((5, 4)), 40_000, np.random.default_rng(0)) == pytest.approx(
        np.mean(reached), abs=0.01
    )


@pytest.mark.slow
def test_p_values_are_uniform_under_the_null_with_ties():
    rng = np.random.default_rng(4)
    p = [ks_test(rng.poisson(30, 60), rng.poisson(30, 80), Permutation((60, 80)), 199, rng) for _ in range(400)]
    # Discrete, so below uniform nowhere by more than chance: the test keeps its level.
    for level in (0.05, 0.1, 0.25):
        assert np.mean(np.array(p) <= level) <= level + 3 * np.sqrt(level * (1 - level) / 400)
        assert np.mean(np.array(p) <= level) >= 0.6 * level


@pytest.mark.slow
def test_re_estimated_null_gives_lilliefors_critical_value():
    # Lilliefors (1967): with mean and variance estimated, the 5 % point of D at n = 20 is 0.190 (0.294 if known).
    def simulate(rng):
        x = rng.normal(size=20)
        return stats.kstest((x - x.mean()) / x.std(ddof=1), "norm").statistic

    assert monte_carlo_p_value(0.190, simulate, 4000, np.random.default_rng(0)) == pytest.approx(0.05, abs=0.012)


def test_simulations_without_a_distance_do_not_count():
    distances = iter([np.nan, 0.3, np.nan, 0.1, 0.5, np.nan])
    assert monte_carlo_p_value(0.3, lambda rng: next(distances), 6, np.random.default_rng(0)) == (2 + 1) / (3 + 1)


def test_paired_documents_swap():
    """A system that adds a constant to every text: unpaired, the spread of the prompts hides it."""
    rng = np.random.default_rng(5)
    prompts = rng.normal(0, 20, 60).round()
    names = pd.DataFrame({"id": list(range(60))})
    a, b = prompts, prompts + 5
    assert ks_test(a, b, Permutation((60, 60)), 999, rng) > 0.2
    assert ks_test(a, b, build_permutation(names, names), 999, rng) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shift", "scale", "n", "m"), [(0, 1, 60, 150), (1, 1, 60, 150), (0, 1.7, 100, 100), (0, 1, 5, 8)]
)
def test_interval_covers_the_true_distance(shift, scale, n, m):
    rng, places = np.random.default_rng(0), np.linspace(-8, 8, 20_001)
    truth = np.abs(stats.norm.cdf(places, shift, scale) - stats.norm.cdf(places)).max()
    held = []
    for _ in range(400):
        _, low, high = ks_interval(rng.normal(shift, scale, n), rng.normal(0, 1, m), 0.95, 200, rng)
        held.append(low <= truth <= high)
    assert np.mean(held) >= 0.925


def test_many_values_have_the_interval_of_a_subsampled_support():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.5, 1, 5000), rng.normal(0, 1, 5000)
    distance, low, high = ks_interval(a, b, 0.95, 200, rng)
    assert distance == ks_distance(a, b)
    assert low < distance < high
    assert high - low < 0.07


def test_empty_and_constant_samples():
    assert np.isnan(ks_distance([], [1.0]))
    assert np.isnan(ks_interval([], [1.0], 0.95, 100, np.random.default_rng(0))).all()
    assert np.isnan(ks_test([], [1.0], Permutation((0, 1)), 100, np.random.default_rng(0)))
    assert np.isnan(ks_distance_of_counts([0, 0], [1, 2]))
    assert np.isnan(monte_carlo_p_value(float("nan"), lambda rng: 0.0, 10, np.random.default_rng(0)))
    assert ks_test([2, 2, 2], [2, 2], Permutation((3, 2)), 100, np.random.default_rng(0)) == 1
