"""Figures with all systems of a corpus side by side, after those of meister2021."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from macroscope.colours import BLUE, GREEN, GREY, ORANGE, VERMILION
from macroscope.critics.findings import Findings
from macroscope.critics.tendencies.growth import TYPES
from macroscope.critics.tendencies.report import permute_training_texts
from macroscope.options import CONTROL, SPLIT_HALF
from macroscope.plotting import add_legend, interval_bars, label_rows, save, style, title_panel
from macroscope.statistics.document_features import Array
from macroscope.statistics.tidy import SIGNIFICANT

MAX_PANELS = 24
"""Largest number of systems in one figure; the figure notes how many are left out."""
BOXES = {
    "length": ("tokens", 1),
    "stop_word_share": ("stop words (% of tokens)", 100),
    "symbol_share": ("symbols (% of tokens)", 100),
    "duplicate_4grams": ("repeated 4-grams (%)", 100),
    "compression_ratio": ("compression ratio", 1),
}
"""Number of a text -> (axis label, factor)."""
NULLS = {
    "length_mean_difference": ("difference of mean length\n(tokens)", 1),
    "stop_word_share_mean_difference": ("difference of stop words\n(points of %)", 100),
    "symbol_share_mean_difference": ("difference of symbols\n(points of %)", 100),
    "tvd_sup": ("largest difference of a word's\nshare (points of %)", 100),
}
"""Statistic -> (axis label, factor)."""

Tables = dict[str, pd.DataFrame]
"""System -> table of its evidence, the control's first."""


def plot(findings: Findings) -> None:
    """Plot all figures and save them."""

    def read(name: str) -> Tables:
        # "null" and "nan" are words.
        return dict(findings.tables(f"{name}.csv", MAX_PANELS, control=True))

    statistics = findings.statistics
    left_out = max(0, len(findings.candidates) - MAX_PANELS)
    shown = [CONTROL, *findings.candidates[:MAX_PANELS]]
    curves = {prefix: read(prefix) for prefix in TYPES}
    figures = {
        "rank_frequency": plot_panels(read("ranks"), _plot_ranks, "rank", "share of all tokens", left_out),
        "type_token": plot_panels(
            {system: pd.concat([curves[prefix][system].assign(prefix=prefix) for prefix in TYPES]) for system in shown},
            _plot_type_token,
            "tokens in the text",
            "types in the text (mean)",
            left_out,
        ),
        "length_distribution": plot_panels(
            read("quantiles"), _plot_lengths, "tokens in the text", "share of texts", left_out
        ),
        "vocabulary": plot_vocabulary(statistics, shown, left_out),
        "boxes": plot_boxes(read("quantiles"), left_out),
        "null": plot_null(read("null"), statistics, left_out),
    }
    for prefix in TYPES:
        figures[f"{prefix}_distances"] = plot_panels(
            curves[prefix], _plot_distances, "tokens in the text", "KS distance D", left_out
        )
    if (permuted := permute_training_texts(findings)) is not None:
        figures["training_null"] = plot_training_null(*permuted, statistics)
    for name, figure in figures.items():
        save(figure, findings.figure(name))


