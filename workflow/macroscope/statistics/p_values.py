"""P-values from null distributions, their adjustment, and the number of cores that a test may use."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    p = np.asarray(p_values, dtype=float)
    tested = ~np.isnan(p)
    adjusted = np.full_like(p, np.nan)
    order = np.argsort(p[tested])
    raised = p[tested][order] * len(order) / np.arange(1, len(order) + 1)
    adjusted[np.flatnonzero(tested)[order]] = np.minimum.accumulate(raised[::-1])[::-1].clip(max=1)
    return adjusted
