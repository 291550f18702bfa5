"""All systems of a corpus side by side: divergences, and how they depend on the number of clusters."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from macroscope.colours import COLOURS
from macroscope.critics.clusters.probing_figure import probing_figure
from macroscope.critics.divergence_report import DIVERGENCES, DRAWN, divergence_figure
from macroscope.critics.findings import Findings
from macroscope.options import CONTROL
from macroscope.plotting import save, style
from macroscope.statistics.p_values import benjamini_hochberg
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.tables import read_csv

LINES = ("-", "--", ":")
HALVES = "real text, half against half\n(half as many texts, so larger)"
MOST_LINES = len(COLOURS) * len(LINES)


def draw(findings: Findings) -> None:
    """Draw all figures."""
    if findings.systems:
        _draw_systems(findings)
    table = probed(findings)
    if len(table):
        save(probing_figure(table, findings.corpus), findings.figure("probing"))


def probed(findings: Findings) -> pd.DataFrame:
    """What the clusters of the corpus know, with every encoder; empty where that was not asked."""
    asked = next((asked for asked in findings.options.probing if asked.corpus == findings.corpus), None)
    folder = findings.folder / "probing"
    tables = [read_csv(folder / f"{name}.csv").assign(encoder=name) for name in (asked.encoders if asked else ())]
    if not tables:
        return pd.DataFrame()
    table = pd.concat(tables, ignore_index=True)
    return table[["encoder", *(column for column in table if column != "encoder")]]


def _draw_systems(findings: Findings) -> None:
    save(divergence_figure(findings.statistics, findings.systems), findings.figure("divergences"))
    curves = read_curves(findings)
    if curves.groupby("system")["clusters"].nunique().max() > 1:
        save(curve_figure(curves), findings.figure("by_number"))


def read_curves(findings: Findings) -> pd.DataFrame:
    """Divergences by number of clusters of all systems; of the control, those between its halves.

    A column `p_adjusted` takes the numbers of clusters of one divergence as a family.
    """
    tables = [
        table.assign(system=HALVES if system == CONTROL else system)
        for system, table in findings.tables("by_clusters.csv", MOST_LINES, control=True)
    ]
    curves = pd.concat(tables, ignore_index=True)
    family = curves["system"] + " " + curves["divergence"]
    return curves.assign(p_adjusted=curves["p_value"].groupby(family, sort=False).transform(benjamini_hochberg))


def curve_figure(curves: pd.DataFrame) -> Figure:
    """Divergence against number of clusters, a line a system, with intervals (Figures 4, 8, 9); filled: significant."""
    systems = list(curves["system"].unique())
    with style():
        figure, grid = plt.subplots(2, 3, figsize=(9.6, 5.6), sharex=True, squeeze=False)
        for axes, name in zip(grid.flat, DRAWN, strict=False):
            for number, system in enumerate(systems):
                some = curves[(curves["system"] == system) & (curves["divergence"] == name)].sort_values("clusters")
                colour = COLOURS[number % len(COLOURS)]
                bars = np.array([some["value"] - some["ci_low"], some["ci_high"] - some["value"]])
                axes.errorbar(
                    some["clusters"],
                    some["value"],
                    yerr=np.nan_to_num(np.maximum(bars, 0)),
                    color=colour,
                    ls=LINES[number // len(COLOURS)],
                    marker="o",
                    ms=4,
                    mfc="white",
                    capsize=2,
                    lw=1.2,
                    label=system,
                )
                clear = some[some["p_adjusted"] < SIGNIFICANT]
                axes.plot(clear["clusters"], clear["value"], marker="o", ms=4, ls="", color=colour, zorder=3)
            axes.set(xscale="log", ylabel=DIVERGENCES[name])
            if (curves.loc[curves["divergence"] == name, "value"] > 0).all():
                axes.set_yscale("log")  # a system that is far off must not hide the differences among the others
        grid.flat[-1].remove()
        grid[0, 2].tick_params(labelbottom=True)
        figure.supxlabel("number of clusters", fontsize=10)
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="lower right", bbox_to_anchor=(0.99, 0.08), fontsize=8, ncols=1 + len(labels) // 10
        )
    return figure
