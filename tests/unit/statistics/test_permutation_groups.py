"""SubsetPermutations of documents between two samples, against enumeration."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from macroscope.statistics.permutation_groups import Permutation, group_labels, partners, permutation_of
from macroscope.statistics.random_subset_sums import coin_sums


def named(ids, openings=None):
    return pd.DataFrame({"id": ids} | ({} if openings is None else {"opening": openings}))


def rows_of(permutation, draws, seed=0):
    return np.concatenate(list(permutation.memberships(draws, np.random.default_rng(seed), 7)))


def test_without_partners_every_division_of_the_same_sizes_is_equally_likely():
    rows = rows_of(Permutation((2, 4)), 10)
    assert rows.shape == (10, 6)
    assert (rows.sum(axis=1) == 2).all()
    every = rows_of(Permutation((2, 4)), 15)
    assert len({tuple(row) for row in every}) == 15 == len(every)
    drawn = Counter(tuple(np.flatnonzero(row)) for row in rows_of(Permutation((3, 4)), 34))
    assert all(len(chosen) == 3 for chosen in drawn)
    many = Counter(tuple(np.flatnonzero(row)) for _ in range(1) for row in rows_of(Permutation((4, 5)), 120, 3))
    assert len(many) > 60


def test_random_divisions_are_uniform():
    permutation = Permutation((3, 3), np.array([0, 0, 1, 0, 1, 1]))
    rng = np.random.default_rng(0)
    # Two of three in group 0 with one of the second sample; one of three in group 1: nine divisions.
    assert permutation.smallest_p == pytest.approx(1 / 9)
    drawn = Counter(
        tuple(np.flatnonzero(row)) for _ in range(500) for rows in permutation.memberships(8, rng) for row in rows
    )
    assert len(drawn) == 9
    assert stats.chisquare(list(drawn.values())).pvalue > 0.001


def test_pairs_beside_larger_groups_are_uniform():
    permutation = Permutation((4, 3), np.array([5, 0, 0, 7, 0, 7, 5]))
    rng = np.random.default_rng(1)
    drawn = Counter(
        tuple(np.flatnonzero(row)) for _ in range(600) for rows in permutation.memberships(10, rng) for row in rows
    )
    every = {tuple(np.flatnonzero(row)) for row in rows_of(permutation, 12)}
    assert len(every) == 2 * 2 * 3
    assert set(drawn) == every
    assert stats.chisquare(list(drawn.values())).pvalue > 0.001


def test_pairs_only_swap():
    permutation = permutation_of(named(["a", "b", "c"]), named(["c", "a", "b"]))
    rows = rows_of(permutation, 8)
    assert len(rows) == 8
    assert permutation.smallest_p == pytest.approx(2 / 8)
    for row in rows:
        assert row[0] + row[4] == row[1] + row[5] == row[2] + row[3] == 1


def test_those_without_a_partner_are_exchanged_freely():
    permutation = permutation_of(named(["a", "b", "c"]), named(["a", "x"]))
    rows = rows_of(permutation, 100)
    assert len(rows) == 2 * 3
    assert (rows[:, 0] + rows[:, 3] == 1).all()
    assert permutation.partners == 1


def test_several_samples_of_a_prompt_are_partners_of_its_text():
    permutation = permutation_of(named(["a", "b"]), named(["a", "a", "b", "b"]))
    assert permutation.smallest_p == pytest.approx(1 / 9)


def test_texts_with_the_same_opening_are_partners_whatever_their_ids():
    first = named(["a", "b", "c"], ["Once upon", "In this", "At last"])
    second = named(["x", "y", "b"], ["Once upon", "else", "In that"])
    groups = group_labels(first, second)
    assert groups[0][0] == groups[1][0]
    assert groups[0][1] == groups[1][2]
    assert len({*groups[0], *groups[1]}) == 4
    codes = partners(*groups)
    assert [code > 0 for code in codes[1]] == [True, False, True]
    assert permutation_of(first, second).partners == 2
    assert not permutation_of(first, second.assign(id=["x", "y", "z"]), keys=("id",)).paired


def test_an_opening_that_a_side_repeats_makes_no_partners():
    """Else a text that a system writes again and again could not be told from one that real text has once."""
    once, often = named(["a", "b"], ["Once upon", "Yes"]), named(["x", "y", "z"], ["Once upon", "Once upon", "No"])
    assert not permutation_of(once, often).paired
    assert not permutation_of(often, once).paired


def test_a_text_can_link_two_others():
    first, second = named(["a", "b"], ["one", "two"]), named(["a"], ["two"])
    assert len({*np.concatenate(group_labels(first, second))}) == 1


def test_what_is_not_known_links_nothing():
    first, second = named(["a", "b"], [None, ""]), named(["c", "d"], ["", None])
    assert not permutation_of(first, second).paired
    assert not permutation_of(pd.DataFrame(index=range(3)), named(["a"])).paired


def test_sums_are_those_of_the_memberships():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
    for permutation in (Permutation((6, 5)), Permutation((6, 5), np.array([0, 0, 1, 1, 2, 2, 0, 1, 2, 2, 2]))):
        for draws in (50, 1000):
            one, other = permutation.sums(first, second, draws, rng)
            np.testing.assert_allclose(one + other, np.broadcast_to(first.sum(0) + second.sum(0), one.shape))
    permutation = Permutation((6, 5), np.array([0, 0, 1, 1, 2, 2, 0, 1, 2, 2, 2]))
    sums = permutation.sums(first, second, 40, rng)[0]
    every = np.concatenate(
        [inside[:, :6] @ first + inside[:, 6:] @ second for inside in permutation.memberships(999, rng)]
    )
    assert all(np.isclose(every, row).all(axis=1).any() for row in sums)
    exact = Permutation((6, 5)).sums(first, second, 1000, rng)[0]
    assert len(exact) == 462
    assert exact.mean(axis=0) == pytest.approx(6 * np.concatenate([first, second]).mean(axis=0))


def test_no_p_value_can_be_smaller_than_the_number_of_divisions_allows():
    """Of 11 divisions into 1 and 10 one is the most extreme; of 20 into 3 and 3 two are each other's mirror."""
    floors = [Permutation(sizes).smallest_p for sizes in ((1, 10), (3, 3), (3, 10))]
    assert floors == pytest.approx([1 / 11, 2 / 20, 1 / 286])


