"""What the package promises about its numbers: what an interval holds, and what a p-value tests.

Every comparison declares its statistics beside the function that gives them, and a critic names those that it gives.
Reports say from this what a p-value tests, and which tests make up a verdict; the calibration suite finds all promises
here, and simulates each of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from macroscope.errors import MacroscopeError


@dataclass(frozen=True)
class Statistic:
    """A statistic, or several of one kind.

    Attributes
    ----------
    pattern
        Its name; * stands for what differs between those of one kind.
    holds
        What its interval holds; "" where it has none.
    null
        What its p-value tests, as a sentence; "" where it has none.
    difference
        Whether the p-value tests a difference between a system and real text that no other test of the critic tests:
        those make up the verdict, and are adjusted together.
    sized
        Whether it depends on how many documents there are: those of two systems with unlike numbers of documents do not
        compare.
    spans
        What its range describes, where that is no interval of something that is not known: it promises no coverage.
    """

    pattern: str
    holds: str = ""
    null: str = ""
    difference: bool = True
    sized: bool = False
    spans: str = ""


def declared(statistics: Iterable[Statistic], name: str) -> Statistic:
    """Declaration of a statistic: the first whose pattern fits.

    Raises
    ------
    MacroscopeError
        Where nothing is declared of it.
    """
    for statistic in statistics:
        if fnmatchcase(name, statistic.pattern):
            return statistic
    raise MacroscopeError(f"statistic '{name}': nothing declares what it is; add it to the critic's statistics")
