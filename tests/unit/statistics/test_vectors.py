"""Two-sample statistics of vectors against their definitions, written out with loops."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from macroscope.options import Resampling
from macroscope.statistics import vectors as v

RESAMPLING = Resampling(resamples=100, permutations=199)


def rows_of(x, y, k=3, permutations=199):
    return {estimate.statistic: estimate for estimate in v.compare_vectors(x, y, k, permutations, RESAMPLING)}


def test_values_are_those_of_the_definitions():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(9, 2)), rng.normal(0.5, 1, size=(7, 2))
    rows = rows_of(x, y)
    everything = np.vstack([x, y])
    distances = cdist(everything, everything)
    width = np.median([distances[i, j] for i in range(16) for j in range(i)])

    def discrepancy(kernel):
        xx = np.mean([kernel(a, b) for i, a in enumerate(x) for j, b in enumerate(x) if i != j])
        yy = np.mean([kernel(a, b) for i, a in enumerate(y) for j, b in enumerate(y) if i != j])
        return xx + yy - 2 * np.mean([kernel(a, b) for a in x for b in y])

    assert rows["mmd_squared"].value == pytest.approx(
        discrepancy(lambda a, b: np.exp(-((a - b) ** 2).sum() / (2 * width**2))), abs=1e-12
    )
    assert rows["energy_distance"].value == pytest.approx(
        -discrepancy(lambda a, b: -np.linalg.norm(a - b)) * -1, abs=1e-12
    )

    def covered(sample, other_sample, k):
        reach = [sorted(np.linalg.norm(a - b) for b in sample)[k] for a in sample]  # the 0th is itself
        return np.mean(
            [any(np.linalg.norm(a - b) <= r for a, r in zip(sample, reach, strict=True)) for b in other_sample]
        )

    assert rows["precision"].value == pytest.approx(covered(x, y, 3))
    assert rows["recall"].value == pytest.approx(covered(y, x, 3))


def _kernel(units):
    rng = np.random.default_rng(1)
    return v.leave_out_units(np.exp(-(cdist(*[rng.normal(size=(len(units), 2))] * 2) ** 2)), units)


UNITS = {
    "unpaired": np.arange(11),
    "some pairs": np.array([0, 1, 2, 3, 4, 5, 0, 1, 2, 6, 7]),
    "several texts of a prompt": np.array([0, 0, 1, 2, 2, 3, 0, 2, 2, 3, 4]),
}


@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS)
def test_discrepancy_of_units_is_the_mean_over_pairs_of_different_units(units):
    kernel, n = _kernel(units), 6

    def mean(rows, columns):
        return np.mean([kernel[i, j] for i in rows for j in columns if units[i] != units[j]])

    first, second = range(n), range(n, 11)
    inside = np.array([[1.0 if i < n else 0.0 for i in range(11)]])
    expected = mean(first, first) + mean(second, second) - 2 * mean(first, second)
    assert v.mean_discrepancy(kernel, inside, units)[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS)
def test_jackknife_from_row_sums_is_the_jackknife(units):
    kernel, n = _kernel(units), 6

    def value(members):
        inside = np.array([[1.0 if i < n else 0.0 for i in members]])
        renumbered = np.unique(units[members], return_inverse=True)[1]
        return v.mean_discrepancy(kernel[np.ix_(members, members)], inside, renumbered)[0]

    kinds = {}
    for unit in np.unique(units):
        sides = frozenset(np.flatnonzero(units == unit) < n)
        left_out = value([j for j in range(11) if units[j] != unit])
        kinds.setdefault(sides, []).append(left_out)
    variance = sum((len(k) - 1) / len(k) * ((np.array(k) - np.mean(k)) ** 2).sum() for k in kinds.values())
    inside = (np.arange(11) < n).astype(float)
    assert v._jackknife_error(kernel, inside, units) == pytest.approx(np.sqrt(variance), rel=1e-10)


@pytest.mark.slow
def test_p_values_with_and_without_a_difference():
    below = {name: 0 for name in v.NAMES}
    for seed in range(60):
        rng = np.random.default_rng([2, seed])
        rows = rows_of(rng.normal(size=(25, 3)), rng.normal(size=(20, 3)), permutations=99)
        for name in below:
            below[name] += rows[name].p_value <= 0.05
    assert max(below.values()) <= 10, below  # binomial(60, 0.05): more, once in ten thousand times
    rng = np.random.default_rng(3)
    shifted = rows_of(rng.normal(size=(60, 3)), rng.normal(1.0, 1, size=(60, 3)))
    assert shifted["mmd_squared"].p_value <= 0.01
    assert shifted["energy_distance"].p_value <= 0.01
    assert shifted["precision"].p_value <= 0.05


def test_precision_without_diversity_and_recall_without_quality():
    rng = np.random.default_rng(4)
    real = rng.normal(size=(200, 2))
    narrow, wide = rows_of(real, rng.normal(0, 0.1, size=(200, 2))), rows_of(real, rng.normal(0, 6, size=(200, 2)))
    assert narrow["precision"].value > 0.95 > 0.5 > narrow["recall"].value
    assert wide["precision"].value < 0.5 < wide["recall"].value


def test_too_few_vectors_are_undefined():
    rows = rows_of(np.zeros((1, 2)), np.zeros((5, 2)))
    assert all(np.isnan(estimate.value) for estimate in rows.values())
    rows = rows_of(np.zeros((3, 2)), np.ones((5, 2)))
    assert np.isnan(rows["precision"].value)
    assert rows["energy_distance"].value > 0


def test_equal_vectors():
    rows = rows_of(np.ones((6, 2)), np.ones((5, 2)))
    assert rows["mmd_squared"].value == pytest.approx(0)
    assert rows["precision"].value == 1
    assert rows["mmd_squared"].p_value == 1
