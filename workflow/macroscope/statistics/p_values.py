"""The p-value of a distribution, and how many cores a test may use."""

import os

import numpy as np
from numpy.typing import ArrayLike, NDArray

TIE = 1e-9
"""Equal multisets add up in another order: differences within this relative rounding count as equal."""


def p_value_of(observed: float, distribution: ArrayLike, exact: bool = False, tie: float = TIE) -> float:
    """Share of |distribution| that reaches |observed| (meister2021 §4.1, Algorithm 1).

    The paper's pseudocode compares |distribution| with the statistic itself, which gives p = 1 for every negative
    difference; here both are absolute. The Monte Carlo p-value is (c + 1) / (n + 1) (Phipson and Smyth 2010): never
    0, and the test keeps its level. Where all divisions were enumerated, p is exact: c / n. Differences within `tie`,
    relative to values above 1, count as equal.
    """
    sizes = np.abs(np.asarray(distribution, dtype=float))
    observed = abs(observed)
    reached = np.count_nonzero(~(sizes < observed - tie * max(1.0, observed)))
    return float(reached / len(sizes) if exact else (reached + 1) / (len(sizes) + 1))


def usable_cores() -> int:
    """Cores that this process may use: OMP_NUM_THREADS, which Snakemake sets to a job's threads, or what there are."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values that control the false discovery rate (Benjamini and Hochberg 1995).

    Parameters
    ----------
    p_values
        In [0, 1]; NaN where nothing was tested.

    Returns
    -------
    array of the same length: p_(i) n / i, made monotone from above, at most 1; NaN stays NaN and does not count in n.
    """
    p = np.asarray(p_values, dtype=float)
    tested = ~np.isnan(p)
    adjusted = np.full_like(p, np.nan)
    order = np.argsort(p[tested])
    raised = p[tested][order] * len(order) / np.arange(1, len(order) + 1)
    adjusted[np.flatnonzero(tested)[order]] = np.minimum.accumulate(raised[::-1])[::-1].clip(max=1)
    return adjusted
