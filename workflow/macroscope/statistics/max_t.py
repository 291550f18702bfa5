"""Max t: the largest of all studentised differences among those after random changes; tests and bands agree."""

import numpy as np

from macroscope.statistics.document_features import Array
from macroscope.statistics.p_values import TIE
from macroscope.statistics.tidy import UNDEFINED


def flip_signs(values: Array, draws: int, rng: np.random.Generator) -> Array:
    """Return |sum| / its error of units x columns after random sign flips of units (draws x columns)."""
    from macroscope.statistics.compiled_permutations import coin_sums  # compiled code: slow to import

    n = len(values)
    sums = 2 * coin_sums(values, draws, rng) - values.sum(axis=0)
    variances = ((values**2).sum(axis=0) - sums**2 / n) * n / (n - 1)
    return studentise(sums, np.sqrt(variances.clip(min=0)))


def studentise(differences: Array, errors: Array) -> Array:
    """Return |difference| / error; 0 if nothing differs, and the largest number without an error."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(np.abs(differences) / errors, nan=0.0, posinf=np.finfo(float).max)


def max_t_p_values(studentised: Array, largest: Array) -> Array:
    """Return the p-value of each studentised difference among the largest ones after random changes."""
    reached = len(largest) - np.searchsorted(np.sort(largest), studentised * (1 - TIE))
    return np.asarray((reached + 1) / (len(largest) + 1))


def critical_value(largest: Array, confidence: float) -> float:
    """Return the largest studentised difference whose p-value is not below 1 - confidence; NaN if none can be."""
    if 1 / (len(largest) + 1) >= 1 - confidence - TIE:
        return UNDEFINED
    return float(largest[max_t_p_values(largest, largest) >= 1 - confidence - TIE].max(initial=0.0))
