"""Figures of the clusters critic: divergences of all systems, also by number of clusters, and results of probing."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from macroscope.colours import COLOURS, GREY
from macroscope.critics.clusters.report import read_probing_tables
from macroscope.critics.divergence_figure import plot_divergences
from macroscope.critics.findings import Findings
from macroscope.critics.report_tables import DIVERGENCES, list_plotted
from macroscope.options import CONTROL
from macroscope.plotting import add_legend, interval_bars, save, style, title_panel
from macroscope.statistics.p_values import benjamini_hochberg
from macroscope.statistics.tidy import SIGNIFICANT

PROBES = {
    "label": "accuracy of the label",
    "stop_word_share": "R² of the share of stop words",
    "symbol_share": "R² of the share of symbols",
}
LEARNED_ON = {
    "own": ("-", "o", "its own train split"),
    "halves": ("-", "o", "all of its test split"),
    "reference": ("--", "s", "the reference"),
}


def plot_probing(table: pd.DataFrame, corpus: str) -> Figure:
    """Plot a panel per probe, and a line per encoder and training corpus of clusters, with intervals over test texts.

    Parameters
    ----------
    table
        Rows of `probing.COLUMNS` with the column `encoder`.
    """
    probes = [name for name in PROBES if name in set(table["probe"])]
    encoders = list(table["encoder"].unique())
    with style():
        figure, grid = plt.subplots(1, len(probes), figsize=(0.6 + 3.4 * len(probes), 3.6), squeeze=False)
        for axes, probe in zip(grid[0], probes, strict=True):
            results = table[table["probe"] == probe]
            for number, encoder in enumerate(encoders):
                for learned_on, (line, marker, description) in LEARNED_ON.items():
                    rows = results[(results["encoder"] == encoder) & (results["learned_on"] == learned_on)]
                    if rows.empty:
                        continue
                    axes.errorbar(
                        rows["clusters"],
                        rows["value"],
                        yerr=interval_bars(rows["value"], rows["ci_low"], rows["ci_high"]),
                        color=COLOURS[number % len(COLOURS)],
                        ls=line,
                        marker=marker,
                        ms=4,
                        capsize=2,
                        label=f"{encoder}, clusters of {description}",
                    )
            if probe == "label":
                axes.axhline(results["baseline"].iloc[0], color=GREY, ls=":", label="most common label")
            axes.set(xscale="log", xlabel="number of clusters", ylabel=PROBES[probe])
        title_panel(grid[0, 0], corpus)
        add_legend(figure)
    return figure


LINES = ("-", "--", ":")
HALVES = "real text against itself (half as many texts, so larger)"
MOST_LINES = len(COLOURS) * len(LINES)


def plot(findings: Findings) -> None:
    """Plot all figures."""
    if findings.systems:
        _plot_systems(findings)
    table = read_probing_tables(findings)
    if len(table):
        save(plot_probing(table, findings.corpus), findings.figure("probing"))


def _plot_systems(findings: Findings) -> None:
    save(plot_divergences(findings.statistics, findings.systems), findings.figure("divergences"))
    curves = read_curves(findings)
    if curves.groupby("system")["clusters"].nunique().max() > 1:
        save(plot_curves(curves), findings.figure("by_number"))


def read_curves(findings: Findings) -> pd.DataFrame:
    """Read the divergences by number of clusters of all systems; for the control, those between its halves.

    Column `p_adjusted` is adjusted over the numbers of clusters of one system and divergence.
    """
    tables = [
        table.assign(system=HALVES if system == CONTROL else system)
        for system, table in findings.tables("by_clusters.csv", MOST_LINES, control=True)
    ]
    curves = pd.concat(tables, ignore_index=True)
    family = curves["system"] + " " + curves["divergence"]
    return curves.assign(p_adjusted=curves["p_value"].groupby(family, sort=False).transform(benjamini_hochberg))


def plot_curves(curves: pd.DataFrame) -> Figure:
    """Plot divergences by number of clusters, a line per system, with intervals (Figures 4, 8, 9).

    Filled markers are significant.
    """
    systems, plotted = list(curves["system"].unique()), list_plotted(curves["divergence"], curves["value"])
    with style():
        figure, grid = plt.subplots(2, 3, figsize=(9.6, 5.6), sharex=True, squeeze=False)
        for axes, name in zip(grid.flat, plotted, strict=False):
            for number, system in enumerate(systems):
                curve = curves[(curves["system"] == system) & (curves["divergence"] == name)].sort_values("clusters")
                colour = COLOURS[number % len(COLOURS)]
                axes.errorbar(
                    curve["clusters"],
                    curve["value"],
                    yerr=interval_bars(curve["value"], curve["ci_low"], curve["ci_high"]),
                    color=colour,
                    ls=LINES[number // len(COLOURS)],
                    marker="o",
                    ms=4,
                    mfc="white",
                    capsize=2,
                    lw=1.2,
                    label=system,
                )
                significant = curve[curve["p_adjusted"] < SIGNIFICANT]
                axes.plot(
                    significant["clusters"], significant["value"], marker="o", ms=4, ls="", color=colour, zorder=3
                )
            axes.set(xscale="log", ylabel=DIVERGENCES[name])
            if (curves.loc[curves["divergence"] == name, "value"] > 0).all():
                axes.set_yscale("log")  # a very different system must not hide the differences among others
        for axes in grid.flat[len(plotted) :]:
            axes.remove()
        for axes in grid.flat[max(0, len(plotted) - grid.shape[1]) : len(plotted)]:  # with no panel below
            axes.tick_params(labelbottom=True)
            axes.set_xlabel("number of clusters")
        add_legend(figure)
    return figure
