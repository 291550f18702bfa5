"""Distances after random exchanges: the same distribution as that of all exchanges, enumerated."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from macroscope.statistics.kolmogorov_smirnov import ks_distance
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.permuted_ks import drawn_distances

# Pairs, a group of three (two of them in the first sample), and the rest; ties among the values.
GROUPS = np.array([1, 2, 3, 3, 0, 0, 0, 2, 1, 3, 0, 0])
VALUES = np.array([1.0, 4, 2, 2, 9, 3, 3, 5, 1, 7, 8, 2])
SIZES = (7, 5)


def every_distance(values, permutation):
    """D of every exchange, each once, by the plain definition."""
    rows = np.concatenate(list(permutation.memberships(10**6, np.random.default_rng(0)))) > 0
    return [round(ks_distance(values[row], values[~row]), 9) for row in rows]


@pytest.mark.parametrize("groups", [GROUPS, None, np.repeat([0, 1, 2], 4), np.tile(np.arange(1, 7), 2)])
def test_draws_have_the_distribution_of_all_exchanges(groups):
    sizes = SIZES if groups is None or groups is GROUPS else (6, 6)
    permutation = Permutation(sizes, groups)
    known = Counter(every_distance(VALUES, permutation))
    draws = 20_000
    drawn = Counter(np.round(drawn_distances(VALUES, permutation, draws, np.random.default_rng(1)), 9))
    assert set(drawn) <= set(known)
    expected = np.array([count / known.total() * draws for count in known.values()])
    counted = np.array([drawn[value] for value in known])
    enough = expected >= 5
    assert stats.chisquare([*counted[enough], counted[~enough].sum() + 1e-9],
                           [*expected[enough], expected[~enough].sum() + 1e-9]).pvalue > 0.001  # fmt: skip


def test_the_number_of_cores_changes_nothing(monkeypatch):
    permutation = Permutation(SIZES, GROUPS)
    found = []
    for cores in (1, 3):
        monkeypatch.setattr("macroscope.statistics.permuted_ks.usable_cores", lambda cores=cores: cores)
        found.append(drawn_distances(VALUES, permutation, 500, np.random.default_rng(2)))
    assert np.array_equal(*found)
    assert len(set(found[0][:64])) > 3  # chunks begin from seeds of their own
    assert not np.array_equal(found[0][:64], found[0][64:128])


def test_one_document_on_a_side():
    permutation = Permutation((1, 3))
    found = drawn_distances(np.array([1.0, 2, 3, 4]), permutation, 300, np.random.default_rng(3))
    assert set(np.round(found, 9)) == set(every_distance(np.array([1.0, 2, 3, 4]), permutation))
