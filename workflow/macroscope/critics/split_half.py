"""Comparison of a system with the control, and of the control's two halves with each other."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import pandas as pd

from macroscope.options import CONTROL, SPLIT_HALF

C = TypeVar("C")


class HasRows(Protocol):
    """Result of a critic's comparison: rows of `statistics.tidy.ROWS`, and whatever its evidence needs."""

    @property
    def rows(self) -> pd.DataFrame:
        """Return the statistics of the candidate against the reference."""


F = TypeVar("F", bound=HasRows)


@dataclass(frozen=True)
class ControlComparison(Generic[C, F]):
    """Comparison of a system's collection with the control's.

    Attributes
    ----------
    table
        All rows; those of the control's halves have the system `SPLIT_HALF`.
    reference, candidate
        The two collections; for the control itself, the whole of it twice.
    result
        Result of `compare` for the two collections; for the control itself, for its halves.
    """

    table: pd.DataFrame
    reference: C
    candidate: C
    result: F


def compare_with_control(
    control: Path,
    latents: Path,
    *,
    read: Callable[[Path], C],
    describe: Callable[[C], pd.DataFrame],
    compare: Callable[[C, C], F],
    halves: Callable[[C], tuple[C, C]],
    describe_half: bool = False,
) -> ControlComparison[C, F]:
    """Compare a system's latents with the control's.

    For the control itself, one half is compared with the other: this shows the statistics' values without any
    difference, at half the size.

    Parameters
    ----------
    control, latents
        Paths of the latents; the same path twice for the control itself.
    read
        Function that reads latents.
    describe
        Function that returns the rows of a single collection.
    compare
        (reference, candidate) -> rows of their comparison, and what the evidence needs.
    halves
        Function that splits the control into (candidate, reference).
    describe_half
        Whether the half in the role of the candidate is described as well.
    """
    reference = read(control)
    if latents != control:
        candidate = read(latents)
        result = compare(reference, candidate)
        return ControlComparison(_concatenate(describe(candidate), result.rows), reference, candidate, result)
    candidate_half, reference_half = halves(reference)
    result = compare(reference_half, candidate_half)
    half = _concatenate(describe(candidate_half), result.rows) if describe_half else result.rows
    whole = describe(reference).assign(system=CONTROL)
    return ControlComparison(_concatenate(whole, half.assign(system=SPLIT_HALF)), reference, reference, result)


def _concatenate(*tables: pd.DataFrame) -> pd.DataFrame:
    return pd.concat(tables, ignore_index=True)
