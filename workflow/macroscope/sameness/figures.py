"""Figures of sameness: similarities within systems, beside real text's, and matrices of systems."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.cluster.hierarchy import dendrogram, linkage
from scipy.spatial.distance import squareform

from macroscope.colours import BLUE, GREY
from macroscope.plotting import (
    LONGEST_LABEL,
    REAL_TEXT_BAND,
    add_legend,
    interval_bars,
    label_rows,
    shorten,
    style,
    title_panel,
)

Array = NDArray[np.float64]
COLUMNS = 3
_MOST_NUMBERS = 10
"""Largest number of systems whose matrix has its numbers in the cells."""


def plot_estimates(
    table: pd.DataFrame, systems: Sequence[str], views: Sequence[str], real: pd.DataFrame | None, zero: str = ""
) -> Figure:
    """Plot a value with its interval per system: a panel per view.

    Parameters
    ----------
    table
        Columns system, view, value, ci_low, ci_high.
    systems
        Systems from top to bottom.
    real
        The same columns of real texts, whose intervals are bands; None for none.
    zero
        Label of a line at zero; "" for none.
    """
    rows = -(-len(views) // COLUMNS)
    height = 0.9 + 0.22 * len(systems)
    with style():
        figure, grid = plt.subplots(
            rows, min(COLUMNS, len(views)), sharey=True, squeeze=False, figsize=(10.5, rows * height)
        )
        for axes in grid.flat[len(views) :]:
            axes.set_visible(False)
        for axes, view in zip(grid.flat, views, strict=False):
            if real is not None:
                for row in real[real["view"] == view].itertuples():
                    axes.axvspan(row.ci_low, row.ci_high, **REAL_TEXT_BAND, label="real texts")
            _plot_points(axes, table[table["view"] == view].set_index("system"), systems)
            if zero:
                axes.axvline(0, color=GREY, lw=1, label=zero)
            label_rows(axes, systems)
            title_panel(axes, view.replace("_", " "))
            axes.locator_params(axis="x", nbins=5)
        add_legend(figure)
    return figure


def plot_matrix(values: Array, distances: Array, systems: Sequence[str], label: str) -> Figure:
    """Plot a matrix of systems, similar ones together, with the tree of their distances.

    Parameters
    ----------
    values
        Systems x systems; NaN for missing ones.
    distances
        Squared distances of the systems, for the order and the tree.
    label
        Name of the values.
    """
    tree, order = _make_tree(distances)
    names = [systems[k] for k in order]
    size = len(names)
    with style():
        figure, (axes, beside) = plt.subplots(
            1, 2, figsize=(4.2 + 0.3 * size, 2.0 + 0.27 * size), width_ratios=(size + 2, 3 + size / 8)
        )
        shown = values[np.ix_(order, order)]
        colours = plt.get_cmap("cividis").with_extremes(bad="#EFEFEF")
        image = axes.imshow(np.ma.masked_invalid(shown), cmap=colours, aspect="auto")
        if size <= _MOST_NUMBERS:
            _write_cells(axes, shown)
        axes.set_xticks(range(size), shorten(names, LONGEST_LABEL), rotation=90, fontsize=8)
        axes.set_yticks(range(size), shorten(names, LONGEST_LABEL), fontsize=8)
        axes.grid(False)
        axes.tick_params(length=0)
        _plot_tree(beside, tree, size)
        figure.colorbar(image, ax=beside, label=label, shrink=0.8)
    return figure


def _plot_points(axes: Axes, rows: pd.DataFrame, systems: Sequence[str]) -> None:
    rows = rows.reindex(systems)
    bars = interval_bars(rows["value"], rows["ci_low"], rows["ci_high"])
    axes.errorbar(rows["value"], np.arange(len(systems)), xerr=bars, fmt="o", color=BLUE, ms=4, lw=1.2, label="system")


def _make_tree(distances: Array) -> tuple[Array, list[int]]:
    """Return the tree of the systems (average linkage), with near leaves beside each other, and their order."""
    condensed = squareform(np.sqrt(np.maximum(distances, 0)), checks=False)
    tree = linkage(condensed, "average", optimal_ordering=True)
    return tree, dendrogram(tree, no_plot=True)["leaves"]


def _plot_tree(axes: Axes, tree: Array, size: int) -> None:
    drawn = dendrogram(tree, no_plot=True)
    for places, heights in zip(drawn["icoord"], drawn["dcoord"], strict=True):
        axes.plot(heights, (np.array(places) - 5) / 10, color=GREY, lw=1.2)
    axes.set_ylim(size - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.set_axis_off()


def _write_cells(axes: Axes, values: Array) -> None:
    middle = (np.nanmin(values) + np.nanmax(values)) / 2
    for row, column in np.ndindex(values.shape):
        value = values[row, column]
        if not np.isnan(value):
            colour = "black" if value > middle else "white"
            axes.text(column, row, f"{value:.2g}", ha="center", va="center", fontsize=8, color=colour)
