"""Corrections for many tests at once."""

from collections.abc import Callable

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
