"""Distances after random permutations: the distribution is that of all permutations, enumerated."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from macroscope.statistics.kolmogorov_smirnov import ks_distance
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.permuted_ks import permuted_ks_distances

# Pairs, a group of three (two of them in the first sample), and the rest; ties among the values.
GROUPS = np.array([1, 2, 3, 3, 0, 0, 0, 2, 1, 3, 0, 0])
VALUES = np.array([1.0, 4, 2, 2, 9, 3, 3, 5, 1, 7, 8, 2])
SIZES = (7, 5)


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
    sampled = Counter(np.round(permuted_ks_distances(VALUES, permutation, draws, np.random.default_rng(1)), 9))
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
        monkeypatch.setattr("macroscope.statistics.permuted_ks.usable_cores", lambda cores=cores: cores)
        distances.append(permuted_ks_distances(VALUES, permutation, 500, np.random.default_rng(2)))
    assert np.array_equal(*distances)
    assert len(set(distances[0][:64])) > 3  # chunks have different seeds
    assert not np.array_equal(distances[0][:64], distances[0][64:128])


def test_a_sample_of_one_document():
    permutation = Permutation((1, 3))
    distances = permuted_ks_distances(np.array([1.0, 2, 3, 4]), permutation, 300, np.random.default_rng(3))
    assert set(np.round(distances, 9)) == set(all_distances(np.array([1.0, 2, 3, 4]), permutation))