def plot_panels(
    tables: Tables,
    plot_panel: Callable[[Axes, pd.DataFrame, pd.DataFrame], None],
    xlabel: str,
    ylabel: str,
    left_out: int = 0,
) -> Figure:
    """Plot one panel per system, with real text in each; a single panel if there is only the control."""
    systems = [system for system in tables if system != CONTROL] or [CONTROL]
    columns = min(3, len(systems))
    rows = -(-len(systems) // columns)
    with style():
        figure, grid = plt.subplots(
            rows, columns, figsize=(1.2 + 2.9 * columns, 0.9 + 2.4 * rows), sharex=True, sharey=True, squeeze=False
        )
        for axes, system in zip(grid.flat, systems, strict=False):
            plot_panel(axes, tables[CONTROL], tables[system])
            title_panel(axes, system)
        for axes in list(grid.flat)[len(systems) :]:
            axes.remove()
        for axes in list(grid.flat)[: len(systems)][-columns:]:
            axes.tick_params(labelbottom=True)  # the lowest panel of each column, also above an empty cell
            axes.set_xlabel(xlabel)
        figure.supylabel(ylabel, fontsize=10)
        add_legend(figure, left_out=left_out)
    return figure


def _plot_ranks(axes: Axes, _: pd.DataFrame, system: pd.DataFrame) -> None:
    """Plot share against rank, at equal numbers of tokens (Figure 6)."""
    axes.loglog(system["rank"], system["reference_share"], color=GREEN, lw=3, alpha=0.6, label="real text")
    axes.loglog(system["rank"], system["candidate_share"], color=BLUE, lw=1.2, label="system")
    axes.loglog(system["rank"], system["zipf"], color=GREY, lw=1, ls="--", label="Zipf's law fitted to the system")


def _plot_type_token(axes: Axes, control: pd.DataFrame, system: pd.DataFrame) -> None:
    """Plot types against length (Figures 1 and 3), with intervals of two standard errors."""
    for prefix, marker, unit, is_full in (("heaps", "o", "words", True), ("heaps_bigram", "s", "word pairs", False)):
        for table, colour, name in ((control, GREEN, "real text"), (system, BLUE, "system")):
            curve = table[table["prefix"] == prefix]
            axes.errorbar(
                curve["mean_tokens"],
                curve["mean_types"],
                yerr=1.96 * curve["standard_error"].fillna(0),
                color=colour,
                marker=marker,
                mfc=colour if is_full else "white",
                ms=3.5,
                lw=1,
                alpha=0.8,
                label=f"{unit}, {name}",
            )
    if any(map(len, (control, system))):
        axes.set_xscale("log")
        axes.set_yscale("log")
    _check_lengths(axes, system)


def _check_lengths(
    axes: Axes, system: pd.DataFrame, message: str = "no length has enough\ntexts of the system"
) -> bool:
    """Return whether a system has any length with enough texts; otherwise write `message` into the panel."""
    if len(system):
        return True
    axes.text(0.96, 0.42, message, transform=axes.transAxes, ha="right", va="center", color=GREY)
    return False


def _plot_distances(axes: Axes, control: pd.DataFrame, system: pd.DataFrame) -> None:
    """Plot the three distances against length (Figure 4); full markers are significant differences to real text."""
    distances = {
        "d_own": (GREY, "to the law fitted to the system"),
        "d_reference": (ORANGE, "to the law fitted to real text"),
        "d_empirical": (BLUE, "to real text"),
    }
    for column, (colour, label) in distances.items():
        axes.plot(system["mean_tokens"], system[column], color=colour, marker="o", mfc="white", ms=4, label=label)
    significant = system[system["p_adjusted"] < SIGNIFICANT]
    axes.plot(significant["mean_tokens"], significant["d_empirical"], color=BLUE, marker="o", ms=4, ls="")
    # Texts of a single length have no law, and no distance at all if there are no real texts of this length.
    defined = system[system[list(distances)].notna().any(axis=1)]
    if not len(system):
        _check_lengths(axes, system)
    elif _check_lengths(axes, defined, "no distance is defined\nat any length"):
        axes.set_xscale("log")
    axes.set_ylim(0, 1)


def _plot_lengths(axes: Axes, control: pd.DataFrame, system: pd.DataFrame) -> None:
    """Plot the empirical distribution functions of lengths (Figure 9b)."""
    for table, colour, width, label in ((control, GREEN, 3, "real text"), (system, BLUE, 1.2, "system")):
        axes.step(table["length"].clip(lower=1), table["quantile"], color=colour, lw=width, where="post", label=label)
    axes.set_xscale("log")


def plot_vocabulary(statistics: pd.DataFrame, systems: list[str], left_out: int = 0) -> Figure:
    """Plot vocabulary sizes at equal numbers of tokens, and of all texts (Figure 2)."""
    indexed = statistics.set_index(["system", "statistic"])[["value", "ci_low", "ci_high"]]
    shown = [system for system in systems if (system, "vocabulary_size") in indexed.index]
    with style():
        figure, axes = plt.subplots(figsize=(7.2, 0.9 + 0.36 * len(shown)))
        for y, system in enumerate(shown):
            axes.plot(indexed.at[(system, "vocabulary_size"), "value"], y, "o", ms=11, mfc="white", color=GREY)
            if (system, "vocabulary_size_compared") not in indexed.index:
                continue
            row = indexed.loc[(system, "vocabulary_size_compared")]
            ends = interval_bars([row["value"]], [row["ci_low"]], [row["ci_high"]])
            real = row["value"] - indexed.at[(system, "vocabulary_size_difference"), "value"]
            axes.plot([real, row["value"]], [y, y], color=GREEN, lw=1)
            axes.plot(real, y, "|", color=GREEN, ms=16, mew=3)
            axes.errorbar(row["value"], y, xerr=ends, fmt="o", capsize=3, color=BLUE)
        label_rows(axes, shown)
        axes.set(xlabel="vocabulary (distinct words)", xlim=(0, None))
        entries = {
            "system, at equal numbers of tokens": plt.Line2D([], [], color=BLUE, marker="o", ls=""),
            "real text, at the same number": plt.Line2D([], [], color=GREEN, marker="|", ms=14, mew=3, ls=""),
            "all texts of the system": plt.Line2D([], [], color=GREY, marker="o", ms=11, mfc="white", ls=""),
        }
        add_legend(figure, entries, left_out)
    return figure


def plot_boxes(tables: Tables, left_out: int = 0) -> Figure:
    """Plot boxes of the numbers of texts (Figures 5 and 8); whiskers at 5 and 95 %."""
    systems = list(tables)
    with style():
        figure, grid = plt.subplots(
            1, len(BOXES), figsize=(2.6 * len(BOXES), 0.9 + 0.34 * len(systems)), sharey=True, squeeze=False
        )
        for axes, (name, (label, factor)) in zip(grid.flat, BOXES.items(), strict=True):
            boxes = [_box_statistics(tables[system], name, factor) for system in systems]
            artists = axes.bxp(
                boxes,
                positions=range(len(systems)),
                widths=0.6,
                orientation="horizontal",
                showfliers=False,
                patch_artist=True,
                medianprops={"color": "black"},
            )
            for system, patch in zip(systems, artists["boxes"], strict=True):
                patch.set(facecolor=GREEN if system == CONTROL else BLUE, alpha=0.5)
            axes.axvline(boxes[systems.index(CONTROL)]["med"], color=GREEN, lw=1, zorder=0)
            axes.set_xlabel(label)
            if name == "length":
                axes.set_xscale("log")
        label_rows(grid[0, 0], systems)
        add_legend(figure, left_out=left_out)
    return figure


def _box_statistics(table: pd.DataFrame, name: str, factor: float) -> dict[str, float]:
    at = table.set_index("quantile")[name] * factor
    five = np.interp([0.05, 0.25, 0.5, 0.75, 0.95], at.index, at)
    low, q1, median, q3, high = np.maximum(five, 1) if name == "length" else five
    return {"whislo": low, "q1": q1, "med": median, "q3": q3, "whishi": high}


def plot_null(tables: Tables, statistics: pd.DataFrame, left_out: int = 0) -> Figure:
    """Plot observed differences and their null distributions under permutation (Figures 7 and 9a)."""
    systems = list(tables)
    indexed = statistics.set_index(["system", "statistic"])[["value", "p_adjusted"]]
    with style():
        figure, grid = plt.subplots(
            1, len(NULLS), figsize=(3.1 * len(NULLS), 1.1 + 0.34 * len(systems)), sharey=True, squeeze=False
        )
        for axes, (statistic, (label, factor)) in zip(grid.flat, NULLS.items(), strict=True):
            for y, system in enumerate(systems):
                draws = tables[system].query("statistic == @statistic")["draw"].dropna() * factor
                if len(draws):
                    low, high = np.quantile(draws, [0.025, 0.975])
                    axes.plot([low, high], [y, y], color=GREY, lw=8, alpha=0.4, solid_capstyle="butt")
                key = (SPLIT_HALF if system == CONTROL else system, statistic)
                if key in indexed.index and np.isfinite(indexed.at[key, "value"]):
                    significant = indexed.at[key, "p_adjusted"] < SIGNIFICANT
                    colour = VERMILION if significant else BLUE
                    axes.plot(indexed.at[key, "value"] * factor, y, "D" if significant else "o", color=colour)
            axes.set_xlabel(label)
        label_rows(grid[0, 0], [SPLIT_HALF if system == CONTROL else system for system in systems])
        entries = {
            "95 % of permutations": plt.Line2D([], [], color=GREY, lw=8, alpha=0.4),
            "observed": plt.Line2D([], [], color=BLUE, marker="o", ls=""),
            "observed, significant (adjusted p < 0.05)": plt.Line2D([], [], color=VERMILION, marker="D", ls=""),
        }
        add_legend(figure, entries, left_out)
    return figure


def plot_training_null(observed: float, null: Array, statistics: pd.DataFrame) -> Figure:
    """Plot the null distribution from two training samples, and the distances of the systems (Figure 9a)."""
    indexed = statistics[(statistics["statistic"] == "tvd_sup") & statistics["value"].notna()]
    with style():
        figure, axes = plt.subplots(figsize=(7.2, 3.2))
        axes.hist(100 * null, bins=40, color=GREY, alpha=0.5, label="two training samples, texts permuted")
        axes.axvline(100 * observed, color=GREEN, label="these two samples")
        tops = np.full(len(indexed), axes.get_ylim()[1] * 0.04)
        axes.plot(100 * indexed["value"], tops, "|", color=BLUE, ms=14, label="systems to real text")
        axes.set(xlabel="unigrams (largest difference, %)", ylabel="permutations", xscale="log")
        add_legend(figure)
    return figure
