"""All systems of a corpus side by side: the figures of meister2021 in kind."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from macroscope.colours import BLUE, GREEN, GREY, ORANGE, VERMILION
from macroscope.critics.findings import Findings
from macroscope.critics.table_cells import REAL_TEXT_HALVES
from macroscope.critics.tendencies.growth import TYPES
from macroscope.critics.tendencies.training import exchanged_training_texts
from macroscope.options import CONTROL, SPLIT_HALF
from macroscope.plotting import save, style
from macroscope.statistics.document_sums import Array
from macroscope.statistics.tidy import SIGNIFICANT

MOST_PANELS = 24
"""Systems in one figure; with more, the first ones are drawn, and the figure says so."""
BOXES = {
    "length": ("tokens", 1),
    "stop_word_share": ("stop words (% of tokens)", 100),
    "symbol_share": ("symbols (% of tokens)", 100),
    "duplicate_4grams": ("repeated 4-grams (%)", 100),
    "compression_ratio": ("compression ratio", 1),
}
"""Number of a text -> axis label, factor."""
NULLS = {
    "length_mean_difference": ("difference of mean length\n(tokens)", 1),
    "stop_word_share_mean_difference": ("difference of stop words\n(points of %)", 100),
    "symbol_share_mean_difference": ("difference of symbols\n(points of %)", 100),
    "tvd_sup": ("largest difference of a word's\nshare (points of %)", 100),
}
"""Statistic -> axis label, factor."""

Tables = dict[str, pd.DataFrame]
"""System -> table of its evidence, the control's first."""


def draw(findings: Findings) -> None:
    """Draw all figures."""

    def read(name: str) -> Tables:
        # "null" and "nan" are words.
        return dict(findings.tables(f"{name}.csv", MOST_PANELS, control=True))

    statistics = findings.statistics
    left_out = max(0, len(findings.candidates) - MOST_PANELS)
    shown = [CONTROL, *findings.candidates[:MOST_PANELS]]
    curves = {prefix: read(prefix) for prefix in TYPES}
    found = {
        "rank_frequency": panels(read("ranks"), _ranks_panel, "rank", "share of all tokens"),
        "type_token": panels(
            {system: pd.concat([curves[prefix][system].assign(prefix=prefix) for prefix in TYPES]) for system in shown},
            _type_token_panel,
            "tokens in the text",
            "types in the text (mean)",
        ),
        "length_distribution": panels(read("quantiles"), _lengths_panel, "tokens in the text", "share of texts"),
        "vocabulary": vocabulary_figure(statistics, shown),
        "boxes": boxes_figure(read("quantiles")),
        "null": null_figure(read("null"), statistics),
    }
    for prefix in TYPES:
        found[f"{prefix}_distances"] = panels(curves[prefix], _distances_panel, "tokens in the text", "KS distance D")
    if (permuted := exchanged_training_texts(findings)) is not None:
        found["training_null"] = training_null_figure(*permuted, statistics)
    for name, figure in found.items():
        if left_out:
            figure.text(1, 0, f"{left_out} more systems are not drawn; the tables have them", ha="right", color=GREY)
        save(figure, findings.figure(name))


def panels(
    tables: Tables, draw_panel: Callable[[Axes, pd.DataFrame, pd.DataFrame], None], xlabel: str, ylabel: str
) -> Figure:
    """One panel a system, real text in each; with the control alone, one panel of it."""
    systems = [system for system in tables if system != CONTROL] or [CONTROL]
    columns = min(3, len(systems))
    rows = -(-len(systems) // columns)
    with style():
        figure, grid = plt.subplots(
            rows, columns, figsize=(1.2 + 2.9 * columns, 0.9 + 2.4 * rows), sharex=True, sharey=True, squeeze=False
        )
        for axes, system in zip(grid.flat, systems, strict=False):
            draw_panel(axes, tables[CONTROL], tables[system])
            axes.set_title(system)
        for axes in list(grid.flat)[len(systems) :]:
            axes.remove()
        for axes in list(grid.flat)[: len(systems)][-columns:]:
            axes.tick_params(labelbottom=True)  # the lowest of its column, also above a place that is empty
        figure.supxlabel(xlabel, fontsize=10)
        figure.supylabel(ylabel, fontsize=10)
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=min(4, len(labels)), fontsize=9)
    return figure


def _ranks_panel(axes: Axes, control: pd.DataFrame, system: pd.DataFrame) -> None:
    """Rank against share (Figure 6)."""
    axes.loglog(control["rank"], control["share"], color=GREEN, lw=3, alpha=0.6, label="real text")
    axes.loglog(system["rank"], system["share"], color=BLUE, lw=1.2, label="system")
    axes.loglog(system["rank"], system["zipf"], color=GREY, lw=1, ls="--", label="Zipf's law fitted to the system")


