"""Bootstrap and permutation over documents, for statistics that are functions of sums.

A corpus-level statistic such as the latent PPL, exp(sum T / sum M), depends on the documents only through sums of
per-document columns. So resampling never runs inference again: it re-adds rows. `rows` always has the axes
documents x columns.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Statistic = Callable[[Array, Array], Array]
"""(sums: ... x columns, number of documents: ...) -> values: ..."""


def bootstrap_sums(rows: ArrayLike, resamples: int, rng: np.random.Generator) -> Array:
    """Column sums of `resamples` draws of n documents with replacement.

    Returns
    -------
    array, resamples x columns
    """
    rows = _rows(rows)
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


def permutation_sums(a: ArrayLike, b: ArrayLike, permutations: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Column sums of the two samples after exchanging documents between them at random, sizes kept.

    Returns
    -------
    two arrays, permutations x columns
        Sums of the n_a documents that came to stand in the first sample, and of the n_b others.
    """
    a, b = _rows(a), _rows(b)
    rows = np.concatenate([a, b])
    total = rows.sum(axis=0)
    first = np.empty((permutations, rows.shape[1]))
    for p in range(permutations):
        first[p] = rows[rng.permutation(len(rows))[: len(a)]].sum(axis=0)
    return first, total - first


def permutation_p_value(
    a: ArrayLike, b: ArrayLike, statistic: Statistic, permutations: int, rng: np.random.Generator
) -> float:
    """Two-tailed permutation p-value of statistic(a) - statistic(b), (c + 1) / (n + 1).

    The count c is of permutations whose absolute difference is at least the observed one; adding one keeps the test
    exact (Phipson and Smyth 2010), so that p is never 0.

    Returns
    -------
    float in (0, 1], or nan where the observed difference is undefined.
    """
    a, b = _rows(a), _rows(b)
    observed = abs(_value(statistic, a) - _value(statistic, b))
    if not np.isfinite(observed):
        return float("nan")
    first, second = permutation_sums(a, b, permutations, rng)
    differences = np.abs(
        statistic(first, np.full(permutations, len(a))) - statistic(second, np.full(permutations, len(b)))
    )
    # Equal multisets add up in another order: differences within rounding of the observed one count as equal to it.
    reached = ~(differences < observed - 1e-9 * max(1.0, observed))
    return float((np.count_nonzero(reached) + 1) / (permutations + 1))


def _value(statistic: Statistic, rows: Array) -> float:
    return float(statistic(rows.sum(axis=0), np.asarray(len(rows))))


def _rows(rows: ArrayLike) -> Array:
    array = np.asarray(rows, dtype=float)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) == 0:
        raise ValueError(f"rows must be documents x columns with at least one document, not of shape {array.shape}")
    return array
