"""The accuracy over pairs of a damaged text and its intact twin, in closed form."""

import numpy as np
import pytest
from scipy.stats import norm

from macroscope.statistics.pair_accuracy import PairAccuracy, measure_pair_accuracy


def test_all_pairs_right_or_wrong():
    """Wilson's interval of n successes of n begins at n / (n + z²), and that of none ends at z² / (n + z²)."""
    intact = np.arange(20.0)
    z2 = norm.ppf(0.95) ** 2
    right, wrong = (measure_pair_accuracy(intact, intact + step, 0.9) for step in (1, -1))
    assert right == PairAccuracy(1.0, pytest.approx(20 / (20 + z2)), 1.0, 20, 0)
    assert wrong == PairAccuracy(0.0, 0.0, pytest.approx(z2 / (20 + z2)), 20, 0)


def test_ties_count_half():
    intact = np.array([1.0, 2, 3, 1e6, np.inf])
    same = measure_pair_accuracy(intact, intact * (1 + 1e-12))
    assert (same.value, same.ties, same.n) == (0.5, 5, 5)
    assert same.low == pytest.approx(1 - same.high)
    mixed = measure_pair_accuracy(intact, [2, 1, 3, 1e6, 5])  # larger, smaller, two ties, smaller
    assert (mixed.value, mixed.ties) == (2 / 5, 2)


def test_a_pair_with_a_text_that_is_not_judged_does_not_count():
    accuracy = measure_pair_accuracy([1, np.nan, 2, 3], [np.inf, 1, np.nan, 2])
    assert (accuracy.value, accuracy.n) == (0.5, 2)
    nothing = measure_pair_accuracy([np.nan], [1.0])
    assert np.isnan([nothing.value, nothing.low, nothing.high]).all()
    assert (nothing.n, nothing.ties) == (0, 0)
