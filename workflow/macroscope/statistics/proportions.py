"""Intervals of proportions."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

Array = NDArray[np.float64]


def wilson_interval(successes: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> tuple[Array, Array]:
    """Wilson (1927) score interval of a proportion, elementwise.

    Parameters
    ----------
    successes, n
        Counts that broadcast against each other, 0 <= successes <= n.
    confidence
        Level, in (0, 1).

    Returns
    -------
    low, high
        In [0, 1]; (0, 1) where n is 0.
    """
    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(n, float))
    z = ndtri(0.5 + confidence / 2)
    known = np.where(n > 0, n, 1.0)
    share = k / known
    centre = (share + z**2 / (2 * known)) / (1 + z**2 / known)
    half = z / (1 + z**2 / known) * np.sqrt(share * (1 - share) / known + z**2 / (4 * known**2))
    # At the ends the bound is 0 or 1 exactly; rounding must not move it past the share itself.
    low = np.where((n > 0) & (k > 0), centre - half, 0.0)
    high = np.where((n > 0) & (k < n), centre + half, 1.0)
    return low, high
