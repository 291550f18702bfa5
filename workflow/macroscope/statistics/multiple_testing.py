"""Corrections for many tests at once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


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
    p = np.asarray(p_values, dtype=float)
    tested = ~np.isnan(p)
    adjusted = np.full_like(p, np.nan)
    order = np.argsort(p[tested])
    raised = p[tested][order] * np.arange(len(order), 0, -1)
    adjusted[np.flatnonzero(tested)[order]] = np.maximum.accumulate(raised).clip(max=1)
    return adjusted