def test_many_documents_cost_nothing_to_count():
    assert Permutation((200_000, 300_000)).smallest_p == 0.0
    assert not Permutation((200_000, 300_000)).is_exact(10_000)


def test_large_groups_beside_pairs_are_exchanged_by_themselves():
    """Sums of which every document's share is known: a power of two for each of the pairs, 1 for all others."""
    rng = np.random.default_rng(2)
    codes = np.concatenate([[1, 2, 3], np.zeros(700, int), [3, 1, 2], np.zeros(500, int)])
    permutation = Permutation((703, 503), codes)
    weights = np.concatenate([[1, 2, 4], np.full(700, 100.0), [0, 0, 0], np.full(500, 200.0)])
    sums, others = permutation.sums(weights[:703], weights[703:], 4000, rng)
    np.testing.assert_allclose(sums + others, weights.sum())
    of_pairs = Counter((sums[:, 0] % 100).astype(int).tolist())
    assert set(of_pairs) == set(range(8))
    assert stats.chisquare(list(of_pairs.values())).pvalue > 0.001
    taken = (sums[:, 0] // 100 - 700).astype(int)  # documents of the second sample among the 700
    expected = stats.hypergeom(1200, 500, 700)
    assert taken.mean() == pytest.approx(expected.mean(), abs=4 * expected.std() / np.sqrt(4000))
    assert taken.std() == pytest.approx(expected.std(), rel=0.06)


def test_sums_of_swapped_pairs_are_those_of_all_coins():
    """Five pairs: each of the 32 ways to swap them equally often, and both sides together stay what they are."""
    first, second = (2.0 ** np.arange(5))[:, None], np.zeros((5, 1))
    permutation = Permutation((5, 5), np.tile(np.arange(1, 6), 2))
    assert not permutation.is_exact(31)
    sums, others = permutation.sums(first, second, 31, np.random.default_rng(0))
    np.testing.assert_array_equal(sums + others, 31)
    many = coin_sums(first, 32_000, np.random.default_rng(1))[:, 0]
    assert stats.chisquare(np.bincount(many.astype(int), minlength=32)).pvalue > 1e-3
    np.testing.assert_array_equal(many, np.round(many))
