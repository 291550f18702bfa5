"""Where an interval lies: within what is tolerated, outside of it, or neither; and what n would tell."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from macroscope.statistics.bootstrap_t import Interval

PASS, FAIL, INCONCLUSIVE = "PASS", "FAIL", "INCONCLUSIVE"
EXIT_CODES = {PASS: 0, FAIL: 1, INCONCLUSIVE: 2}
FREE = math.inf
_ON_THE_LIMIT = 1e-6
"""Of an interval's half: an estimate nearer to the limit lies on it; 10^12 times as many documents would be needed."""


@dataclass(frozen=True)
class Tolerated:
    """Range of a change, or of a value, that is tolerated, its ends included."""

    low: float = -FREE
    high: float = FREE

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def decide(interval: Interval, tolerated: Tolerated) -> str:
    """PASS where all of the interval is tolerated, FAIL where nothing of it is, INCONCLUSIVE else."""
    _, low, high = interval
    if tolerated.low <= low and high <= tolerated.high:
        return PASS
    if high < tolerated.low or low > tolerated.high:
        return FAIL
    return INCONCLUSIVE


def factor_that_decides(interval: Interval, tolerated: Tolerated) -> float | None:
    """How many times as many documents would decide, if the estimate stayed where it is.

    The width of an interval goes with 1/sqrt(n).

    Returns
    -------
    float or None
        At least 1; None where the estimate lies on the limit, so that no n would.
    """
    value, low, high = interval
    if value in tolerated:
        room = [(value - tolerated.low, value - low), (tolerated.high - value, high - value)]
    elif value > tolerated.high:
        room = [(value - tolerated.high, value - low)]
    else:
        room = [(tolerated.low - value, high - value)]
    shrink = min((gap / width for gap, width in room if width > 0), default=1.0)
    return None if shrink < _ON_THE_LIMIT else max(1.0, shrink**-2)


def whole_verdict(verdicts: Iterable[str]) -> str:
    """FAIL if anything fails, else INCONCLUSIVE if anything is, else PASS."""
    found = set(verdicts)
    return FAIL if FAIL in found else INCONCLUSIVE if INCONCLUSIVE in found or not found else PASS
