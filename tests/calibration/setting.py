"""Cases of the calibration: comparisons that are simulated many times, with their truth."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase

import numpy as np
import pandas as pd

from macroscope.statistics.tidy import Estimate

MEAN = "mean"
"""Truth of an interval that holds the mean over other samples of these sizes: the mean over all runs."""
Run = tuple[Iterable[Estimate], Mapping[str, float | str]]
"""Estimates of one run, and the truth of each statistic that has an interval."""


def list_estimates(table: pd.DataFrame) -> list[Estimate]:
    """List the estimates of a table of statistics."""
    names = [attribute.name for attribute in fields(Estimate)]
    return [Estimate(*values) for values in table[names].itertuples(index=False, name=None)]


@dataclass(frozen=True)
class Setting:
    """Comparison that can be simulated any number of times.

    Attributes
    ----------
    name
        Sizes, spreads, pairs and whatever else is special about the comparison.
    simulate
        Function of a generator that returns a run.
    null
        Patterns of the statistics whose null is true.
    power
        Pattern of statistics whose null is false -> smallest share of the runs in which their test rejects at 5 %. A
        test of one direction only, or of a quantity that depends on sizes, keeps its level but lacks power.
    runs
        Number of runs in the full calibration.
    """

    name: str
    simulate: Callable[[np.random.Generator], Run]
    null: tuple[str, ...] = ()
    power: Mapping[str, float] = field(default_factory=dict)
    runs: int = 1000

    def is_null(self, statistic: str) -> bool:
        """Return whether the null of a statistic is true."""
        return any(fnmatchcase(statistic, pattern) for pattern in self.null)

    def least_power(self, statistic: str) -> float | None:
        """Return the smallest share of runs in which a statistic's test must reject; None without a requirement."""
        return next((share for pattern, share in self.power.items() if fnmatchcase(statistic, pattern)), None)


@dataclass(frozen=True)
class Case:
    """Settings for one tuple of declared statistics.

    Attributes
    ----------
    declared
        "module:NAME" of the tuple.
    settings
        Settings, in which each null and each interval of the tuple occurs at least once.
    conservative
        Pattern of statistics whose test rejects too rarely, or whose interval is too wide -> reason for accepting that.
    limits
        (pattern of settings, pattern of statistics) -> statement of the report or the docs about a promise that does
        not hold.
    version
        Version of what is simulated. Raise it when the rates may have changed: all settings are simulated again.
    """

    declared: str
    settings: tuple[Setting, ...]
    conservative: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[tuple[str, str], str] = field(default_factory=dict)
    version: int = 1

    def limit(self, setting: str, statistic: str) -> str:
        """Return why a promise need not hold; "" if it must."""
        reasons = [
            reason
            for (settings, statistics), reason in self.limits.items()
            if fnmatchcase(setting, settings) and fnmatchcase(statistic, statistics)
        ]
        return reasons[0] if reasons else ""

    def is_conservative(self, statistic: str) -> bool:
        """Return whether a statistic may be conservative."""
        return any(fnmatchcase(statistic, pattern) for pattern in self.conservative)
