"""How small a difference a comparison of this size could have found."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri


def minimum_detectable_difference(a: ArrayLike, b: ArrayLike, level: float = 0.05, power: float = 0.8) -> float:
    """Return the difference in means that a two-tailed test at `level` finds with probability `power`.

    The normal approximation, (z_{1 - level/2} + z_power) sqrt(var_a / n + var_b / m), in the unit of the data.

    Returns
    -------
    float >= 0; NaN where a side has fewer than two values.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if len(a) < 2 or len(b) < 2:
        return float("nan")
    error = np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    return float((ndtri(1 - level / 2) + ndtri(power)) * error)
