"""Figures of the narrative critic: ROC curves of the detectors, and rates of detection per system."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from macroscope.colours import BLUE, COLOURS, GREY, VERMILION
from macroscope.critics.divergence_figure import plot_divergences
from macroscope.critics.findings import Findings
from macroscope.critics.narrative.latents import METRICS, ROC
from macroscope.critics.narrative.operating_point import read_operating_points
from macroscope.critics.narrative.report import list_detector_folders
from macroscope.options import CONTROL
from macroscope.plotting import add_legend, interval_bars, label_rows, save, style
from macroscope.tables import read_csv

MOST_ROWS = 40
LINES = ("-", "--", "-.", ":")
X_LABELS = {
    "missing": "slots where a sentence seems to be missing",
    "discordant": "sentences that seem to be out of place",
}


def plot(findings: Findings) -> None:
    """Plot the ROC curves, the rates of detection, and the divergences."""
    save(plot_roc(list_detector_folders(findings)), findings.figure("roc"))
    points = read_operating_points(findings.folder / "inference")
    save(plot_rates(findings.statistics, findings.systems, list(points)), findings.figure("rates"))
    save(plot_divergences(findings.statistics, findings.systems), findings.figure("divergences"))


def plot_roc(folders: dict[str, dict[str, Path]]) -> Figure:
    """Plot ROC curves on the test split: a panel per task, a line per detector."""
    with style():
        figure, grid = plt.subplots(1, len(folders), figsize=(4.2 * len(folders), 3.9), squeeze=False)
        for axes, (task, detectors) in zip(grid[0], folders.items(), strict=True):
            for number, (name, folder) in enumerate(detectors.items()):
                curve = read_csv(folder / ROC)
                metrics = read_csv(folder / METRICS).set_index(["of", "metric"])
                area, low, high = metrics.loc[("detector", "auc"), ["value", "ci_low", "ci_high"]]
                axes.plot(
                    curve["false_positive_rate"],
                    curve["true_positive_rate"],
                    ls=LINES[number % len(LINES)],
                    color=COLOURS[number % len(COLOURS)],
                    label=f"{task}, {name}: AUC {area:.2f} [{low:.2f}, {high:.2f}]",
                )
            axes.plot([0, 1], [0, 1], color=GREY, lw=0.8, ls=":")
            axes.set(xlabel="false positive rate", ylabel="true positive rate", title=f"{task} sentences")
            axes.set_aspect("equal")
        add_legend(figure)
    return figure


def plot_rates(statistics: pd.DataFrame, systems: list[str], tasks: list[str]) -> Figure:
    """Plot the share of places that are detected, with intervals: a panel per task, a row per system."""
    shown = systems[: MOST_ROWS + 1]
    indexed = statistics.set_index(["system", "statistic"])
    with style():
        figure, grid = plt.subplots(
            1,
            len(tasks),
            figsize=(4.8 * len(tasks), 1.1 + 0.3 * len(shown)),
            sharey=True,
            squeeze=False,
        )
        for axes, task in zip(grid[0], tasks, strict=True):
            _plot_rates(axes, indexed, shown, f"{task}_share")
            axes.set_xlabel(f"{X_LABELS[task]}, %")
        label_rows(grid[0, 0], shown)
        add_legend(figure, left_out=len(systems) - len(shown))
    return figure


def _plot_rates(axes: Axes, indexed: pd.DataFrame, systems: list[str], name: str) -> None:
    for y, system in enumerate(systems):
        if (system, name) not in indexed.index:
            continue
        row = indexed.loc[(system, name)]
        value, low, high = (100 * float(row[column]) for column in ("value", "ci_low", "ci_high"))
        if not np.isfinite(value):
            continue
        error = interval_bars([value], [low], [high])
        differs = row["p_adjusted"] < 0.05
        colour = GREY if system == CONTROL else VERMILION if differs else BLUE
        axes.errorbar(value, y, xerr=error, fmt="s" if differs else "o", ms=5, capsize=2, color=colour)
        if system == CONTROL:
            axes.axvline(value, color=GREY, lw=0.8, ls="--")
    axes.grid(axis="y", visible=False)
