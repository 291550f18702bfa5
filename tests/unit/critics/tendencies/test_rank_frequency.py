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
    zipf_p_value,
    zipf_sample,
    zipf_standard_error,
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


def test_known_exponent_is_recovered_within_its_standard_error():
    # Exact expected frequencies of the law, so that ranks are the true ones and only the solver is tested ...
    for s in (1.6, 2.5):
        frequencies = 1e9 * np.arange(1, 400_001, dtype=float) ** -s
        assert fit_zipf(frequencies) == pytest.approx(s, abs=0.02)
    # ... and samples: where ranks are steep, sorting by the sample's own counts hardly disturbs them.
    rng = np.random.default_rng(0)
    errors = [(fit_zipf(zipf_sample(3.0, 20_000, rng)) - 3.0) / zipf_standard_error(3.0, 20_000) for _ in range(60)]
    assert np.std(errors) == pytest.approx(1, abs=0.25)
    assert abs(np.mean(errors)) < 1


def test_p_values_of_a_fitted_law_are_uniform():
    rng = np.random.default_rng(1)
    p = [zipf_p_value(zipf_sample(1.8, 500, rng), 1.8, 1000, 39, rng, fitted=False) for _ in range(150)]
    assert np.mean(np.array(p) <= 0.1) < 0.1 + 3 * np.sqrt(0.09 / 150)
    assert 0.4 < np.mean(p) < 0.6


def test_another_law_is_rejected():
    rng = np.random.default_rng(2)
    flat = rng.multinomial(5000, np.ones(200) / 200)
    assert zipf_p_value(flat, fit_zipf(flat), 1000, 99, rng, fitted=True) == 0.01


def test_distance_between_rank_distributions():
    assert distance_between_ranks([3, 1], [1, 3], 10) == 0  # each side has its own ranking
    assert distance_between_ranks([2, 1, 1], [4], 10) == pytest.approx(0.5)
    assert distance_between_ranks([2, 1, 1], [2, 2], 1) == 0  # only the first rank counts


def test_too_few_types_are_undefined():
    assert np.isnan(fit_zipf([7]))
    assert np.isnan(fit_zipf([]))
    assert np.isnan(distance_to_zipf([7], fit_zipf([7]), 10))
    assert np.isnan(distance_between_ranks([], [1], 10))
