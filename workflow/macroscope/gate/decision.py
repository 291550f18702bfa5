"""Decision by an interval: inside the tolerated range, outside of it, or neither; and the sample size to decide."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from macroscope.statistics.bootstrap_t import Interval

PASS, FAIL, INCONCLUSIVE = "PASS", "FAIL", "INCONCLUSIVE"
EXIT_CODES = {PASS: 0, FAIL: 1, INCONCLUSIVE: 2}
FREE = math.inf
_ON_THE_LIMIT = 1e-6
"""Distance from the limit, in half widths of the interval, below which an estimate counts as on the limit (deciding
would need 10^12 times as many documents)."""


@dataclass(frozen=True)
class Tolerated:
    """Tolerated range of a change or a value, its ends included."""

    low: float = -FREE
    high: float = FREE

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def decide(interval: Interval, tolerated: Tolerated) -> str:
    """Return PASS if the interval is inside the tolerated range, FAIL if it is outside, INCONCLUSIVE otherwise."""
    _, low, high = interval
    if tolerated.low <= low and high <= tolerated.high:
        return PASS
    if high < tolerated.low or low > tolerated.high:
        return FAIL
    return INCONCLUSIVE


def sample_size_factor(interval: Interval, tolerated: Tolerated) -> float | None:
    """Return the factor of the number of documents that would decide, if the estimate stayed the same.

    The width of an interval is proportional to 1/sqrt(n).

    Returns
    -------
    float or None
        At least 1; None if the estimate is on the limit, so that no number of documents decides.
    """
    value, low, high = interval
    if value in tolerated:
        margins = [(value - tolerated.low, value - low), (tolerated.high - value, high - value)]
    elif value > tolerated.high:
        margins = [(value - tolerated.high, value - low)]
    else:
        margins = [(tolerated.low - value, high - value)]
    shrink = min((gap / width for gap, width in margins if width > 0), default=1.0)
    return None if shrink < _ON_THE_LIMIT else max(1.0, shrink**-2)


def combine_verdicts(verdicts: Iterable[str]) -> str:
    """Return FAIL if any verdict is FAIL, else INCONCLUSIVE if any is, or if there are none, else PASS."""
    unique = set(verdicts)
    return FAIL if FAIL in unique else INCONCLUSIVE if INCONCLUSIVE in unique or not unique else PASS
