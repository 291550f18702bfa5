"""Figure of probing results: accuracy and R^2 by number of clusters (pimentel2022 Figures 3, 5 and 7)."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from macroscope.colours import COLOURS, GREY
from macroscope.plotting import add_legend, interval_bars, style, title_panel

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
