"""Figures of sensitivity: a heat map of the documents for 80 % power, and curves of power by dose."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure

from macroscope.colours import BLUE, GREY, VERMILION
from macroscope.plotting import save, style
from macroscope.reporting.sensitivity_summary import at_usual_size, format_n80, words
from macroscope.statistics.power import DESIGNS, LEVEL
from macroscope.systems.perturbation.declaration import DAMAGES, LEVELS

_LINES = {"paired": (BLUE, "o", "-"), "unpaired": (VERMILION, "s", "--")}
"""Design -> colour, marker and line of its curve: they differ in more than the colour."""
_BOUNDS = [0, 20, 50, 100, 200, 500, 1001]


def order_damages(names: Sequence[str]) -> list[str]:
    """Return damages by level, the harmless ones last."""
    return sorted(names, key=lambda name: (DAMAGES[name].is_harmless, LEVELS.index(DAMAGES[name].level)))


def plot_heat_map(n80: pd.DataFrame, critics: Sequence[str], doses: Sequence[float], stem: Path) -> None:
    """Plot the documents for 80 % power: damages x critics and doses, with the numbers in the cells."""
    damages = order_damages(list(n80["damage"].unique()))
    columns = [(critic, dose) for critic in critics for dose in doses]
    values = n80.set_index(["damage", "critic", "dose"])["n80"]
    grid = np.array([[values.get((damage, *column), np.nan) for column in columns] for damage in damages])
    with style():
        figure, axes = plt.subplots(figsize=(2.6 + 0.52 * len(columns), 0.8 + 0.27 * len(damages)))
        colours = plt.get_cmap("cividis_r", len(_BOUNDS) - 1).with_extremes(bad="#EFEFEF")
        shown = np.ma.masked_invalid(grid)
        axes.imshow(shown, cmap=colours, norm=BoundaryNorm(_BOUNDS, len(_BOUNDS) - 1), aspect="auto")
        for row, column in np.ndindex(grid.shape):
            _write_cell(axes, row, column, float(grid[row, column]), n80["n_smallest"].min())
        axes.set_yticks(range(len(damages)), [words(name) for name in damages])
        axes.set_xticks(range(len(columns)), [f"{dose:.0%}" for _, dose in columns], fontsize=8)
        axes.xaxis.tick_top()
        for number, critic in enumerate(critics):
            centre = (number + 0.5) * len(doses) - 0.5
            axes.text(centre, -1.5, critic, ha="center", va="bottom", fontsize=9, fontweight="bold")
            axes.axvline((number + 1) * len(doses) - 0.5, color="white", lw=3)
        first_harmless = sum(not DAMAGES[name].is_harmless for name in damages)
        axes.axhline(first_harmless - 0.5, color="black", lw=1)
        axes.grid(False)
        axes.tick_params(length=0)
        save(figure, stem)


def _write_cell(axes: plt.Axes, row: int, column: int, value: float, smallest: float) -> None:
    if np.isnan(value):
        return
    is_dark = 100 <= value < np.inf
    axes.text(
        column,
        row,
        format_n80(value, smallest),
        ha="center",
        va="center",
        fontsize=8,
        color="white" if is_dark else "black",
    )


def plot_curves(powers: pd.DataFrame, critic: str, stem: Path) -> None:
    """Plot power by dose at the usual size for one critic: a small panel per damage."""
    usual = at_usual_size(powers)
    usual = usual[usual["critic"] == critic]
    damages = order_damages([name for name in usual["damage"].unique() if name in DAMAGES])
    columns = min(6, len(damages))
    rows = -(-len(damages) // columns)
    with style():
        figure, grid = plt.subplots(
            rows, columns, sharex=True, sharey=True, squeeze=False, figsize=(1.75 * columns, 1.45 * rows + 0.5)
        )
        for axes in grid.flat[len(damages) :]:
            axes.set_visible(False)
        for axes, damage in zip(grid.flat, damages, strict=False):
            _plot_panel(axes, usual[usual["damage"] == damage], damage)
        for axes in grid[:, 0]:
            axes.set_ylabel("power", fontsize=8)
        for axes in grid.flat[max(0, len(damages) - columns) : len(damages)]:
            axes.tick_params(labelbottom=True)
        _add_legend(figure, usual)
        save(figure, stem)


def _plot_panel(axes: plt.Axes, rows: pd.DataFrame, damage: str) -> None:
    for design in DESIGNS:
        colour, marker, line = _LINES[design]
        curve = rows[rows["design"] == design].sort_values("dose")
        doses = np.array([0.0, *curve["dose"]])
        axes.fill_between(doses, [LEVEL, *curve["ci_low"]], [LEVEL, *curve["ci_high"]], color=colour, alpha=0.15, lw=0)
        axes.plot(doses, [LEVEL, *curve["power"]], line, color=colour, marker=marker, ms=3.5, lw=1.3)
    axes.axhline(0.8, color=GREY, lw=0.8, ls=":")
    axes.set_ylim(-0.03, 1.03)
    axes.set_yticks([0, 0.5, 1], ["0", ".5", "1"], fontsize=8)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.tick_params(axis="x", labelsize=8)
    harmless = "\n(harmless)" if DAMAGES[damage].is_harmless else ""
    axes.set_title(words(damage) + harmless, fontsize=8)


def _add_legend(figure: Figure, usual: pd.DataFrame) -> None:
    handles, labels = [], []
    for design, (colour, marker, line) in _LINES.items():
        sizes = usual.loc[usual["design"] == design, "n"]
        if len(sizes):
            handles.append(plt.Line2D([], [], color=colour, marker=marker, ls=line, ms=4))
            which = "the same documents" if design == "paired" else "other documents"
            labels.append(f"{design}: damaged against real text, {which}, {sizes.iloc[0]} per side")
    handles.append(plt.Line2D([], [], color=GREY, ls=":", lw=0.8))
    labels.append("80 %")
    figure.legend(handles, labels, loc="outside lower left", ncols=1, fontsize=8)
