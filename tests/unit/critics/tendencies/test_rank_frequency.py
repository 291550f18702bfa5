"""Zipf's law against closed forms, published values and simulation."""

import numpy as np
import pytest
from scipy.special import zeta

from macroscope.critics.tendencies.rank_frequency import (
    _minus_log_zeta_slope,
    distance_between_ranks,
    distance_to_zipf,
    fit_zipf,
    zipf_cdf,
)


def test_known_fit_and_distance():
    frequencies = [10, 5, 3, 2, 1, 1]
    s = fit_zipf(frequencies)
    assert s == pytest.approx(1.98008424, abs=1e-7)
    assert distance_to_zipf(frequencies, s, 10_000) == pytest.approx(0.14641297, abs=1e-7)


def test_published_exponent_has_the_infinite_support():
    # meister2021, Table 4: s = 1.1997; with it, the law gives 18 % of all tokens to the first rank.
    assert _minus_log_zeta_slope(1.1997) == pytest.approx(4.4658, abs=1e-4)
    cdf = zipf_cdf(1.1997, 10_000)
    assert cdf[[0, 1, -1]] == pytest.approx([0.1786, 0.2564, 0.858], abs=2e-4)


@pytest.mark.parametrize("s", [1.05, 1.5, 2.0, 3.0, 8.0])
def test_slope_of_the_zeta_function(s):
    step = 1e-5
    numeric = -(np.log(zeta(s + step)) - np.log(zeta(s - step))) / (2 * step)
    assert _minus_log_zeta_slope(s) == pytest.approx(numeric, rel=1e-6)


@pytest.mark.parametrize("s", [1.6, 2.5])
def test_exponent_of_the_expected_frequencies_of_a_law_is_the_law_s(s):
    # The ranks are the true ones, so only the solver is tested.
    assert fit_zipf(1e9 * np.arange(1, 400_001, dtype=float) ** -s) == pytest.approx(s, abs=0.02)


def test_distance_between_rank_distributions():
    assert distance_between_ranks([3, 1], [1, 3], 10) == 0  # each side has its own ranking
    assert distance_between_ranks([2, 1, 1], [4], 10) == pytest.approx(0.5)
    assert distance_between_ranks([2, 1, 1], [2, 2], 1) == 0  # only the first rank counts


def test_too_few_types_are_undefined():
    assert np.isnan(fit_zipf([7]))
    assert np.isnan(fit_zipf([]))
    assert np.isnan(distance_to_zipf([7], fit_zipf([7]), 10))
    assert np.isnan(distance_between_ranks([], [1], 10))
