"""Closed forms, published toy histograms, and quadrature on a fine grid."""

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.integrate import quad
from scipy.stats import entropy

from macroscope.statistics import divergences as d
from macroscope.statistics.divergences import (
    largest_difference,
    permuted_distances,
    total_variation,
    total_variation_test,
)
from macroscope.statistics.permutation_groups import Permutation

P, Q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
CLOSE_P, CLOSE_Q = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.38, 0.32, 0.2, 0.1])
FUNCTIONS = d.divergences(d.FRONTIER)


def test_toy_histograms():
    assert d.forward_kl(P, Q) == pytest.approx(0.2748872196, abs=1e-10)
    assert d.jensen_shannon(P, Q) == pytest.approx(0.0664143144, abs=1e-10)
    assert d.mauve(P, Q) == pytest.approx(0.8214099836, abs=1e-10)
    assert d.frontier_integral(P, Q) == pytest.approx(0.0891395121, abs=1e-10)
    assert d.forward_kl(CLOSE_P, CLOSE_Q) == pytest.approx(0.0011557614, abs=1e-10)
    assert d.backward_kl(CLOSE_P, CLOSE_Q) == pytest.approx(0.0011608749, abs=1e-10)
    assert d.jensen_shannon(CLOSE_P, CLOSE_Q) == pytest.approx(0.0002895375, abs=1e-10)
    assert d.mauve(CLOSE_P, CLOSE_Q) == pytest.approx(0.9999944045, abs=1e-10)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_identical_histograms(name):
    nothing = {"exponentiated_kl": 1.0, "mauve": 1.0}.get(name, 0.0)
    for p in ([3, 2, 0, 5], [1], [0.25, 0.75]):
        assert FUNCTIONS[name](np.array(p, float), np.array(p, float)) == pytest.approx(nothing, abs=1e-12)


def test_disjoint_histograms():
    p, q = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert d.forward_kl(p, q) == np.inf
    assert d.jensen_shannon(p, q) == pytest.approx(np.log(2))
    assert d.frontier_integral(p, q) == pytest.approx(1.0)
    # KL(p || r_w) = -log w: the curve is x = w^s, y = (1 - w)^s, and its area s B(s, s + 1).
    fine = d.Frontier(scale=2.0, weights=4001)
    assert d.mauve(p, q, fine) == pytest.approx(1 / 6, abs=1e-5)


@pytest.mark.parametrize("name", ["forward_kl", "jensen_shannon", "mauve", "frontier_integral"])
def test_rows_are_independent(name):
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(7), (2, 5)), rng.dirichlet(np.ones(7), (2, 5))
    values = FUNCTIONS[name](p, q)
    assert values.shape == (2, 5)
    one_by_one = [[FUNCTIONS[name](a, b) for a, b in zip(*rows, strict=True)] for rows in zip(p, q, strict=True)]
    np.testing.assert_allclose(values, one_by_one, rtol=1e-12)


def test_frontier_against_entropies_and_its_ends():
    rng = np.random.default_rng(1)
    p, q = rng.dirichlet(np.ones(9)), rng.dirichlet(np.ones(9))
    grid = np.array([1e-9, 0.3, 0.7, 1 - 1e-9])
    kl_p, kl_q = d.frontier_divergences(p, q, grid)
    for w, x, y in zip(grid, kl_p, kl_q, strict=True):
        assert x == pytest.approx(entropy(p, w * p + (1 - w) * q), abs=1e-7)
        assert y == pytest.approx(entropy(q, w * p + (1 - w) * q), abs=1e-7)
    assert kl_q[0] == pytest.approx(0, abs=1e-7)
    assert kl_p[0] == pytest.approx(d.forward_kl(p, q), abs=1e-6)
    assert kl_p[-1] == pytest.approx(0, abs=1e-7)
    assert kl_q[-1] == pytest.approx(d.backward_kl(p, q), abs=1e-6)


def test_without_ties_the_area_is_the_mean_of_sorting_by_either_axis():
    kl_p, kl_q = d.frontier_divergences(P, Q, d.FRONTIER.grid)
    x, y = np.exp(-5 * np.append(np.append(np.inf, kl_p), 0)), np.exp(-5 * np.append(np.append(0, kl_q), np.inf))
    by_x, by_y = np.argsort(x, kind="stable"), np.argsort(y, kind="stable")
    areas = np.trapezoid(y[by_x], x[by_x]), np.trapezoid(x[by_y], y[by_y])
    assert d.area_under_frontier(kl_p, kl_q, 5.0) == pytest.approx(np.mean(areas), abs=1e-12)


