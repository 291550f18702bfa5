"""Ranking of systems: any two are compared by the critics that evaluated both."""

import numpy as np
import pandas as pd

from macroscope.reporting.ranking import rank_systems


def rank(*rows):
    """Rank the systems of cells (system, critic, c2st_auc, latent_ppl_ratio)."""
    return rank_systems(pd.DataFrame(rows, columns=["system", "critic", "c2st_auc", "latent_ppl_ratio"]))


def test_the_mean_decides_if_all_systems_have_the_same_critics():
    values = {"a": (0.5, 0.9), "b": (0.95, 0.7), "c": (0.6, 0.6), "d": (0.99, 0.8)}
    rows = [(name, str(i), value, np.nan) for name, both in values.items() for i, value in enumerate(both)]
    assert rank(*rows) == sorted(values, key=lambda name: -sum(values[name]))


def test_a_system_with_only_a_strict_critic_is_not_ranked_worse_for_it():
    """By its own mean `few` would be first; by the shared critic, `many` is worse."""
    rows = [("few", "strict", 0.95, np.nan), ("many", "strict", 0.99, np.nan), ("many", "mild", 0.55, np.nan)]
    assert rank(*rows) == ["many", "few"]


def test_a_third_system_does_not_decide_between_two():
    """With least squares, `odd` would make the strict critic seem stricter than it is for the others."""
    rows = [("one", "strict", 0.96, np.nan), ("two", "strict", 0.95, np.nan), ("two", "mild", 0.94, np.nan)]
    rows += [("odd", "strict", 0.9, np.nan), ("odd", "mild", 0.5, np.nan)]
    assert rank(*rows) == ["one", "two", "odd"]


def test_at_the_ceiling_the_one_farther_in_structure_is_worse():
    rows = [("near", "a", 1.0, 20.0), ("far", "a", 0.999, 60.0), ("below", "a", 1.0, 0.01), ("other", "a", 0.9, 500.0)]
    assert rank(*rows) == ["below", "far", "near", "other"]


def test_without_finite_structure_the_detectability_decides():
    assert rank(("near", "a", 0.997, np.nan), ("far", "a", 0.999, np.nan)) == ["far", "near"]
    assert rank(("near", "a", 0.997, np.inf), ("far", "a", 0.999, 0.0)) == ["far", "near"]


def test_the_smallest_comparison_of_a_cycle_is_dropped():
    """a > b by 10 points, b > c by 8, c > a by 2."""
    rows = [("c", "z", 0.72, np.nan), ("a", "z", 0.7, np.nan), ("a", "x", 0.8, np.nan), ("b", "x", 0.7, np.nan)]
    assert rank(*rows, ("b", "y", 0.9, np.nan), ("c", "y", 0.82, np.nan)) == ["a", "b", "c"]


def test_systems_without_a_shared_critic_are_ranked_by_their_means():
    assert rank(("a", "x", 0.7, np.nan), ("b", "y", 0.9, np.nan)) == ["b", "a"]


def test_ties_keep_the_given_order():
    assert rank(("b", "x", 0.7, 2.0), ("a", "x", 0.7, 2.0)) == ["b", "a"]
