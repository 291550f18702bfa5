"""Effect sizes against definitions and simulation."""

import numpy as np
import pytest
from scipy import stats

from macroscope.statistics.columns import cliffs_delta, hedges_g


def test_cliffs_delta_by_its_definition():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 6, 23), rng.integers(1, 8, 31)
    assert cliffs_delta(a, b)[0] == pytest.approx(np.sign(a[:, None] - b[None, :]).mean())


def test_variance_of_cliffs_delta_by_its_definition():
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 6, 23), rng.integers(1, 8, 31)
    signs = np.sign(a[:, None] - b[None, :]).astype(float)
    d, n, m = signs.mean(), *signs.shape
    variance = (
        m**2 * ((signs.mean(1) - d) ** 2).sum() + n**2 * ((signs.mean(0) - d) ** 2).sum() - ((signs - d) ** 2).sum()
    ) / (n * m * (n - 1) * (m - 1))
    z = stats.norm.ppf(0.975)
    root = z * np.sqrt(variance * ((1 - d**2) ** 2 + z**2 * variance))
    scale = 1 - d**2 + z**2 * variance
    assert cliffs_delta(a, b)[1:] == pytest.approx(((d - d**3 - root) / scale, (d - d**3 + root) / scale))


@pytest.mark.parametrize(("effect", "truth"), [(hedges_g, 0.5), (cliffs_delta, 2 * stats.norm.cdf(0.5 / 2**0.5) - 1)])
def test_intervals_cover_at_their_level(effect, truth):
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(500):
        _, low, high = effect(rng.normal(0.5, 1, 60), rng.normal(0, 1, 80))
        hits += low <= truth <= high
    assert 0.92 <= hits / 500 <= 0.98


def test_degenerate_samples():
    assert np.isnan(hedges_g([1.0], [1.0, 2.0])).all()
    assert hedges_g([1.0, 1.0], [1.0, 1.0]) == (0, 0, 0)
    assert hedges_g([2.0, 2.0], [1.0, 1.0])[0] == np.inf
    # Rounding makes the mean of many 0.1 differ from 0.1.
    assert hedges_g(np.full(30, 0.1), np.full(47, 0.1)) == (0, 0, 0)
    assert hedges_g(np.full(30, 0.1), np.full(47, 0.3)) == (-np.inf, -np.inf, -np.inf)
    assert np.isnan(cliffs_delta([], [1.0])).all()


def test_a_complete_separation_of_few_values_is_not_certain():
    value, low, high = cliffs_delta([4.0, 5.0, 6.0], [1.0, 2.0])
    assert (value, high) == (1, 1)
    assert low < 0
    assert cliffs_delta([1.0, 2.0], [4.0, 5.0, 6.0]) == (-1, -1, -low)
    assert cliffs_delta(np.arange(100) + 200, np.arange(100))[1] > 0.9


def test_hedges_g_of_skewed_values_covers():
    rng, truth, hits = np.random.default_rng(4), 1 / np.sqrt(0.5 * 4 + 0.5 * 1), 0
    for _ in range(500):
        _, low, high = hedges_g(rng.exponential(2, 80) - 1, rng.exponential(1, 80) - 1)
        hits += low <= truth <= high
    assert 0.91 <= hits / 500 <= 0.98
