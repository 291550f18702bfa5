"""P-values from null distributions."""

import numpy as np
from numpy.typing import ArrayLike

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
