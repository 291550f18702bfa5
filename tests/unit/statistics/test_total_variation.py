"""Distances of categorical distributions, and their permutation null."""

import numpy as np
import pytest
from scipy import sparse, stats

from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.total_variation import (
    largest_difference,
    permuted_distances,
    total_variation,
    total_variation_test,
)


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
