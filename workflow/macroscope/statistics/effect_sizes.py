"""Effect sizes, beside p-values: with a million samples every difference is significant."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from macroscope.statistics.document_features import Array
from macroscope.statistics.proportions import wilson_interval

Interval = tuple[float, float, float]
"""(value, low, high)"""


def hedges_g(a: ArrayLike, b: ArrayLike, confidence: float = 0.95) -> Interval:
    """Compute the difference in means, a - b, in pooled standard deviations, corrected for small samples (Hedges 1981).

    Returns
    -------
    value, low, high
        The interval is that of the delta method for any distributions, by Student's t with the smaller sample's degrees
        of freedom. NaN if a sample has fewer than two values, 0 if all values are equal, and infinite if the means
        differ and nothing varies.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    n, m = len(a), len(b)
    if n < 2 or m < 2:
        return (float("nan"),) * 3
    # Minus the first value: rounding of the mean of equal values would be their only spread.
    shifted = a - a[0], b - b[0]
    weights = np.array([n - 1, m - 1]) / (n + m - 2)
    variances = np.array([sample.var(ddof=1) for sample in shifted])
    pooled = np.sqrt(weights @ variances)
    difference = a[0] - b[0] + shifted[0].mean() - shifted[1].mean()
    if pooled == 0:
        value = 0.0 if difference == 0 else float(np.sign(difference) * np.inf)
        return value, value, value
    correction = 1 - 3 / (4 * (n + m) - 9)
    value = difference / pooled * correction
    # Influence of each value on the difference in means and on the standard deviation.
    squared = 0.0
    for sign, sample, weight, variance in zip((1, -1), shifted, weights, variances, strict=True):
        centred = sample - sample.mean()
        influence = sign * centred / pooled - difference * weight * (centred**2 - variance) / (2 * pooled**3)
        squared += (influence**2).sum() / (len(sample) * (len(sample) - 1))
    half = stdtrit(min(n, m) - 1, 0.5 + confidence / 2) * np.sqrt(squared) * correction
    return float(value), float(value - half), float(value + half)


def cliffs_delta(a: ArrayLike, b: ArrayLike, confidence: float = 0.95) -> Interval:
    """Compute P(A > B) - P(A < B), in [-1, 1]; 0 if neither tends to be larger (Cliff 1993).

    Returns
    -------
    value, low, high
        The interval is the asymmetric one of Feng and Cliff (2004), eq. 9. If all values of one sample are above all of
        the other, it is as long as Wilson's for as many successes without a failure as the smaller sample has values.
        NaN if a sample is empty; the interval is NaN if a sample has one value only.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    n, m = len(a), len(b)
    if not n or not m:
        return (float("nan"),) * 3
    above = _dominance(a, b)
    value = float(above.mean())
    if n < 2 or m < 2:
        return value, float("nan"), float("nan")
    # The unbiased variance (Cliff 1993): sums of squares of the row means, the column means and the cells of the n x m
    # table of signs.
    rows = m**2 * ((above - value) ** 2).sum()
    columns = n**2 * ((_dominance(b, a) + value) ** 2).sum()
    cells = n * m * (_share_unequal(a, b) - value**2)
    variance = max((rows + columns - cells) / (n * m * (n - 1) * (m - 1)), (1 - value**2) / (n * m - 1))
    z = ndtri(0.5 + confidence / 2)
    if abs(value) == 1:
        least = 2 * float(wilson_interval(min(n, m), min(n, m), confidence)[0]) - 1
        return (value, least, 1.0) if value > 0 else (value, -1.0, -least)
    root = z * np.sqrt(variance * ((1 - value**2) ** 2 + z**2 * variance))
    scale = 1 - value**2 + z**2 * variance
    ends = ((value - value**3 - root) / scale, (value - value**3 + root) / scale)
    return value, float(max(ends[0], -1.0)), float(min(ends[1], 1.0))


def _dominance(a: Array, b: Array) -> Array:
    """Compute the mean sign of a_i - b over all b, for each i."""
    ordered = np.sort(b)
    return (np.searchsorted(ordered, a, "left") + np.searchsorted(ordered, a, "right") - len(b)) / len(b)


def _share_unequal(a: Array, b: Array) -> float:
    values, counts_a = np.unique(a, return_counts=True)
    n_equal = np.searchsorted(np.sort(b), values, "right") - np.searchsorted(np.sort(b), values, "left")
    return 1 - float(counts_a @ n_equal) / (len(a) * len(b))
