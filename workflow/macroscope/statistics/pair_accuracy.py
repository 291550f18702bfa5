"""Pair accuracy: how often a number per document tells a damaged text from its intact twin."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from macroscope.statistics.p_values import TIE
from macroscope.statistics.proportions import wilson_interval


@dataclass(frozen=True)
class PairAccuracy:
    """Share of pairs in which the damaged text has the larger number; a tie counts half.

    Attributes
    ----------
    value, low, high
        Share, in [0, 1], with its Wilson interval; 0.5 is chance. NaN if there is no pair.
    n
        Number of pairs in which both texts have a number.
    ties
        Number of pairs whose texts have equal numbers.
    """

    value: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    n: int = 0
    ties: int = 0


def measure_pair_accuracy(intact: ArrayLike, damaged: ArrayLike, confidence: float = 0.95) -> PairAccuracy:
    """Compute the share of pairs in which the damaged text has the larger number.

    Parameters
    ----------
    intact, damaged
        Number of each text, in the order of the pairs; larger is less like real text. A pair with a NaN does not count.
        Infinite numbers are equal.
    confidence
        Level of the interval, which takes a tie as half a success of a trial: it is too wide if many pairs are tied.
    """
    first, second = np.asarray(intact, dtype=float), np.asarray(damaged, dtype=float)
    is_judged = ~(np.isnan(first) | np.isnan(second))
    first, second = first[is_judged], second[is_judged]
    n = len(first)
    if not n:
        return PairAccuracy()
    is_tied = np.isclose(first, second, rtol=TIE, atol=TIE)
    ties = int(is_tied.sum())
    successes = int((second > first)[~is_tied].sum()) + ties / 2
    low, high = wilson_interval(successes, n, confidence)
    return PairAccuracy(successes / n, float(low), float(high), n, ties)
