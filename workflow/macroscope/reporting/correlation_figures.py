"""Figures of correlations: of statistics with people (pimentel2022), of log-probabilities; and people's mean scores."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from macroscope.colours import BLUE, COLOURS, GREY, VERMILION
from macroscope.plotting import add_legend, interval_bars, label_rows, style, title_panel
from macroscope.statistics.correlation import critical_spearman
from macroscope.statistics.tidy import SIGNIFICANT

MOST_ROWS = 40
PANELS_ABREAST = 3
BAND = "#D6D6D6"
SIGNS = ((-1, BLUE, "o", "smaller value, better score"), (1, VERMILION, "^", "larger value, better score"))


def plot_correlations(rows: pd.DataFrame, statistics: int, title: str, confidence: float) -> Figure:
    """Plot |Spearman| of every statistic with its interval, grouped by critic, one panel per question (Figures 2, 6).

    Parameters
    ----------
    rows
        Correlations to plot, as in `statistics.system_ratings`; beyond `MOST_ROWS` statistics those with the smallest
        correlations are omitted, and the figure says so.
    statistics
        Number of statistics in the table, plotted or not.
    title
        Title of the figure.
    confidence
        Level of the intervals in percent.
    """
    questions = list(dict.fromkeys(rows["question"]))
    order = _order(rows)
    heights, labels = _heights(order)
    columns = min(len(questions), PANELS_ABREAST)
    down = -(-len(questions) // columns)
    with style():
        size = (3.0 + 2.5 * columns, 1.4 + down * (1.0 + 0.24 * len(labels)))
        figure, grid = plt.subplots(down, columns, figsize=size, sharey=True, squeeze=False)
        for axes, question in zip(grid.flat, questions, strict=False):
            panel_rows = rows[rows["question"] == question]
            _plot_panel(axes, panel_rows, heights)
            chance = _describe_chance(sorted(set(panel_rows["systems"])))
            axes.set_xlabel(f"|Spearman|, {confidence:g} % interval\n{chance}", fontsize=9)
            title_panel(axes, question)
        for axes in grid.flat[len(questions) :]:
            axes.remove()
        for axes in grid[:, 0]:
            label_rows(axes, labels)
            for y, tick in enumerate(axes.get_yticklabels()):
                tick.set_fontweight("normal" if y in heights.values() else "bold")
        shown = f"{len(order)} of {statistics} statistics, all in tables/human_correlations.csv"
        figure.suptitle(f"{title}\n{shown}", x=0.01, ha="left", fontsize=11)
        seeds = bool(rows["spearman_seed_sd"].notna().any())
        add_legend(figure, {str(handle.get_label()): handle for handle in _legend(seeds)})
    return figure


def plot_system_scores(table: pd.DataFrame) -> Figure:
    """Plot the mean score of each system with its interval, one panel per question (deng2022 Table 4).

    Parameters
    ----------
    table
        `systems.csv` of a study.
    """
    questions, names = list(dict.fromkeys(table["question"])), list(dict.fromkeys(table["system"]))
    with style():
        size = (3.0 + 2.4 * len(questions), 1.2 + 0.35 * len(names))
        figure, grid = plt.subplots(1, len(questions), figsize=size, sharey=True, squeeze=False)
        for axes, question in zip(grid[0], questions, strict=True):
            scores = table[table["question"] == question].set_index("system").reindex(names)
            bars = interval_bars(scores["mean"], scores["ci_low"], scores["ci_high"])
            axes.errorbar(scores["mean"], range(len(names)), xerr=bars, fmt="o", color=BLUE, capsize=3)
            title_panel(axes, question)
            axes.set_xlabel("mean score with interval")
        label_rows(grid[0, 0], names)
        grid[0, 0].set_ylabel("system")
    return figure


def _order(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the plotted (critic, statistic): critics as in the table, the largest mean |correlation| first."""
    means = rows.groupby(["critic", "statistic"], sort=False)["spearman_abs"].mean()
    kept = means.sort_values(ascending=False, kind="stable").head(MOST_ROWS)
    return [pair for critic in dict.fromkeys(rows["critic"]) for pair in kept.index if pair[0] == critic]


def _heights(order: list[tuple[str, str]]) -> tuple[dict[tuple[str, str], int], list[str]]:
    """Return the row of every statistic and the labels of all rows, a critic's name above its statistics."""
    heights: dict[tuple[str, str], int] = {}
    labels: list[str] = []
    for critic, statistic in order:
        if critic not in {name for name, _ in heights}:
            labels.append(critic)
        heights[critic, statistic] = len(labels)
        labels.append(statistic)
    return heights, labels


def _plot_panel(axes: Axes, rows: pd.DataFrame, heights: dict[tuple[str, str], int]) -> None:
    critical = critical_spearman(int(rows["systems"].min()), SIGNIFICANT)
    axes.axvspan(0, 1.03 if np.isnan(critical) else critical, color=BAND, lw=0, zorder=0)
    for row in rows.to_dict("records"):
        y = heights.get((row["critic"], row["statistic"]))
        if y is None:
            continue
        _, colour, marker, _ = SIGNS[row["spearman"] > 0]
        value = row["spearman_abs"]
        ends = np.sort(np.sign(row["spearman"] or 1) * np.array([row["spearman_low"], row["spearman_high"]]))
        if np.isfinite(ends).all():
            axes.plot(np.maximum(ends, 0), [y, y], color=colour, lw=1.1, solid_capstyle="butt")
        if np.isfinite(row["spearman_seed_sd"]):
            spread = np.clip(value + row["spearman_seed_sd"] * np.array([-1, 1]), 0, 1)
            axes.plot(spread, [y, y], color=colour, lw=5, alpha=0.35, solid_capstyle="butt")
        filled = row["spearman_p_adjusted"] < SIGNIFICANT
        axes.plot(value, y, marker=marker, ms=5.5, mec=colour, mfc=colour if filled else "white", ls="")
    axes.set_xlim(0, 1.03)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def _describe_chance(systems: list[int]) -> str:
    """Describe the end of the chance band; with differing numbers of systems, for the fewest."""
    critical = critical_spearman(int(systems[0]), SIGNIFICANT)
    named = " or ".join(f"{n:.0f}" for n in systems)
    return f"{named} systems: " + ("too few" if np.isnan(critical) else f"chance below {critical:.2f}")


def _legend(seeds: bool) -> list[Line2D | Patch]:
    handles: list[Line2D | Patch] = [
        Line2D([], [], color=colour, marker=marker, ms=5.5, mfc="white", lw=1.1, label=label)
        for _, colour, marker, label in SIGNS
    ]
    handles.append(Line2D([], [], color="black", marker="o", ms=5.5, ls="", label="filled: adjusted p < 0.05"))
    handles.append(Patch(color=BAND, label="95 % range under chance"))
    if seeds:
        handles.append(Line2D([], [], color=GREY, lw=5, alpha=0.5, label="± standard deviation over seeds"))
    return handles


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
