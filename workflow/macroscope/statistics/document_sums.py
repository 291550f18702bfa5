"""Rows of numbers per document; every statistic that resamples documents is a function of their sums."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Sample = tuple[ArrayLike, ArrayLike]
"""(y, x): one number per document each, x >= 0."""
MANY = 50_000
"""Number of documents above which sums are resampled by bundles, and categories by `resampled_counts`."""
BUNDLES = 4096
"""Number of bundles of documents for statistics of sums over more than `MANY`; a bundle is resampled as a whole."""


def as_matrix(rows: ArrayLike) -> Array:
    """Return per-document columns as documents x columns; a vector is one column.

    Raises
    ------
    ValueError
        If there is no document, or more than two axes.
    """
    array = np.asarray(rows, dtype=float)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) == 0:
        raise ValueError(f"shape of rows {array.shape} is not documents x columns with at least one document")
    return array


def sum_into_bundles(rows: Array) -> Array:
    """Sum rows into `BUNDLES` random bundles; at most `MANY` rows are returned unchanged.

    A bundle of independent documents is as good a unit as a document, since sums over bundles are independent numbers,
    too. With thousands of them an error is known to two digits.
    """
    if len(rows) <= MANY:
        return rows
    bundle = np.random.default_rng(len(rows)).permutation(len(rows)) % BUNDLES
    return np.stack([np.bincount(bundle, column, BUNDLES) for column in rows.T], axis=1)
