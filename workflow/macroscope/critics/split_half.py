"""A collection against the control's; the control, by halves, against itself."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import pandas as pd

from macroscope.options import CONTROL, SPLIT_HALF

C = TypeVar("C")


class HasRows(Protocol):
    """What a critic's own comparison returns: rows of `statistics.tidy.ROWS`, and whatever its evidence needs."""

    @property
    def rows(self) -> pd.DataFrame:
        """The numbers of the candidate against the reference."""


F = TypeVar("F", bound=HasRows)


@dataclass(frozen=True)
class Compared(Generic[C, F]):
    """A comparison of two collections.

    Attributes
    ----------
    table
        All rows; those of the halves have the system `SPLIT_HALF`.
    reference, candidate
        The collections; for the control twice the whole of it.
    found
        What comparing them gave; for the control, what comparing its halves gave.
    """

    table: pd.DataFrame
    reference: C
    candidate: C
    found: F


def compare_with_control(
    control: Path,
    latents: Path,
    *,
    read: Callable[[Path], C],
    describe: Callable[[C], pd.DataFrame],
    compare: Callable[[C, C], F],
    halves: Callable[[C], tuple[C, C]],
    describe_half: bool = False,
) -> Compared[C, F]:
    """Compare a system's latents with the control's.

    Of the control, one half is compared with the other: that is what no difference looks like at half the size.

    Parameters
    ----------
    control, latents
        The same file twice for the control itself.
    describe
        Rows of one collection by itself.
    compare
        (reference, candidate) -> rows, and more.
    halves
        (candidate, reference) of the control.
    describe_half
        Whether the half that stands for the candidate is described as well.
    """
    reference = read(control)
    if latents != control:
        candidate = read(latents)
        found = compare(reference, candidate)
        return Compared(_joined(describe(candidate), found.rows), reference, candidate, found)
    first, second = halves(reference)
    found = compare(second, first)
    half = _joined(describe(first), found.rows) if describe_half else found.rows
    whole = describe(reference).assign(system=CONTROL)
    return Compared(_joined(whole, half.assign(system=SPLIT_HALF)), reference, reference, found)


def _joined(*tables: pd.DataFrame) -> pd.DataFrame:
    return pd.concat(tables, ignore_index=True)
