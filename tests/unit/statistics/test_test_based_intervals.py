"""Agreement of intervals and tests."""

import numpy as np
import pytest
from scipy import stats

from macroscope.statistics.test_based_intervals import agree_with_test
from macroscope.statistics.tidy import UNDEFINED, Estimate


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
