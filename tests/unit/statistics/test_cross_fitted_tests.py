"""Cross-fitted tests, against brute force and against their level."""

import numpy as np
import pytest
from scipy.stats import binom, norm, rankdata

from macroscope.statistics.cross_fitted_tests import (
    FoldTest,
    Order,
    combined_p_value,
    fold_tests,
    midranks,
    permuted_sums,
)
from macroscope.statistics.permutation_groups import Permutation


def test_one_fold_is_the_permutation_test():
    permuted = np.array([0.1, 0.5, 0.5, 0.7, -2.0, 0.3, 0.2, 0.0, -0.6])
    assert combined_p_value([FoldTest(0.5, permuted, 3.0)]) == pytest.approx(4 / 10)
    assert combined_p_value([FoldTest(9.0, permuted, 3.0)]) == pytest.approx(1 / 10)
    assert combined_p_value([FoldTest(-9.0, permuted, 3.0)]) == 1.0


def test_folds_add_their_normal_scores():
    first, second = np.array([1.0, 2.0, 3.0]), np.array([30.0, 10.0, 20.0])
    scores = norm.ppf((np.arange(4) + 0.5) / 4)
    # Ranks of (value, permutations): (3, 1, 2, 4) and (4, 3, 1, 2).
    sums = 2 * scores[[2, 0, 1, 3]] + 1 * scores[[3, 2, 0, 1]]
    tests = [FoldTest(2.5, first, 2.0), FoldTest(99.0, second, 1.0)]
    assert combined_p_value(tests) == (sums >= sums[0]).mean()
    assert combined_p_value(tests, two_sided=True) == (np.abs(sums) >= abs(sums[0])).mean()


def test_nothing_to_test_is_undefined():
    assert np.isnan(combined_p_value([]))
    order = Order((np.array([0, 1, 1]), np.array([0, 0, 2])), np.array([0, 1, 1]))
    assert order.tested() == []  # no fold but the first has texts of both sides


def test_sizes_of_the_samples_are_kept_within_a_fold():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5, 2)), rng.normal(size=(8, 2))
    (first_sum, second_sum), (first, second) = permuted_sums(*rows, Permutation((len(rows[0]), len(rows[1]))), 200, rng)
    np.testing.assert_allclose(first_sum, rows[0].sum(axis=0))
    np.testing.assert_allclose(first + second, np.tile(first_sum + second_sum, (200, 1)))


def test_weights_and_sizes_of_folds():
    order = Order((np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])), np.array([0, 7]))
    assert order.tested() == [1]
    assert order.weight(1) == pytest.approx(np.sqrt(7 * 2 * 3 / 5))


@pytest.mark.slow
@pytest.mark.parametrize("two_sided", [False, True])
def test_level_if_earlier_folds_choose_the_statistic(two_sided):
    """Each fold is tested in the direction of the difference of the folds before it, weighted by its size."""
    rng = np.random.default_rng(1)
    p_values = []
    for _ in range(1000):
        samples = rng.normal(size=(24, 1)), rng.normal(size=(36, 1))
        folds = np.arange(24) % 4, np.arange(36) % 4
        order = Order(folds, np.array([0, 6, 12, 18]))

        def rows(fold, samples=samples, folds=folds):
            before = [sample[number < fold].mean() for sample, number in zip(samples, folds, strict=True)]
            direction = before[0] - before[1]
            return tuple(direction * sample[number == fold] for sample, number in zip(samples, folds, strict=True))

        tests = fold_tests(order, rows, lambda a, b, n, m: {"x": (a / n - b / m)[..., 0]}, 99, rng)
        p_values.append(combined_p_value(tests["x"], two_sided))
    for level in (0.01, 0.05, 0.2):
        low, high = binom(1000, level).ppf([0.0005, 0.9995])
        assert low <= np.count_nonzero(np.array(p_values) <= level + 1e-9) <= high


@pytest.mark.parametrize("distinct", [1, 3, 1000])
def test_midranks_are_those_of_scipy(distinct):
    values = np.random.default_rng(distinct).integers(distinct, size=300) / 7
    assert np.array_equal(midranks(values), rankdata(values))


def test_infinite_values_and_empty_samples():
    assert midranks([np.inf, -np.inf, 0.0, np.inf]).tolist() == [3.5, 1, 2, 3.5]
    assert midranks([]).tolist() == []
