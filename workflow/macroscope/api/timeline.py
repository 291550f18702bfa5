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
    runs: Iterable[GivenRun] | Mapping[str, GivenRun],
    *,
    critics: Iterable[str] = (),
    statistics: Iterable[str] = (),
) -> Timeline:
    """Compare numbers of several runs in their order, such as checkpoints of a training.

    Parameters
    ----------
    runs
        Folders of finished runs, FOLDER:SYSTEM, or results of `compare`, in their order; or name -> run. All systems of
        a run without a name are points.
    critics, statistics
        Names or patterns to include; default: the detectability by every critic.

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
    named = runs.items() if isinstance(runs, Mapping) else [("", run) for run in runs]
    arguments = [(f"{name}=" if name else "") + _path(run) for name, run in named]
    points = read_points(arguments)
    return Timeline(make_table(points, list(critics), list(statistics)), points[0].run.confidence)


def _path(run: GivenRun) -> str:
    return str(run.folder if isinstance(run, Comparison) else run)