def test_frontier_integral_is_the_integral():
    rng = np.random.default_rng(2)
    p, q = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
    p[0] = 0.0

    def height(w):
        (x,), (y,) = d.frontier_divergences(p, q, np.array([w]))
        return w * x + (1 - w) * y

    assert d.frontier_integral(p, q) == pytest.approx(2 * quad(height, 0, 1, epsabs=1e-10)[0], abs=1e-8)


def test_smoothing_is_laplace():
    np.testing.assert_allclose(d.smooth_counts([3, 0, 1], 1.0), np.array([4, 1, 2]) / 7)
    assert np.isfinite(d.forward_kl(d.smooth_counts([3, 0], 1.0), d.smooth_counts([0, 3], 1.0)))


@pytest.mark.parametrize("name", ["forward_kl", "backward_kl", "jensen_shannon", "frontier_integral"])
def test_contributions_add_up(name):
    rng = np.random.default_rng(3)
    p, q = rng.dirichlet(np.ones(12)), rng.dirichlet(np.ones(12))
    assert d.contributions(p, q)[name].sum() == pytest.approx(float(FUNCTIONS[name](p, q)), abs=1e-12)


def test_kl_of_strings_is_the_sum_of_kl_between_and_within_clusters():
    """pimentel2022 eq. 15-16, on strings that can be enumerated."""
    rng = np.random.default_rng(4)
    p, q = rng.dirichlet(np.ones(40)), rng.dirichlet(np.ones(40))
    cluster = rng.integers(0, 6, 40)
    p_c, q_c = np.bincount(cluster, p, 6), np.bincount(cluster, q, 6)
    within = sum(p_c[c] * d.forward_kl(p[cluster == c], q[cluster == c]) for c in range(6) if (cluster == c).any())
    assert d.forward_kl(p_c, q_c) + within == pytest.approx(float(d.forward_kl(p, q)), abs=1e-12)
    assert d.forward_kl(p_c, q_c) <= d.forward_kl(p, q)


def units(rng, n, probabilities, tokens=20):
    return sparse.csr_matrix(rng.multinomial(tokens, probabilities, size=n))


def test_known_distances():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.2, 0.4])
    assert largest_difference(p, q) == pytest.approx(0.2)
    assert total_variation(p, q) == pytest.approx(0.2)
    p, q = np.array([0.5, 0.5, 0, 0]), np.array([0.25, 0.25, 0.25, 0.25])
    assert largest_difference(p, q) == pytest.approx(0.25)
    assert total_variation(p, q) == pytest.approx(0.5)
    assert total_variation(10 * p, 3 * q) == pytest.approx(0.5)


def test_half_l1_is_the_supremum_over_sets():
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
    sets = [[i for i in range(6) if mask >> i & 1] for mask in range(64)]
    assert total_variation(p, q) == pytest.approx(max(abs(p[s].sum() - q[s].sum()) for s in sets))


@pytest.mark.slow
def test_p_values_are_uniform_under_the_null():
    rng = np.random.default_rng(1)
    mix = rng.dirichlet(np.ones(12))
    p = [
        total_variation_test(units(rng, 25, mix), units(rng, 35, mix), Permutation((25, 35)), 99, rng)
        for _ in range(200)
    ]
    for name in ("tvd_sup", "tvd_half_l1"):
        assert stats.kstest([result[name][1] for result in p], "uniform").pvalue > 0.005


def test_a_changed_word_is_detected():
    rng = np.random.default_rng(2)
    changed = np.array([0.5, 0.2, 0.2, 0.1])
    result = total_variation_test(
        units(rng, 30, [0.35, 0.35, 0.2, 0.1]), units(rng, 30, changed), Permutation((30, 30)), 999, rng
    )
    assert result["tvd_sup"][1] == 0.001
    assert result["tvd_sup"][0] == pytest.approx(0.15, abs=0.05)


def test_the_largest_difference_is_at_most_half_the_l1_distance():
    rng = np.random.default_rng(3)
    a, b = units(rng, 12, np.ones(5) / 5), units(rng, 14, np.ones(5) / 5)
    null = permuted_distances(a, b, Permutation((12, 14)), 50, np.random.default_rng(0))
    assert {len(values) for values in null.values()} == {50}
    assert (null["tvd_sup"] <= null["tvd_half_l1"] + 1e-12).all()


def test_an_empty_sample_is_nan():
    nothing = sparse.csr_matrix((0, 3))
    result = total_variation_test(
        nothing, sparse.csr_matrix([[1, 0, 2]]), Permutation((0, 1)), 99, np.random.default_rng(0)
    )
    assert all(np.isnan(value).all() for value in result.values())
