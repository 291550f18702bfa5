"""Power by subsampling: closed forms, level, intervals, crossings."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from macroscope.statistics.document_features import DocumentFeatures, join_features
from macroscope.statistics.joint_test import compare_means, standardise
from macroscope.statistics.pairs import mover_difference
from macroscope.statistics.power import (
    DESIGNS,
    PowerSettings,
    align,
    find_crossing,
    find_crossings,
    power_interval,
)
from macroscope.statistics.power import measure_power as measure_power_of_features
from macroscope.statistics.vectors import compare_by_energy


def by_means(pool):
    """Return the largest difference of means of the numbers as they are."""
    return compare_means(pool.numbers)


def measure_power(first, second, design, settings, statistics=(by_means,)):
    """Return the power of tests of numbers."""
    samples = [features([str(n) for n in range(len(values))], values) for values in (first, second)]
    return measure_power_of_features(*samples, design, settings, statistics)


def closed_form(shift, n, design):
    """Return the power of the two-sided t-test for a shift of normal values, in standard deviations."""
    freedom, centre = (n - 1, shift * np.sqrt(n)) if design == "paired" else (2 * n - 2, shift * np.sqrt(n / 2))
    limit = stats.t.ppf(0.975, freedom)
    return 1 - stats.nct.cdf(limit, freedom, centre) + stats.nct.cdf(-limit, freedom, centre)


@pytest.mark.slow
@pytest.mark.parametrize(("design", "shift"), [("paired", 0.25), ("unpaired", 0.4)])
def test_the_power_against_a_shift_of_normal_values_is_that_of_students_test(design, shift):
    values = {}
    for seed in range(25):
        rng = np.random.default_rng([seed, 7])
        first, noise = rng.normal(size=(2, 400, 1))
        second = (first if design == "paired" else 0) + noise + shift
        for power in measure_power(first, second, design, PowerSettings((30, 100), 60, seed=seed)):
            values.setdefault(power.n, []).append(power.value)
    for n, estimates in values.items():
        spread = np.std(estimates) / np.sqrt(len(estimates))
        assert np.mean(estimates) == pytest.approx(closed_form(shift, n, design), abs=3 * spread + 0.03)


@pytest.mark.slow
@pytest.mark.parametrize("n", [25, 50, 90])
def test_intervals_cover_the_power_however_much_of_the_pool_a_subsample_takes(n):
    """Subsamples of a pool are alike, so the share of rejections varies more between pools than within one."""
    shifts = np.array([0.3, 0.15, 0])
    powers = []
    for seed in range(100):
        rng = np.random.default_rng([seed, 11])
        first, noise = rng.normal(size=(2, 100, 3))
        powers += measure_power(first, first + noise + shifts, "paired", PowerSettings((n,), 60, 99, seed=seed))
    truth = np.mean([power.value for power in powers])  # the share of rejections is unbiased
    assert 0.2 < truth < 0.95
    assert np.mean([power.low <= truth <= power.high for power in powers]) >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_intervals_of_selectivity_cover_the_difference_of_two_powers_that_share_real_texts(design):
    differences = []
    for seed in range(60):
        rng = np.random.default_rng([seed, 5])
        real, *noise = rng.normal(size=(3, 100, 3))
        powers = [
            measure_power(real, real + each + shift * np.eye(3)[0], design, PowerSettings((25,), 60, 99, seed=seed))[0]
            for each, shift in zip(noise, (0.8, 0.3), strict=True)
        ]
        harm, twin = ((power.value, power.low, power.high) for power in powers)
        differences.append(mover_difference(harm, twin, 0.95)[:3])
    truth = np.mean([value for value, _, _ in differences])
    assert truth > 0.2
    assert np.mean([low <= truth <= high for _, low, high in differences]) >= 0.88  # 0.95 less 2.5 standard errors


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_without_a_difference_the_rejections_are_the_level(design):
    rejected = []
    for seed in range(300):
        first, second = np.random.default_rng([seed, 3]).normal(size=(2, 100, 6))
        (power,) = measure_power(first, second, design, PowerSettings((30,), 1, seed=seed))
        rejected.append(power.value)
    low, high = stats.binom.interval(0.999, 300, 0.05)
    assert low <= sum(rejected) <= high


@pytest.mark.parametrize("design", DESIGNS)
def test_a_collection_statistic_keeps_the_level_and_finds_another_spread(design):
    rng = np.random.default_rng(5)
    rejected = []
    for seed in range(120):
        first, second = rng.normal(size=(2, 40, 2))
        settings = PowerSettings((10,), 1, 39, seed=seed)
        rejected.append(measure_power(first, second, design, settings, [compare_by_energy])[0].value)
    assert sum(rejected) <= stats.binom.ppf(0.999, 120, 0.05)
    first, second = rng.normal(size=(2, 60, 2))
    (power,) = measure_power(first, 4 * second, design, PowerSettings((30,), 20, 39), [compare_by_energy])
    assert power.value >= 0.9


def test_a_small_shift_of_every_dimension_is_found_by_energy_and_not_by_the_largest_shift():
    rng = np.random.default_rng(8)
    first, second = rng.normal(size=(2, 60, 100))
    settings = PowerSettings((30,), 20, 99)
    alone = [
        measure_power(first, second + 0.35, "unpaired", settings, [each])[0] for each in (compare_by_energy, by_means)
    ]
    assert alone[0].value >= 0.9 > 0.7 > alone[1].value
    together = measure_power(first, second + 0.35, "unpaired", settings, [by_means, compare_by_energy])[0]
    assert together.value >= 0.9


def test_the_test_of_a_collection_statistic_is_by_its_own_permutations():
    """A statistic that is larger for the observed sides alone is rejected always, a constant one never."""
    values = np.arange(40.0).reshape(-1, 1)

    def is_observed(pool):
        return lambda divisions: (divisions.inside == divisions.inside[0]).all(axis=1).astype(float)

    def is_constant(pool):
        return lambda divisions: np.zeros(len(divisions.inside))

    for design in DESIGNS:
        settings = PowerSettings((10,), 5)
        assert measure_power(values, values, design, settings, [is_observed])[0].value == 1
        assert measure_power(values, values, design, settings, [is_constant])[0].value == 0
        assert measure_power(values, values, design, settings, [is_constant, is_observed])[0].value == 1


def test_identical_documents_are_never_rejected_in_pairs():
    values = np.random.default_rng(0).normal(size=(60, 3))
    assert [power.value for power in measure_power(values, values, "paired", PowerSettings((20, 60), 20))] == [0, 0]


def test_sizes_beyond_the_pool_are_left_out():
    first, second = np.random.default_rng(0).normal(size=(2, 60, 2))
    settings = PowerSettings((2, 10, 30, 31, 60, 61), 5)
    assert [power.n for power in measure_power(first, second, "unpaired", settings)] == [10, 30]
    assert [power.n for power in measure_power(first, second, "paired", settings)] == [10, 30, 31, 60]


def test_intervals_widen_as_a_subsample_comes_near_the_pool():
    widths = [np.diff(power_interval(0.6, 100, overlap, 0.95))[0] for overlap in (0.05, 0.3, 1.0)]
    assert widths == sorted(widths)
    assert widths[0] < 0.4
    assert widths[2] > 0.8
    assert all(low <= value <= high for value in (0, 0.5, 1) for low, high in [power_interval(value, 100, 0.2, 0.95)])


def test_crossings_interpolate_and_are_infinite_if_not_reached():
    assert find_crossing([10, 100], [0.0, 1.0], 0.5, logarithmic=True) == pytest.approx(np.sqrt(1000))
    assert find_crossing([0, 0.2], [0.0, 1.0], 0.25, logarithmic=False) == pytest.approx(0.05)
    assert find_crossing([10, 100], [0.9, 1.0], 0.8, logarithmic=True) == 10
    assert find_crossing([10, 100], [0.1, 0.2], 0.8, logarithmic=True) == float("inf")
    value, low, high = find_crossings([10, 100], [(0.1, 0.05, 0.3), (0.9, 0.7, 1.0)], 0.8, logarithmic=True)
    assert low < value < high == float("inf")


def features(names, values, bags=()):
    return DocumentFeatures(pd.DataFrame({"id": names}), np.asarray(values, dtype=float), bags)


def test_documents_are_aligned_by_id():
    first, second = align(features(["a", "b", "c"], [[1], [2], [3]]), features(["c", "a", "x"], [[30], [10], [0]]))
    assert first.numbers.ravel().tolist() == [1, 3]
    assert second.numbers.ravel().tolist() == [10, 30]


def test_names_become_shares_and_missing_numbers_a_column():
    first = features(["a", "b"], [[1.0], [np.nan]], ([("x", "x"), ("x", "y")],))
    second = features(["a", "b"], [[2.0], [3.0]], ([("y", "y"), ()],))
    columns = standardise(join_features(first, second))
    assert len(columns) == 4
    assert np.isfinite(columns).all()
    assert columns.std(axis=0).min() > 0
