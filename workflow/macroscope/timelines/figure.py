"""The figure of a timeline: a panel per statistic, a line with intervals per critic over the points."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from macroscope.colours import BLACK, COLOURS, GREY
from macroscope.plotting import add_legend, interval_bars, shorten, style, title_panel
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC
from macroscope.timelines.changes import Change

MARKERS = "os^Dvp*hX"
_LABELS = 2
"""Smallest gap between two labels, as the number of such gaps per point that fit the axis."""
_DODGE = 0.012
"""Distance of the points of two critics at one position, as a share of the axis."""
_TITLES = {C2ST_AUC: "detectability"}
"""Statistic -> title of its panel; default: its name."""
_LONGEST = 16
"""Width of a point's label, in columns of text."""


def plot_timeline(table: pd.DataFrame, change: Change | None, confidence: float) -> Figure:
    """Plot the numbers of a timeline over its points.

    Parameters
    ----------
    table
        As `changes.make_table` returns it.
    change
        First change that is beyond chance: a line marks its point.
    confidence
        Level of the intervals in percent.
    """
    table = table.assign(position=table["point"].map(_place_points(table)))
    panels = list(table[["corpus", "statistic"]].drop_duplicates().itertuples(index=False, name=None))
    critics = list(table["critic"].unique())
    points = table.drop_duplicates("point")
    with style():
        size = (max(4.8, 1.6 + 0.55 * len(points)), 1.0 + 2.6 * len(panels))
        figure, grid = plt.subplots(len(panels), 1, figsize=size, sharex=True, squeeze=False)
        for axes, (corpus, statistic) in zip(grid[:, 0], panels, strict=True):
            rows = table[(table["corpus"] == corpus) & (table["statistic"] == statistic)]
            _plot_panel(axes, rows, critics)
            name = _TITLES.get(statistic, statistic)
            title_panel(axes, f"{name} on {corpus}" if table["corpus"].nunique() > 1 else name)
            if change is not None:
                at = float(points.loc[points["point"] == change.point, "position"].iloc[0])
                axes.axvline(at, color=BLACK, ls=":", lw=1, label="first change beyond chance")
        axes.set_xticks(points["position"], shorten(list(points["point"]), _LONGEST), rotation=30, ha="right")
        axes.set_xlabel(f"{confidence:g} % intervals", fontsize=9)
        add_legend(figure)
    return figure


def _place_points(table: pd.DataFrame) -> dict[str, float]:
    """Return point -> position: that of the table, or the point's rank if labels would be on top of each other."""
    positions = table.drop_duplicates("point").set_index("point")["position"].astype(float)
    gaps = np.diff(positions)
    is_crowded = len(gaps) > 0 and gaps.min() < gaps.sum() / (_LABELS * len(positions))
    return {name: float(rank if is_crowded else at) for rank, (name, at) in enumerate(positions.items())}


def _plot_panel(axes: Axes, rows: pd.DataFrame, critics: list[str]) -> None:
    """Plot the lines of the critics that have the statistic."""
    span = float(np.ptp(rows["position"])) or 1.0
    for number, critic in enumerate(critics):
        line = rows[rows["critic"] == critic]
        if line["value"].isna().all():
            continue
        axes.errorbar(
            line["position"] + (number - (len(critics) - 1) / 2) * _DODGE * span,
            line["value"],
            yerr=interval_bars(line["value"], line["ci_low"], line["ci_high"]),
            marker=MARKERS[number % len(MARKERS)],
            color=COLOURS[number % len(COLOURS)],
            capsize=2,
            lw=1,
            ms=4,
            label=critic,
        )
    if set(rows["statistic"]) == {C2ST_AUC}:
        axes.axhline(0.5, color=GREY, lw=1, label="chance")
