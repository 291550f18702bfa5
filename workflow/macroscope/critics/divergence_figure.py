"""Figure of divergences, shared by the critics that estimate them; tables need no library of figures."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from macroscope.colours import BLUE, GREEN, VERMILION
from macroscope.critics.findings import Findings
from macroscope.critics.report_tables import DIVERGENCES, PLOTTED, list_plotted
from macroscope.options import CONTROL, READABLE_NAMES, SPLIT_HALF
from macroscope.plotting import add_legend, interval_bars, label_rows, save, style

MAX_ROWS = 40


def plot(findings: Findings) -> None:
    """Plot the divergences of a corpus's systems: the stage `overview` of critics without another figure."""
    save(plot_divergences(findings.statistics, findings.systems), findings.figure("divergences"))


def plot_divergences(statistics: pd.DataFrame, systems: list[str]) -> Figure:
    """Plot one panel per divergence with one row per system.

    Filled markers are bias-corrected estimates with intervals; hollow markers are plug-in values.

    Parameters
    ----------
    systems
        Names of the systems, the control first; those beyond `MAX_ROWS` are left out, and the figure notes it.
    """
    wanted = [SPLIT_HALF, *(system for system in systems if system != CONTROL)]
    measured = set(statistics.loc[statistics["statistic"].isin(PLOTTED) & statistics["value"].notna(), "system"])
    judged = [system for system in wanted if system in measured]
    shown, left_out = judged[:MAX_ROWS], len(judged) - len(judged[:MAX_ROWS])
    with style():
        figure, grid = plt.subplots(
            2, 3, figsize=(9.6, 1.8 + 2 * (0.6 + 0.26 * len(shown))), sharey=True, squeeze=False
        )
        plotted = list_plotted(statistics["statistic"], statistics["value"])
        for axes, name in zip(grid.flat, plotted, strict=False):
            _plot_panel(axes, statistics, shown, name)
        for axes in grid.flat[len(plotted) :]:
            axes.remove()
        for axes in grid[:, 0]:
            label_rows(axes, shown)
        add_legend(figure, left_out=left_out)
    return figure


def _plot_panel(axes: Axes, statistics: pd.DataFrame, systems: list[str], name: str) -> None:
    indexed = statistics.set_index(["system", "statistic"])
    labelled: set[str] = set()

    def label(text: str) -> str | None:
        is_repeated = text in labelled
        labelled.add(text)
        return None if is_repeated else text

    for y, system in enumerate(systems):
        if (system, name) not in indexed.index:
            continue
        plain = indexed.loc[(system, name)]
        corrected = (system, f"{name}_corrected") in indexed.index
        row = indexed.loc[(system, f"{name}_corrected")] if corrected else plain
        colour = GREEN if system == SPLIT_HALF else BLUE
        kind = READABLE_NAMES[SPLIT_HALF] if system == SPLIT_HALF else "system"
        if np.isfinite(row["value"]):
            error = interval_bars([row["value"]], [row["ci_low"]], [row["ci_high"]])
            axes.errorbar(row["value"], y, xerr=error, fmt="o", ms=4, capsize=2, color=colour, label=label(kind))
        if corrected and np.isfinite(plain["value"]):
            text = "as usually reported"
            axes.plot(plain["value"], y, marker="o", ms=6, mfc="none", mec=VERMILION, ls="", label=label(text))
    axes.set_xlabel(DIVERGENCES[name])
    axes.grid(axis="y", visible=False)