def _type_token_panel(axes: Axes, control: pd.DataFrame, system: pd.DataFrame) -> None:
    """Length against types (Figures 1 and 3), with intervals of two standard errors."""
    for prefix, marker, what, is_full in (("heaps", "o", "words", True), ("heaps_bigram", "s", "word pairs", False)):
        for table, colour, name in ((control, GREEN, "real text"), (system, BLUE, "system")):
            some = table[table["prefix"] == prefix]
            axes.errorbar(
                some["mean_tokens"],
                some["mean_types"],
                yerr=1.96 * some["standard_error"].fillna(0),
                color=colour,
                marker=marker,
                mfc=colour if is_full else "white",
                ms=3.5,
                lw=1,
                alpha=0.8,
                label=f"{what}, {name}",
            )
    if any(map(len, (control, system))):
        axes.set_xscale("log")
        axes.set_yscale("log")
    _has_lengths(axes, system)


def _has_lengths(axes: Axes, system: pd.DataFrame, said: str = "no length has enough\ntexts of the system") -> bool:
    """Whether any length has enough texts of a system to be drawn; where none has, the panel says so."""
    if len(system):
        return True
    axes.text(0.96, 0.42, said, transform=axes.transAxes, ha="right", va="center", color=GREY)
    return False


def _distances_panel(axes: Axes, control: pd.DataFrame, system: pd.DataFrame) -> None:
    """Length against the three distances (Figure 4); a full marker is a significant difference from real text."""
    distances = {
        "d_own": (GREY, "to the law fitted to the system"),
        "d_reference": (ORANGE, "to the law fitted to real text"),
        "d_empirical": (BLUE, "to real text"),
    }
    for column, (colour, label) in distances.items():
        axes.plot(system["mean_tokens"], system[column], color=colour, marker="o", mfc="white", ms=4, label=label)
    sure = system[system["p_adjusted"] < SIGNIFICANT]
    axes.plot(sure["mean_tokens"], sure["d_empirical"], color=BLUE, marker="o", ms=4, ls="")
    # Texts that all have one length have no law, and no distance where real texts of that length are lacking, too.
    known = system[system[list(distances)].notna().any(axis=1)]
    if not len(system):
        _has_lengths(axes, system)
    elif _has_lengths(axes, known, "no distance is defined\nat any length"):
        axes.set_xscale("log")
    axes.set_ylim(0, 1)


def _lengths_panel(axes: Axes, control: pd.DataFrame, system: pd.DataFrame) -> None:
    """Distribution of lengths (Figure 9b): their empirical distribution functions."""
    for table, colour, width, label in ((control, GREEN, 3, "real text"), (system, BLUE, 1.2, "system")):
        axes.step(table["length"].clip(lower=1), table["quantile"], color=colour, lw=width, where="post", label=label)
    axes.set_xscale("log")


def vocabulary_figure(statistics: pd.DataFrame, systems: list[str]) -> Figure:
    """Vocabulary sizes, at as many tokens as real text, and of all texts (Figure 2)."""
    found = statistics.set_index(["system", "statistic"])[["value", "ci_low", "ci_high"]]
    shown = [system for system in systems if (system, "vocabulary_size") in found.index][::-1]
    with style():
        figure, axes = plt.subplots(figsize=(7.2, 1.6 + 0.36 * len(shown)))
        for y, system in enumerate(shown):
            axes.plot(found.at[(system, "vocabulary_size"), "value"], y, "o", ms=11, mfc="white", color=GREY)
            if (system, "vocabulary_size_compared") not in found.index:
                continue
            row = found.loc[(system, "vocabulary_size_compared")]
            ends = np.nan_to_num([[row["value"] - row["ci_low"]], [row["ci_high"] - row["value"]]])
            real = row["value"] - found.at[(system, "vocabulary_size_difference"), "value"]
            axes.plot([real, row["value"]], [y, y], color=GREEN, lw=1)
            axes.plot(real, y, "|", color=GREEN, ms=16, mew=3)
            axes.errorbar(row["value"], y, xerr=ends, fmt="o", capsize=3, color=BLUE)
        axes.set_yticks(range(len(shown)), shown)
        axes.set(xlabel="vocabulary (distinct words)", xlim=(0, None))
        handles = [
            plt.Line2D([], [], color=BLUE, marker="o", ls=""),
            plt.Line2D([], [], color=GREEN, marker="|", ms=14, mew=3, ls=""),
            plt.Line2D([], [], color=GREY, marker="o", ms=11, mfc="white", ls=""),
        ]
        labels = ["system, at the tokens that both have", "real text, at as many", "all texts of the row"]
        figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=9)
    return figure


