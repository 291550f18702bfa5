"""`macroscope.timeline`: numbers of several runs or results in their order, and the first change beyond chance."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TypeAlias

import pandas as pd
from matplotlib.figure import Figure

from macroscope.api.arguments import checked
from macroscope.api.result import Comparison
from macroscope.timelines.changes import Change, describe_first_change, find_first_change, make_table, shown_table
from macroscope.timelines.figure import plot_timeline
from macroscope.timelines.points import read_points

GivenRun: TypeAlias = str | Path | Comparison


class Timeline:
    """Numbers of several runs in their order.

    Printed, it is a table with a row per point, and a sentence about the first change; a notebook shows it as a table.

    Attributes
    ----------
    table
        A row per number and point, with its interval, and its differences from the previous and the first point:
        columns `timelines.changes.COLUMNS`.
    """

    def __init__(self, table: pd.DataFrame, confidence: float) -> None:
        self.table, self._confidence = table, confidence

    @cached_property
    def first_change(self) -> Change | None:
        """The first change that is beyond chance; None if there is none."""
        return find_first_change(self.table)

    def plot(self) -> Figure:
        """Plot the numbers over the points, with their intervals; the first change is marked."""
        return plot_timeline(self.table, self.first_change, 100 * self._confidence)

    def __repr__(self) -> str:
        return f"{shown_table(self.table).to_string()}\n\n{describe_first_change(self.table)}"

    def _repr_html_(self) -> str:
        return f"{shown_table(self.table).to_html()}<p>{escape(describe_first_change(self.table))}</p>"


@checked
def timeline(
    runs: GivenRun | Iterable[GivenRun] | Mapping[str, GivenRun],
    *,
    critics: str | Iterable[str] = (),
    statistics: str | Iterable[str] = (),
) -> Timeline:
    """Compare numbers of several runs in their order, such as checkpoints of a training.

    Parameters
    ----------
    runs
        Folder of a finished run, FOLDER:SYSTEM, or a result of `compare`; several of these in their order; or name ->
        run. All systems of a run without a name are points, in the order of the candidates.
    critics, statistics
        Name or pattern to include, or several; default: the detectability by every critic.

    Returns
    -------
    Timeline
        Its `table` is a data frame, its `first_change` the first that is beyond chance, and `plot()` its figure.

    Raises
    ------
    MacroscopeError
        If there is no finished run, or two of them cannot be compared.

    Examples
    --------
    >>> macroscope.timeline({"step 100": first, "step 200": second}).first_change  # doctest: +SKIP
    """
    several = [runs] if isinstance(runs, str | Path | Comparison) else runs
    named = several.items() if isinstance(several, Mapping) else [("", run) for run in several]
    arguments = [(f"{name}=" if name else "") + _path(run) for name, run in named]
    points = read_points(arguments)
    names, of_statistics = ([given] if isinstance(given, str) else list(given) for given in (critics, statistics))
    return Timeline(make_table(points, names, of_statistics), points[0].run.confidence)


def _path(run: GivenRun) -> str:
    return str(run.folder if isinstance(run, Comparison) else run)
