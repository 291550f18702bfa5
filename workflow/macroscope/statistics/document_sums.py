"""Documents as rows of numbers, of which every statistic here is a function of sums."""

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


def in_bundles(rows: Array) -> Array:
    """Sums over `BUNDLES` bundles of rows, dealt at random; of no more than `MANY` rows, the rows themselves.

    A bundle of independent documents is as good a unit as a document: sums over it are of independent numbers as well,
    and from thousands of them an error is known to two digits.
    """
    if len(rows) <= MANY:
        return rows
    which = np.random.default_rng(len(rows)).permutation(len(rows)) % BUNDLES
    return np.stack([np.bincount(which, column, BUNDLES) for column in rows.T], axis=1)
