"""Ranks of one sample, without `scipy.stats`, which takes half a second to import: most of what a short job takes."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def midranks(values: ArrayLike) -> NDArray[np.float64]:
    """Ranks from 1 on; equal values share the mean of theirs.

    Parameters
    ----------
    values
        One dimension, without NaN.
    """
    _, group, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[group]
    return ranks
