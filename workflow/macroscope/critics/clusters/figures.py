"""All systems of a corpus side by side: divergences, and how they depend on the number of clusters."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from macroscope.colours import COLOURS
from macroscope.config.options import CONTROL
from macroscope.critics.clusters.probing_figure import probing_figure
from macroscope.critics.divergence_report import DIVERGENCES, DRAWN, divergence_figure
from macroscope.critics.findings import Findings
from macroscope.plotting import save, style

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
    tables = [pd.read_csv(folder / f"{name}.csv").assign(encoder=name) for name in (asked.encoders if asked else ())]
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
    """Divergences by number of clusters of all systems; of the control, those between its halves."""
    tables = [
        table.assign(system=HALVES if system == CONTROL else system)
        for system, table in findings.tables("by_clusters.csv", MOST_LINES, control=True)
    ]
    return pd.concat(tables, ignore_index=True)


def curve_figure(curves: pd.DataFrame) -> Figure:
    """Divergence against number of clusters, a line a system, with the spread over the seeds (Figures 4, 8, 9)."""
    systems = list(curves["system"].unique())
    with style():
        figure, grid = plt.subplots(2, 3, figsize=(9.6, 5.6), sharex=True, squeeze=False)
        for axes, name in zip(grid.flat, DRAWN, strict=False):
            for number, system in enumerate(systems):
                some = curves[(curves["system"] == system) & (curves["divergence"] == name)].sort_values("clusters")
                axes.errorbar(
                    some["clusters"],
                    some["value"],
                    yerr=some["seed_sd"].fillna(0),
                    color=COLOURS[number % len(COLOURS)],
                    ls=LINES[number // len(COLOURS)],
                    marker="o",
                    ms=3,
                    capsize=2,
                    lw=1.2,
                    label=system,
                )
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
