"""What a case of the calibration is: comparisons that are simulated many times, and what is true of them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np

MEAN = "mean"
"""Truth of an interval that holds what other samples of these sizes give on average: the mean over all runs."""
Drawn = tuple[Iterable[tuple[str, float, float, float, float]], Mapping[str, float | str]]
"""Rows (statistic, value, low, high, p) of one run, and the truth of each statistic that has an interval."""


@dataclass(frozen=True)
class Setting:
    """A comparison that can be drawn as often as one likes.

    Attributes
    ----------
    name
        What is special about it: sizes, spreads, partners.
    draw
        Generator -> a run.
    null
        Patterns of the statistics whose null is true here.
    power
        Pattern of statistics whose null is false here -> share of the runs in which their test finds it at 5 %, at
        least. A test keeps its level, too, where it looks at one direction only, or at what sizes make of a number.
    runs
        In the full calibration.
    """

    name: str
    draw: Callable[[np.random.Generator], Drawn]
    null: tuple[str, ...] = ()
    power: Mapping[str, float] = field(default_factory=dict)
    runs: int = 1000

    def is_null(self, statistic: str) -> bool:
        """Whether the null of a statistic is true."""
        return any(fnmatchcase(statistic, pattern) for pattern in self.null)

    def least_power(self, statistic: str) -> float | None:
        """Share of the runs in which the test of a statistic rejects, at least; None where nothing is said of it."""
        return next((share for pattern, share in self.power.items() if fnmatchcase(statistic, pattern)), None)


@dataclass(frozen=True)
class Case:
    """Settings for one tuple of declared statistics.

    Attributes
    ----------
    declared
        "module:NAME" of the tuple.
    settings
        Each null and each interval of the tuple occurs in one of them or more.
    conservative
        Pattern of statistics whose test rejects less often than it might, or whose interval is wider than it need be
        -> why that is left so.
    limits
        (pattern of settings, pattern of statistics) -> what the report or the docs say there: where a promise does not
        hold.
    """

    declared: str
    settings: tuple[Setting, ...]
    conservative: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def limit(self, setting: str, statistic: str) -> str:
        """Why a promise need not hold; "" where it has to."""
        found = [
            why
            for (settings, statistics), why in self.limits.items()
            if fnmatchcase(setting, settings) and fnmatchcase(statistic, statistics)
        ]
        return found[0] if found else ""

    def is_conservative(self, statistic: str) -> bool:
        """Whether a statistic may err on the safe side."""
        return any(fnmatchcase(statistic, pattern) for pattern in self.conservative)
