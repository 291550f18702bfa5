"""Agreement of intervals and tests: an interval holds the null hypothesis's value if and only if its test keeps it.

A permutation test and a bootstrap or jackknife interval of one quantity are different approximations. Near the level,
one may find a difference where the other does not. The two together are one confidence set:

* If the test keeps the null hypothesis, the interval is widened to its value. That can only raise the coverage.
* If the test rejects it, an interval that still holds its value is cut. The new end is the test-based limit
  value - (value - null) z(level) / z(p) (Miettinen 1976, American Journal of Epidemiology 103), the limit of a normal
  variable whose test has this p-value.
"""

from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from macroscope.statistics.tidy import Estimate

_ROUNDING = 1e-12


def agree_with_test(
    estimate: Estimate, confidence: float, null_value: float = 0.0, p_value: float | None = None
) -> Estimate:
    """Return an estimate with an interval that agrees with the test of its null hypothesis.

    Parameters
    ----------
    estimate
        Value, interval and p-value; returned as it is without an interval or without a p-value.
    confidence
        Level of the interval, in (0, 1); the test rejects if p < 1 - confidence.
    null_value
        Value of the quantity under the null hypothesis.
    p_value
        P-value of the test, if it stands in another row. Default: that of the estimate.
    """
    p = estimate.p_value if p_value is None else p_value
    if np.isnan([p, estimate.ci_low, estimate.ci_high, estimate.value]).any():
        return estimate
    low, high = estimate.ci_low, estimate.ci_high
    if p >= 1 - confidence - _ROUNDING:
        return replace(estimate, ci_low=min(low, null_value), ci_high=max(high, null_value))
    if not low <= null_value <= high or estimate.value == null_value or np.isinf(estimate.value):
        return estimate
    limit = estimate.value - (estimate.value - null_value) * float(ndtri((1 + confidence) / 2) / ndtri(1 - p / 2))
    return replace(estimate, ci_low=limit) if estimate.value > null_value else replace(estimate, ci_high=limit)
