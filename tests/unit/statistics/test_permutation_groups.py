"""Permutations of documents between two samples, against enumeration."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from macroscope.statistics.compiled_permutations import coin_sums
from macroscope.statistics.permutation_groups import Permutation, build_permutation


def keys_of(ids, openings=None):
    return pd.DataFrame({"id": ids} | ({} if openings is None else {"opening": openings}))


def memberships_of(permutation, draws, seed=0):
    return np.concatenate(list(permutation.memberships(draws, np.random.default_rng(seed), 7)))


def test_every_division_of_unpaired_documents_is_equally_likely():
    rows = memberships_of(Permutation((2, 4)), 10)
    assert rows.shape == (10, 6)
    assert (rows.sum(axis=1) == 2).all()
    all_rows = memberships_of(Permutation((2, 4)), 15)
    assert len({tuple(row) for row in all_rows}) == 15 == len(all_rows)
    counts = Counter(tuple(np.flatnonzero(row)) for row in memberships_of(Permutation((3, 4)), 34))
    assert all(len(members) == 3 for members in counts)
    many = Counter(tuple(np.flatnonzero(row)) for _ in range(1) for row in memberships_of(Permutation((4, 5)), 120, 3))
    assert len(many) > 60


def test_random_divisions_are_uniform():
    permutation = Permutation((3, 3), np.array([0, 0, 1, 0, 1, 1]))
    rng = np.random.default_rng(0)
    # Two of three in group 0 with one of the second sample; one of three in group 1: nine divisions.
    assert permutation.smallest_p == pytest.approx(1 / 9)
    counts = Counter(
        tuple(np.flatnonzero(row)) for _ in range(500) for rows in permutation.memberships(8, rng) for row in rows
    )
    assert len(counts) == 9
    assert stats.chisquare(list(counts.values())).pvalue > 0.001


def test_pairs_beside_larger_groups_are_uniform():
    permutation = Permutation((4, 3), np.array([5, 0, 0, 7, 0, 7, 5]))
    rng = np.random.default_rng(1)
    counts = Counter(
        tuple(np.flatnonzero(row)) for _ in range(600) for rows in permutation.memberships(10, rng) for row in rows
    )
    all_divisions = {tuple(np.flatnonzero(row)) for row in memberships_of(permutation, 12)}
    assert len(all_divisions) == 2 * 2 * 3
    assert set(counts) == all_divisions
    assert stats.chisquare(list(counts.values())).pvalue > 0.001


def test_pairs_only_swap():
    permutation = build_permutation(keys_of(["a", "b", "c"]), keys_of(["c", "a", "b"]))
    rows = memberships_of(permutation, 8)
    assert len(rows) == 8
    assert permutation.smallest_p == pytest.approx(2 / 8)
    for row in rows:
        assert row[0] + row[4] == row[1] + row[5] == row[2] + row[3] == 1


def test_unpaired_documents_are_permuted_freely():
    permutation = build_permutation(keys_of(["a", "b", "c"]), keys_of(["a", "x"]))
    rows = memberships_of(permutation, 100)
    assert len(rows) == 2 * 3
    assert (rows[:, 0] + rows[:, 3] == 1).all()
    assert permutation.n_paired == 1


def test_sums_are_those_of_the_memberships():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
    for permutation in (Permutation((6, 5)), Permutation((6, 5), np.array([0, 0, 1, 1, 2, 2, 0, 1, 2, 2, 2]))):
        for draws in (50, 1000):
            first_sums, second_sums = permutation.permuted_sums(first, second, draws, rng)
            np.testing.assert_allclose(
                first_sums + second_sums, np.broadcast_to(first.sum(0) + second.sum(0), first_sums.shape)
            )
    permutation = Permutation((6, 5), np.array([0, 0, 1, 1, 2, 2, 0, 1, 2, 2, 2]))
    sums = permutation.permuted_sums(first, second, 40, rng)[0]
    all_sums = np.concatenate(
        [inside[:, :6] @ first + inside[:, 6:] @ second for inside in permutation.memberships(999, rng)]
    )
    assert all(np.isclose(all_sums, row).all(axis=1).any() for row in sums)
    exact = Permutation((6, 5)).permuted_sums(first, second, 1000, rng)[0]
    assert len(exact) == 462
    assert exact.mean(axis=0) == pytest.approx(6 * np.concatenate([first, second]).mean(axis=0))


def test_no_p_value_can_be_smaller_than_the_number_of_divisions_allows():
    """One of 11 divisions into 1 and 10 is the most extreme; of 20 into 3 and 3, two are mirror images."""
    floors = [Permutation(sizes).smallest_p for sizes in ((1, 10), (3, 3), (3, 10))]
    assert floors == pytest.approx([1 / 11, 2 / 20, 1 / 286])


def test_divisions_of_many_documents_are_counted():
    assert Permutation((200_000, 300_000)).smallest_p == 0.0
    assert not Permutation((200_000, 300_000)).is_exact(10_000)


def test_large_groups_beside_pairs_are_permuted_separately():
    """Sums that show each document's part: powers of two for the pairs, hundreds for all others."""
    rng = np.random.default_rng(2)
    codes = np.concatenate([[1, 2, 3], np.zeros(700, int), [3, 1, 2], np.zeros(500, int)])
    permutation = Permutation((703, 503), codes)
    weights = np.concatenate([[1, 2, 4], np.full(700, 100.0), [0, 0, 0], np.full(500, 200.0)])
    sums, second_sums = permutation.permuted_sums(weights[:703], weights[703:], 4000, rng)
    np.testing.assert_allclose(sums + second_sums, weights.sum())
    of_pairs = Counter((sums[:, 0] % 100).astype(int).tolist())
    assert set(of_pairs) == set(range(8))
    assert stats.chisquare(list(of_pairs.values())).pvalue > 0.001
    taken = (sums[:, 0] // 100 - 700).astype(int)  # documents of the second sample among the 700
    expected = stats.hypergeom(1200, 500, 700)
    assert taken.mean() == pytest.approx(expected.mean(), abs=4 * expected.std() / np.sqrt(4000))
    assert taken.std() == pytest.approx(expected.std(), rel=0.06)


def test_sums_of_swapped_pairs_are_those_of_all_coins():
    """Five pairs: all 32 ways to swap them are equally likely, and the total of both samples is unchanged."""
    first, second = (2.0 ** np.arange(5))[:, None], np.zeros((5, 1))
    permutation = Permutation((5, 5), np.tile(np.arange(1, 6), 2))
    assert not permutation.is_exact(31)
    sums, second_sums = permutation.permuted_sums(first, second, 31, np.random.default_rng(0))
    np.testing.assert_array_equal(sums + second_sums, 31)
    many = coin_sums(first, 32_000, np.random.default_rng(1))[:, 0]
    assert stats.chisquare(np.bincount(many.astype(int), minlength=32)).pvalue > 1e-3
    np.testing.assert_array_equal(many, np.round(many))
