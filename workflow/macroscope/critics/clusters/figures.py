"""All systems of a corpus side by side: divergences, and how they depend on the number of clusters."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from macroscope.colours import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, YELLOW
from macroscope.critics.divergence_report import CONTROL, DIVERGENCES, DRAWN, divergence_figure
from macroscope.plotting import save, style

COLOURS = (BLUE, VERMILION, GREEN, ORANGE, SKY, PURPLE, BLACK, GREY, YELLOW)
LINES = ("-", "--", ":")
HALVES = "real text, half against half\n(half as many texts, so larger)"
MOST_LINES = len(COLOURS) * len(LINES)


def draw(folder: Path, systems: list[str], statistics: pd.DataFrame, output: Path) -> None:
    """Draw all figures into the folder `output`, as SVG and PDF, named clusters_<figure>_<corpus>."""
    save(divergence_figure(statistics, systems), output / f"clusters_divergences_{folder.name}")
    curves = read_curves(folder, systems)
    if curves.groupby("system")["clusters"].nunique().max() > 1:
        save(curve_figure(curves), output / f"clusters_by_number_{folder.name}")


def read_curves(folder: Path, systems: list[str]) -> pd.DataFrame:
    """Divergences by number of clusters of all systems; of the control, those between its halves."""
    tables = [
        pd.read_csv(folder / "evidence" / system / "by_clusters.csv").assign(
            system=HALVES if system == CONTROL else system
        )
        for system in systems[: MOST_LINES + 1]
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
