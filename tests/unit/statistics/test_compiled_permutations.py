"""Sums and distances after random permutations: their distribution is that of all permutations, enumerated."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from macroscope.statistics.compiled_permutations import permuted_ks_distances, subset_sums
from macroscope.statistics.kolmogorov_smirnov import ks_distance
from macroscope.statistics.permutation_groups import Permutation

# Pairs, a group of three (two of them in the first sample), and the rest; ties among the values.
GROUPS = np.array([1, 2, 3, 3, 0, 0, 0, 2, 1, 3, 0, 0])
VALUES = np.array([1.0, 4, 2, 2, 9, 3, 3, 5, 1, 7, 8, 2])
SIZES = (7, 5)


def distances_of(permutation, draws, rng):
    return permuted_ks_distances(VALUES, permutation.sizes[0], permutation.pairs_and_groups(), draws, rng)


def all_distances(values, permutation):
    """Return D of every permutation, each once, by the plain definition."""
    rows = np.concatenate(list(permutation.memberships(10**6, np.random.default_rng(0)))) > 0
    return [round(ks_distance(values[row], values[~row]), 9) for row in rows]


@pytest.mark.parametrize("groups", [GROUPS, None, np.repeat([0, 1, 2], 4), np.tile(np.arange(1, 7), 2)])
def test_random_permutations_have_the_distribution_of_all(groups):
    sizes = SIZES if groups is None or groups is GROUPS else (6, 6)
    permutation = Permutation(sizes, groups)
    exact = Counter(all_distances(VALUES, permutation))
    draws = 20_000
    sampled = Counter(np.round(distances_of(permutation, draws, np.random.default_rng(1)), 9))
    assert set(sampled) <= set(exact)
    expected = np.array([count / exact.total() * draws for count in exact.values()])
    counted = np.array([sampled[value] for value in exact])
    enough = expected >= 5
    assert stats.chisquare([*counted[enough], counted[~enough].sum() + 1e-9],
                           [*expected[enough], expected[~enough].sum() + 1e-9]).pvalue > 0.001  # fmt: skip


def test_the_number_of_cores_does_not_matter(monkeypatch):
    permutation = Permutation(SIZES, GROUPS)
    distances = []
    for cores in (1, 3):
        monkeypatch.setattr("macroscope.statistics.compiled_permutations.usable_cores", lambda cores=cores: cores)
        distances.append(distances_of(permutation, 500, np.random.default_rng(2)))
    assert np.array_equal(*distances)
    assert len(set(distances[0][:64])) > 3  # chunks have different seeds
    assert not np.array_equal(distances[0][:64], distances[0][64:128])


def test_a_sample_of_one_document():
    permutation = Permutation((1, 3))
    distances = permuted_ks_distances(
        np.array([1.0, 2, 3, 4]), 1, permutation.pairs_and_groups(), 300, np.random.default_rng(3)
    )
    assert set(np.round(distances, 9)) == set(all_distances(np.array([1.0, 2, 3, 4]), permutation))


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
    monkeypatch.setattr("macroscope.statistics.compiled_permutations.usable_cores", lambda: 1)
    np.testing.assert_array_equal(many, subset_sums(x, 100, 500, np.random.default_rng(5)))
