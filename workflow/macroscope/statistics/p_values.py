"""P-values from null distributions, corrections for many tests at once, and intervals that agree with tests.

A permutation test and a bootstrap or jackknife interval of one quantity are different approximations. Near the level,
one may find a difference where the other does not. The two together are one confidence set:

* If the test keeps the null hypothesis, the interval is widened to its value. That can only raise the coverage.
* If the test rejects it, an interval that still holds its value is cut. The new end is the test-based limit
  value - (value - null) z(level) / z(p) (Miettinen 1976, American Journal of Epidemiology 103), the limit of a normal
  variable whose test has this p-value.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from macroscope.statistics.tidy import Estimate

TIE = 1e-9
"""Relative difference up to which values count as equal: equal multisets summed in another order differ by rounding."""


def p_value_from_null(observed: float, distribution: ArrayLike, exact: bool = False, tie: float = TIE) -> float:
    """Return the share of |distribution| that reaches |observed| (meister2021 §4.1, Algorithm 1).

    The paper's pseudocode compares |distribution| with the statistic itself, which gives p = 1 for every negative
    difference; here both are absolute. The Monte Carlo p-value is (c + 1) / (n + 1) (Phipson and Smyth 2010): it is
    never 0, and the test keeps its level. If all divisions were enumerated, p is exact: c / n. Differences within
    `tie`, relative to values above 1, count as equal.
    """
    sizes = np.abs(np.asarray(distribution, dtype=float))
    observed = abs(observed)
    reached = np.count_nonzero(~(sizes < observed - tie * max(1.0, observed)))
    return float(reached / len(sizes) if exact else (reached + 1) / (len(sizes) + 1))


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values so that they control the false discovery rate (Benjamini and Hochberg 1995).

    Parameters
    ----------
    p_values
        In [0, 1]; NaN for those that were not tested.

    Returns
    -------
    array
        Of the same length: p_(i) n / i, made monotone from above, at most 1. NaN stays NaN and does not count in n.
    """
    return _adjust(
        p_values,
        lambda ordered: np.minimum.accumulate((ordered * len(ordered) / np.arange(1, len(ordered) + 1))[::-1])[::-1],
    )


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values so that they control the familywise error rate under any dependence (Holm 1979).

    Parameters
    ----------
    p_values
        In [0, 1]; NaN for those that were not tested.

    Returns
    -------
    array
        Of the same length: p_(i) (n - i + 1), made monotone from below, at most 1. NaN stays NaN and does not count in
        n.
    """
    return _adjust(p_values, lambda ordered: np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1)))


def _adjust(p_values: ArrayLike, correct: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> NDArray[np.float64]:
    """Correct the p-values that are not NaN, in rising order, and cut them at 1."""
    p = np.asarray(p_values, dtype=float)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested])]
    adjusted = np.full_like(p, np.nan)
    adjusted[order] = correct(p[order]).clip(max=1)
    return adjusted


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
