"""P-values of distributions, and their corrections, against enumeration and published examples."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats import false_discovery_control

from macroscope.statistics.p_values import agree_with_test, benjamini_hochberg, p_value_from_null
from macroscope.statistics.tidy import UNDEFINED, Estimate


def test_negative_differences_are_as_significant_as_positive_ones():
    # The paper's pseudocode, without the absolute value of the statistic, would give p = 1 here.
    null = np.arange(-49, 50) / 10
    assert p_value_from_null(-6.0, null) == p_value_from_null(6.0, null) == 1 / 100


def test_exact_p_values_and_monte_carlo_p_values_above_0():
    assert p_value_from_null(3.0, [-3.0, 1.0, 2.0, 3.0 - 1e-12], exact=True) == 0.5
    assert p_value_from_null(3.0, [1.0, 2.0, 0.5]) == 0.25


def test_benjamini_hochberg_of_the_paper():
    # Benjamini and Hochberg (1995), section 3.1: 4 of these 15 are rejected at 0.05.
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1,
    ]
    assert (benjamini_hochberg(p) <= 0.05).sum() == 4


def test_benjamini_hochberg_leaves_out_what_was_not_tested():
    adjusted = benjamini_hochberg([0.01, np.nan, 0.04])
    assert np.isnan(adjusted[1])
    np.testing.assert_allclose(adjusted[[0, 2]], [0.02, 0.04])


def test_benjamini_hochberg_of_scipy():
    p = np.round(np.random.default_rng(1).uniform(size=500) ** 3, 2)
    np.testing.assert_allclose(benjamini_hochberg(p), false_discovery_control(p, method="bh"), rtol=1e-12)
    assert benjamini_hochberg([]).tolist() == []


@pytest.mark.parametrize("p", [0.001, 0.02, 0.049, 0.05, 0.2, 1.0])
@pytest.mark.parametrize("ends", [(-1.0, 3.0), (0.2, 1.8), (0.0, 5.0), (0.9, 1.1)])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("null", [0.0, 0.5])
def test_the_null_value_is_in_the_interval_if_and_only_if_the_test_keeps_it(p, ends, sign, null):
    low, high = sorted(null + sign * end for end in ends)
    agreed = agree_with_test(Estimate("d", null + sign * 1.0, low, high, p), 0.95, null)
    assert (agreed.ci_low <= null <= agreed.ci_high) == (p >= 0.05)
    assert agreed.ci_low <= agreed.value <= agreed.ci_high
    assert (agreed.value, agreed.p_value) == (null + sign, p)
    if p >= 0.05:  # never shorter
        assert agreed.ci_low <= low
        assert agreed.ci_high >= high


def test_the_interval_of_a_z_test_is_the_exact_one():
    error, z = 0.4, stats.norm.ppf(0.975)
    p = 2 * stats.norm.sf(1 / error)
    agreed = agree_with_test(Estimate("d", 1.0, -0.1, 2.1, p), 0.95)
    assert agreed.ci_low == pytest.approx(1 - z * error)
    assert agreed.ci_high == 2.1


def test_an_interval_that_agrees_stays():
    for estimate in (Estimate("d", 1.0, 0.5, 1.5, 0.01), Estimate("d", 1.0, -0.5, 2.5, 0.3)):
        assert agree_with_test(estimate, 0.95) == estimate


def test_without_a_test_or_an_interval_nothing_changes():
    for estimate in (Estimate("d", 1.0, -0.5, 1.5), Estimate("d", 1.0, p_value=0.01), Estimate("d", UNDEFINED)):
        assert repr(agree_with_test(estimate, 0.95)) == repr(estimate)


def test_the_test_may_stand_in_another_row():
    corrected = Estimate("d_corrected", 0.3, 0.0, 0.8)
    assert agree_with_test(corrected, 0.95, p_value=0.01).ci_low > 0
    assert agree_with_test(Estimate("d_corrected", 0.3, 0.1, 0.8), 0.95, p_value=0.1).ci_low == 0
    assert np.isnan(agree_with_test(corrected, 0.95, p_value=0.01).p_value)
