"""Declarations of statistics: what an interval holds, and what a p-value tests.

Every comparison declares its statistics beside the function that computes them, and a critic names those that it has.
Reports take from these declarations what a p-value tests, and which tests make up a verdict. The calibration suite
simulates each of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from macroscope.errors import MacroscopeError

SHARED_STATISTICS = (
    "macroscope.statistics.classifier_two_sample_test:STATISTICS",
    "macroscope.statistics.joint_test:STATISTICS",
    "macroscope.statistics.by_label:STATISTICS",
    "macroscope.statistics.courses:STATISTICS",
    "macroscope.statistics.decisive_features:STATISTICS",
)
"""Declarations of the statistics that every critic has."""
LARGEST_MEAN_DIFFERENCE = "macroscope.statistics.joint_test:largest_mean_difference"
"""Statistic of features of single documents, which most critics' permutation tests have alone."""


@dataclass(frozen=True)
class Statistic:
    """Declaration of a statistic, or of several of one kind.

    Attributes
    ----------
    pattern
        Name; * stands for the varying part of names of one kind.
    holds
        Quantity that the interval holds; "" without an interval.
    null
        Null hypothesis of the p-value, as a sentence; "" without a p-value.
    difference
        Whether the p-value tests a difference between a system and real text that no other test of the critic tests.
        These tests make up the verdict, and are adjusted together.
    sized
        Whether the value depends on the number of documents. Values of two systems with different numbers are not
        comparable.
    spans
        Quantity whose range is given in place of an interval; it promises no coverage.
    """

    pattern: str
    holds: str = ""
    null: str = ""
    difference: bool = True
    sized: bool = False
    spans: str = ""


def match_declaration(statistics: Iterable[Statistic], name: str) -> Statistic:
    """Return the declaration of a statistic: the first whose pattern matches.

    Raises
    ------
    MacroscopeError
        If no pattern matches.
    """
    for statistic in statistics:
        if fnmatchcase(name, statistic.pattern):
            return statistic
    raise MacroscopeError(f"statistic '{name}': no declaration; add it to the critic's statistics")
