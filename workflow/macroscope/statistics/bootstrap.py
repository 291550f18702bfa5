"""Bootstrap over documents, for statistics that are functions of sums.

A corpus-level statistic such as the latent PPL, exp(sum T / sum M), depends on the documents only through sums of
per-document columns. So resampling never runs inference again: it re-adds rows. `rows` always has the axes
documents x columns.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

Array = NDArray[np.float64]
Statistic = Callable[[Array, Array], Array]
"""(sums: ... x columns, number of documents: ...) -> values: ..."""


def as_rows(rows: ArrayLike) -> Array:
    """Per-document columns as documents x columns; a vector is one column.

    Raises
    ------
    ValueError
        Where there is no document, or there are more axes.
    """
    array = np.asarray(rows, dtype=float)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) == 0:
        raise ValueError(f"rows must be documents x columns with at least one document, not of shape {array.shape}")
    return array


def value_of(statistic: Statistic, rows: ArrayLike) -> float:
    """Statistic of all documents."""
    rows = as_rows(rows)
    return float(statistic(rows.sum(axis=0), np.asarray(len(rows))))


def bootstrap_sums(rows: ArrayLike, resamples: int, rng: np.random.Generator) -> Array:
    """Column sums of `resamples` draws of n documents with replacement.

    Returns
    -------
    array, resamples x columns
    """
    rows = as_rows(rows)
    n = len(rows)
    sums = np.empty((resamples, rows.shape[1]))
    for r in range(resamples):
        sums[r] = np.bincount(rng.integers(0, n, n), minlength=n) @ rows
    return sums


def percentile_interval(values: ArrayLike, confidence: float) -> tuple[float, float]:
    """Percentile bootstrap interval (Efron and Tibshirani 1993, ch. 13); (nan, nan) where a value is undefined."""
    values = np.asarray(values, dtype=float)
    if not np.isfinite(values).all():
        return (float("nan"), float("nan"))
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return (float(low), float(high))


def bca_interval(rows: ArrayLike, statistic: Statistic, sums: Array, confidence: float) -> tuple[float, float]:
    """Bias-corrected and accelerated bootstrap interval (Efron 1987), second-order accurate.

    Parameters
    ----------
    rows
        Documents x columns.
    sums
        What `bootstrap_sums` made of them.

    Returns
    -------
    low, high
        (nan, nan) where the statistic is undefined for the data, for a resample, or without one of the documents;
        (value, value) where all resamples agree.
    """
    rows = as_rows(rows)
    n = len(rows)
    values = statistic(sums, np.full(len(sums), n))
    value = value_of(statistic, rows)
    left_out = statistic(rows.sum(axis=0) - rows, np.full(n, n - 1)) if n > 1 else np.full(1, np.nan)
    if not (np.isfinite(values).all() and np.isfinite(value) and np.isfinite(left_out).all()):
        return (float("nan"), float("nan"))
    if np.ptp(values) == 0:
        return (float(values[0]), float(values[0]))
    # Half of the ties count as below: a discrete statistic gets no spurious bias.
    below = (np.count_nonzero(values < value) + 0.5 * np.count_nonzero(values == value)) / len(values)
    edge = 0.5 / len(values)
    bias = ndtri(np.clip(below, edge, 1 - edge))
    acceleration = _acceleration(left_out)
    z = ndtri(np.array([(1 - confidence) / 2, (1 + confidence) / 2]))
    level = ndtr(bias + (bias + z) / (1 - acceleration * (bias + z)))
    low, high = np.quantile(values, level)
    return (float(low), float(high))


def _acceleration(left_out: Array) -> float:
    """Skewness of the jackknife influence, over six."""
    influence = left_out.mean() - left_out
    spread = (influence**2).sum()
    return float((influence**3).sum() / (6 * spread**1.5)) if spread > 0 else 0.0
