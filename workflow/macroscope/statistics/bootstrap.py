"""Bootstrap over documents, for statistics that are functions of sums.

A corpus-level statistic such as the latent PPL, exp(sum T / sum M), depends on the documents only through sums of
per-document columns. So resampling never runs inference again: it re-adds rows. `rows` always has the axes
documents x columns.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
MANY = 50_000
"""Documents above which compiled code draws them (`drawn_counts`): the same distributions, other random numbers."""
BUNDLES = 4096
"""Of documents, where there are more than `MANY` and only sums of them are looked at: a bundle is drawn as a whole."""


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


def bootstrap_sums(rows: ArrayLike, resamples: int, rng: np.random.Generator) -> Array:
    """Column sums of `resamples` draws of n documents with replacement.

    Returns
    -------
    array, resamples x columns
    """
    rows = as_rows(rows)
    n = len(rows)
    if n > MANY:
        from macroscope.statistics.drawn_counts import resampled_sums  # compiled code: slow to import

        return resampled_sums(rows, resamples, rng)
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


def in_bundles(rows: Array) -> Array:
    """Sums over `BUNDLES` bundles of rows, dealt at random; of no more than `MANY` rows, the rows themselves.

    A bundle of independent documents is as good a unit as a document: sums over it are of independent numbers as well,
    and from thousands of them an error is known to two digits.
    """
    if len(rows) <= MANY:
        return rows
    which = np.random.default_rng(len(rows)).permutation(len(rows)) % BUNDLES
    return np.stack([np.bincount(which, column, BUNDLES) for column in rows.T], axis=1)
