"""Conformal p-values: ranks among real texts, whose groups count once and whose own group does not count."""

import numpy as np
import pytest

from macroscope.statistics.conformal import Scores, conformal_p_values, flag


def scores(values, groups=None):
    values = np.array(values, float)
    return Scores(values, np.arange(100, 100 + len(values)) if groups is None else np.array(groups))


REAL = Scores(np.array([1.0, 2.0, 3.0, 4.0]), np.arange(4))


def test_p_values_are_ranks_among_real_texts_and_ties_are_conservative():
    p = conformal_p_values(scores([5.0, 4.0, 3.5, 0.0, np.nan, np.inf]), REAL, one_sided=True)
    assert p.tolist()[:4] == [1 / 5, 2 / 5, 2 / 5, 1.0]
    assert np.isnan(p[4])
    assert p[5] == 1 / 5


def test_both_sides_count_twice():
    p = conformal_p_values(scores([5.0, 0.0, 2.5]), REAL, one_sided=False)
    assert p.tolist() == [2 / 5, 2 / 5, 1.0]


def test_real_texts_of_the_texts_own_group_are_left_out():
    p = conformal_p_values(scores([3.5, 3.5], [3, 0]), REAL, one_sided=True)
    assert p.tolist() == [1 / 4, 2 / 4]
    # Of real texts, each is compared with the others.
    assert conformal_p_values(REAL, REAL, one_sided=True).tolist() == [1.0, 3 / 4, 2 / 4, 1 / 4]


def test_every_group_of_real_texts_counts_once():
    real = Scores(np.array([1.0, 9.0, 9.0, 9.0]), np.array([0, 1, 1, 1]))
    assert conformal_p_values(scores([5.0]), real, one_sided=True).tolist() == pytest.approx([2 / 3])
    mixed = Scores(np.array([1.0, 9.0, 2.0]), np.array([0, 1, 1]))
    assert conformal_p_values(scores([5.0]), mixed, one_sided=True).tolist() == pytest.approx([1.5 / 3])
    assert conformal_p_values(scores([5.0], [1]), mixed, one_sided=True).tolist() == pytest.approx([1 / 2])


def test_without_real_texts_nothing_is_unusual():
    nothing = Scores(np.array([np.nan]), np.array([0]))
    assert conformal_p_values(scores([5.0]), nothing, one_sided=True).tolist() == [1.0]


def test_flags_of_all_critics_are_adjusted_together():
    few, many = np.array([0.01, np.nan]), np.full(20, 0.5)
    assert [part.tolist() for part in flag([few])] == [[True, False]]
    first, second = flag([few, many])
    assert not first.any()
    assert not second.any()
    assert flag([]) == []
