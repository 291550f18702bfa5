"""Krippendorff's alpha against the published worked example, its definition by brute force, and simulation."""

import itertools

import numpy as np
import pytest

from macroscope.statistics.agreement import LEVELS, krippendorff

_ = None
EXAMPLE_C = [  # Krippendorff 2011, section C: four observers, twelve units, missing data
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]


def long(table):
    cells = [(unit, value) for row in table for unit, value in enumerate(row) if value is not None]
    return [unit for unit, _ in cells], [value for _, value in cells]


@pytest.mark.parametrize(("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_published_example(level, published):
    agreement = krippendorff(*long(EXAMPLE_C), level)
    assert agreement.alpha == pytest.approx(published, abs=0.0006)
    assert (agreement.units, agreement.values) == (11, 40)
    assert agreement.low < agreement.alpha < agreement.high <= 1


def test_the_published_example_of_two_observers_and_two_values():
    # Krippendorff 2011, section A: ten units, alpha = 0.095
    table = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
    assert krippendorff(*long(table), "nominal").alpha == pytest.approx(0.095, abs=0.0006)


def by_definition(units, values, level):
    """Mean difference within units over that of all pairs of values, pair by pair."""
    by_unit = {}
    for unit, value in zip(units, values, strict=True):
        by_unit.setdefault(unit, []).append(value)
    pairable = [values_of_unit for values_of_unit in by_unit.values() if len(values_of_unit) > 1]
    everything = [value for values_of_unit in pairable for value in values_of_unit]
    count = {value: everything.count(value) for value in everything}

    def difference(a, b):
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(count[value] for value in count if low <= value <= high)
        return 0.0 if a == b else (between - (count[a] + count[b]) / 2) ** 2

    n = len(everything)
    observed = sum(
        difference(a, b) / (len(values_of_unit) - 1)
        for values_of_unit in pairable
        for a, b in itertools.permutations(values_of_unit, 2)
    )
    expected = sum(difference(a, b) for a, b in itertools.permutations(everything, 2))
    return 1 - (observed / n) / (expected / (n * (n - 1)))


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_its_definition(level):
    rng = np.random.default_rng(3)
    for _trial in range(20):
        n = int(rng.integers(6, 40))
        units, values = rng.integers(0, 8, n).tolist(), rng.integers(0, 5, n).tolist()
        agreement = krippendorff(units, values, level)
        if np.isfinite(agreement.alpha):
            assert agreement.alpha == pytest.approx(by_definition(units, values, level))


def test_undefined_alpha_has_a_reason():
    assert krippendorff([1, 2, 3], [0, 1, 0], "nominal").reason == "nothing was judged twice"
    assert krippendorff([1, 1, 2, 2], [1, 1, 1, 1], "nominal").reason == "all values are equal"
    assert krippendorff([1, 1], [0, 1], "nominal").reason == "only one unit was judged twice"
    perfect = krippendorff([1, 1, 2, 2, 3, 3], [0, 0, 1, 1, 0, 0], "nominal")
    assert perfect.alpha == 1
    assert perfect.reason.startswith("fewer than two units show disagreement")


@pytest.mark.slow
def test_the_interval_covers_at_its_level():
    rng = np.random.default_rng(1)
    spread, noise = 1.0, 0.7
    truth = spread**2 / (spread**2 + noise**2)  # interval scale: the intraclass correlation
    hits = 0
    for _run in range(1000):
        ratings = rng.normal(0, spread, 60)[:, None] + rng.normal(0, noise, (60, 3))
        ratings = np.round(ratings, 1)
        units = np.repeat(np.arange(60), 3)
        agreement = krippendorff(units.tolist(), ratings.ravel().tolist(), "interval")
        hits += agreement.low <= truth <= agreement.high
    assert 0.925 <= hits / 1000 <= 0.97