def boxes_figure(tables: Tables) -> Figure:
    """Box plots of what every text has one number of (Figures 5 and 8); whiskers at 5 and 95 %."""
    systems = list(tables)[::-1]
    with style():
        figure, grid = plt.subplots(
            1, len(BOXES), figsize=(2.6 * len(BOXES), 1.4 + 0.34 * len(systems)), sharey=True, squeeze=False
        )
        for axes, (name, (label, factor)) in zip(grid.flat, BOXES.items(), strict=True):
            boxes = [_box(tables[system], name, factor) for system in systems]
            drawn = axes.bxp(
                boxes, orientation="horizontal", showfliers=False, patch_artist=True, medianprops={"color": "black"}
            )
            for system, patch in zip(systems, drawn["boxes"], strict=True):
                patch.set(facecolor=GREEN if system == CONTROL else BLUE, alpha=0.5)
            axes.axvline(boxes[-1]["med"], color=GREEN, lw=1, zorder=0)
            axes.set_xlabel(label)
            if name == "length":
                axes.set_xscale("log")
        grid[0, 0].set_yticks(range(1, len(systems) + 1), systems)
    return figure


def _box(table: pd.DataFrame, name: str, factor: float) -> dict[str, float]:
    at = table.set_index("quantile")[name] * factor
    five = np.interp([0.05, 0.25, 0.5, 0.75, 0.95], at.index, at)
    low, q1, median, q3, high = np.maximum(five, 1) if name == "length" else five
    return {"whislo": low, "q1": q1, "med": median, "q3": q3, "whishi": high}


def null_figure(tables: Tables, statistics: pd.DataFrame) -> Figure:
    """What exchanging texts with real text would give, and what was found (Figures 7 and 9a)."""
    systems = list(tables)[::-1]
    found = statistics.set_index(["system", "statistic"])[["value", "p_adjusted"]]
    with style():
        figure, grid = plt.subplots(
            1, len(NULLS), figsize=(3.1 * len(NULLS), 1.6 + 0.34 * len(systems)), sharey=True, squeeze=False
        )
        for axes, (statistic, (label, factor)) in zip(grid.flat, NULLS.items(), strict=True):
            for y, system in enumerate(systems):
                draws = tables[system].query("statistic == @statistic")["draw"].dropna() * factor
                if len(draws):
                    low, high = np.quantile(draws, [0.025, 0.975])
                    axes.plot([low, high], [y, y], color=GREY, lw=8, alpha=0.4, solid_capstyle="butt")
                key = (SPLIT_HALF if system == CONTROL else system, statistic)
                if key in found.index and np.isfinite(found.at[key, "value"]):
                    sure = found.at[key, "p_adjusted"] < SIGNIFICANT
                    colour = VERMILION if sure else BLUE
                    axes.plot(found.at[key, "value"] * factor, y, "D" if sure else "o", color=colour)
            axes.set_xlabel(label)
        names = [REAL_TEXT_HALVES[SPLIT_HALF] if system == CONTROL else system for system in systems]
        grid[0, 0].set_yticks(range(len(systems)), names)
        handles = [
            plt.Line2D([], [], color=GREY, lw=8, alpha=0.4),
            plt.Line2D([], [], color=BLUE, marker="o", ls=""),
            plt.Line2D([], [], color=VERMILION, marker="D", ls=""),
        ]
        labels = ["95 % of what exchanged texts give", "found", "found, significant (adjusted p < 0.05)"]
        figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=9)
    return figure


def training_null_figure(observed: float, null: Array, statistics: pd.DataFrame) -> Figure:
    """What exchanging the texts of two training samples gives, and the distances of the systems (Figure 9a)."""
    found = statistics[(statistics["statistic"] == "tvd_sup") & statistics["value"].notna()]
    with style():
        figure, axes = plt.subplots(figsize=(7.2, 3.2))
        axes.hist(100 * null, bins=40, color=GREY, alpha=0.5, label="two training samples, texts exchanged")
        axes.axvline(100 * observed, color=GREEN, label="these two samples")
        tops = np.full(len(found), axes.get_ylim()[1] * 0.04)
        axes.plot(100 * found["value"], tops, "|", color=BLUE, ms=14, label="systems to real text")
        axes.set(xlabel="unigrams (largest difference, %)", ylabel="exchanges", xscale="log")
        figure.legend(loc="outside lower center", ncols=3, fontsize=9)
    return figure
