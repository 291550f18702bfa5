"""Figure of the correlations of `probabilities`."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from macroscope.colours import COLOURS, GREY
from macroscope.plotting import add_legend, label_rows, style, title_panel

MARKERS = "os^Dv"


def plot_probabilities(table: pd.DataFrame, corpus: str) -> Figure:
    """Plot the correlations of every setting of a corpus: the mean over seeds with its standard deviation.

    A setting with one seed has the interval over its texts.
    """
    rows = table[table["corpus"] == corpus].drop_duplicates(["setting", "estimate"])
    is_repeated = rows["seeds"] > 1
    low = (rows["spearman"] - rows["ci_low"]).mask(is_repeated, rows["seed_sd"])
    high = (rows["ci_high"] - rows["spearman"]).mask(is_repeated, rows["seed_sd"])
    rows = rows.assign(low=low, high=high)
    estimates = list(rows["estimate"].unique())
    seeds = rows.groupby("setting", sort=False)["seeds"].max()
    settings = list(seeds.index)
    gap = min(0.24, 0.8 / len(estimates))
    with style():
        figure, axes = plt.subplots(figsize=(7.2, 1.2 + max(0.45, 0.15 * len(estimates)) * len(settings)))
        axes.axvline(0, color=GREY, lw=1)
        for number, critic in enumerate(estimates):
            group = rows[rows["estimate"] == critic]
            offset = gap * (number - (len(estimates) - 1) / 2)
            marker, colour = MARKERS[number % len(MARKERS)], COLOURS[number % len(COLOURS)]
            places = [settings.index(setting) + offset for setting in group["setting"]]
            axes.errorbar(
                group["seed_mean"],
                places,
                xerr=[group["low"], group["high"]],
                fmt=marker,
                color=colour,
                capsize=3,
                label=f"estimated by {critic}",
            )
        label_rows(axes, [name if n == 1 else f"{name} ({n} seeds)" for name, n in seeds.items()])
        axes.set(
            xlim=(-1.04, 1.04),
            xlabel="rank correlation with the model's own log-probability, over its texts",
        )
        title_panel(axes, f"{corpus}: estimated against true log-probabilities")
        add_legend(figure)
    return figure
