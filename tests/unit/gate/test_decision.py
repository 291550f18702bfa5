"""Decisions by intervals, and the sample size that would decide: closed forms."""

import math

import pytest

from macroscope.gate.decision import (
    FAIL,
    INCONCLUSIVE,
    PASS,
    Tolerated,
    at_confidence,
    combine_verdicts,
    decide,
    distance,
    sample_size_factor,
)


@pytest.mark.parametrize(
    ("interval", "tolerated", "verdict"),
    [
        ((0, -1, 1), Tolerated(high=1), PASS),
        ((0, -1, 1.1), Tolerated(high=1), INCONCLUSIVE),
        ((2, 0.9, 3), Tolerated(high=1), INCONCLUSIVE),
        ((2, 1.1, 3), Tolerated(high=1), FAIL),
        ((-2, -3, -1.1), Tolerated(low=-1), FAIL),
        ((-2, -3, -1.1), Tolerated(high=1), PASS),
        ((0, -2, 2), Tolerated(-1, 1), INCONCLUSIVE),
        ((-3, -4, -2), Tolerated(-1, 1), FAIL),
    ],
)
def test_an_interval_is_within_outside_or_neither(interval, tolerated, verdict):
    assert decide(interval, tolerated) == verdict


@pytest.mark.parametrize(
    ("interval", "tolerated", "times"),
    [
        ((0, -2, 2), Tolerated(high=1), 4),  # half as wide: four times as many
        ((0, -2, 2), Tolerated(-1, 0.5), 16),  # both ends have to move inside
        ((2, 0, 4), Tolerated(high=1), 4),  # outside: the lower end has to rise above 1
        ((-2, -4, 0), Tolerated(-1, 1), 4),
        ((1, 0, 2), Tolerated(high=1), None),
        ((1, 0, 2), Tolerated(1, 5), None),
        ((1e-200, -1, 1), Tolerated(high=0), None),  # within rounding of the limit
    ],
)
def test_the_width_is_proportional_to_one_over_the_root_of_n(interval, tolerated, times):
    assert sample_size_factor(interval, tolerated) == times
    if times is not None:
        value, low, high = interval
        shrunk = [
            (value, value - (value - low) * s, value + (high - value) * s)
            for s in (0.999 / times**0.5, 1.001 / times**0.5)
        ]
        assert decide(shrunk[0], tolerated) != INCONCLUSIVE
        assert decide(shrunk[1], tolerated) == INCONCLUSIVE


def test_the_worst_verdict_is_the_overall_one():
    assert combine_verdicts([PASS, INCONCLUSIVE, FAIL]) == FAIL
    assert combine_verdicts([PASS, INCONCLUSIVE]) == INCONCLUSIVE
    assert combine_verdicts([PASS, PASS]) == PASS
    assert combine_verdicts([]) == INCONCLUSIVE


def test_an_interval_at_another_level():
    value, low, high = at_confidence((1.0, 0.0, 3.0), 0.95, 0.99, 10**9)
    stretch = 2.5758293 / 1.9599640  # of a normal distribution
    assert (value, low, high) == pytest.approx((1, 1 - stretch, 1 + 2 * stretch), abs=1e-5)
    assert at_confidence((1.0, 0.0, 3.0), 0.95, 0.99, 5)[2] == pytest.approx(1 + 2 * 4.6041 / 2.7764, abs=1e-3)
    assert at_confidence((1.0, 0.0, 3.0), 0.95, 0.95, 2) == (1.0, 0.0, 3.0)


def test_distance_from_the_control():
    assert distance((3.0, 0.0, 6.0), (-1.0, -5.0, 3.0), 0.95) == pytest.approx((4, 0, 9))
    far = distance((-10.0, -13.0, -7.0), (0.0, -4.0, 4.0), 0.95)
    assert far == pytest.approx((10, 5, 15))
    assert math.isclose(distance((0.0, -3.0, 3.0), (1.0, -3.0, 5.0), 0.95)[2], 6.0)
