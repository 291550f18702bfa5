"""Figures of the course of the texts: curves by tenth with their bands, a panel per critic and measure."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from macroscope.colours import BLUE, GREEN
from macroscope.plotting import REAL_TEXT_BAND, add_legend, style, title_panel
from macroscope.reporting.course import INTERVAL, read_measures
from macroscope.statistics.courses import TENTHS
from macroscope.statistics.tidy import SIGNIFICANT

_PANELS = 3
"""Largest number of panels of a figure that are side by side."""


def plot_courses(rows: pd.DataFrame, system: str, confidence: float) -> Figure:
    """Plot the curves of a system beside those of real texts, each with its simultaneous band.

    Parameters
    ----------
    rows
        Rows of `course_table` of the system.
    confidence
        Level of the bands in percent.
    """
    groups = list(rows.groupby(["critic", "measure"], sort=False))
    columns = min(_PANELS, len(groups))
    lines = -(-len(groups) // columns)
    with style():
        size = (0.6 + 2.5 * columns, 0.7 + 2.3 * lines)
        figure, grid = plt.subplots(lines, columns, figsize=size, squeeze=False, sharex="col")
        for axes, ((critic, measure), curve) in zip(grid.flat, groups, strict=False):
            title, reading = read_measures(critic)[measure]
            _plot_curve(axes, curve, reading.unit == "%", system)
            title_panel(axes, f"{critic}: {title}, {reading.unit}")
            axes.tick_params(labelbottom=True)
        for axes in grid.flat[len(groups) :]:
            axes.set_axis_off()
        for axes in grid.flat[max(0, len(groups) - columns) :]:
            axes.set_xlabel(f"tenth ({confidence:g} % bands)")
        add_legend(figure)
    return figure


def _plot_curve(axes: Axes, curve: pd.DataFrame, is_share: bool, system: str) -> None:
    factor = 100 if is_share else 1
    tenths = curve["tenth"].to_numpy()
    for names, colour, label in (
        (("real", "real_low", "real_high"), GREEN, "real text"),
        (INTERVAL, BLUE, system),
    ):
        value, low, high = (factor * curve[name].to_numpy(float) for name in names)
        low, high = (low.clip(min=0), high.clip(max=100)) if is_share else (low, high)
        axes.fill_between(tenths, low, high, **{**REAL_TEXT_BAND, "color": colour})
        axes.plot(tenths, value, color=colour, lw=1.5, label=label)
    differs = curve[curve["p_adjusted"] < SIGNIFICANT]
    label = "changes otherwise than real text"
    axes.plot(differs["tenth"], factor * differs["value"], "o", color=BLUE, ms=5, label=label)
    axes.set_xticks(range(2, TENTHS + 1, 2))
