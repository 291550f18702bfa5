"""Figures of the coherence critic: calibration of the classifier, and the graph of transitions (deng2022 Figure 4)."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from macroscope.colours import BLUE, GREY, VERMILION
from macroscope.critics.coherence.sections import BEGIN, END
from macroscope.critics.findings import Findings
from macroscope.plotting import add_legend, interval_bars, label_rows, save, shorten, style, title_panel
from macroscope.statistics.proportions import clustered_interval
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.tables import read_csv


def plot_reliability_diagram(table: pd.DataFrame, title: str, confidence: float) -> Figure:
    """Plot the accuracy of the section classifier against its confidence, with intervals over documents."""
    filled = table[table["sections"] > 0]
    intervals = clustered_interval(
        filled["correct"],
        filled["sections"],
        filled["squares"],
        filled["squared_sections"],
        filled["documents"],
        filled["affected"],
        confidence,
    )
    with style():
        figure, (top, bottom) = plt.subplots(
            2, 1, figsize=(5.2, 5.4), sharex=True, gridspec_kw={"height_ratios": [3, 1]}
        )
        top.plot([0, 1], [0, 1], color=GREY, lw=1, ls="--", label="perfect calibration")
        errors = interval_bars(filled["accuracy"], *intervals)
        top.errorbar(
            filled["confidence"], filled["accuracy"], yerr=errors, fmt="o", color=BLUE, capsize=3, label="validation"
        )
        top.set(
            ylabel=f"accuracy (share of sections), {100 * confidence:g} % interval",
            ylim=(0, 1.03),
            xlim=(0, 1.02),
        )
        title_panel(top, title)
        bottom.bar((filled["low"] + filled["high"]) / 2, filled["sections"], width=0.08, color=BLUE, edgecolor="white")
        bottom.set(xlabel="confidence of the most probable type", ylabel="sections")
        add_legend(figure)
    return figure


def plot(findings: Findings) -> None:
    """Plot the reliability diagram of the section classifier."""
    table = read_csv(findings.folder / "inference" / "reliability.csv")
    title = "Section classifier, validation sections"
    save(plot_reliability_diagram(table, title, findings.confidence), findings.figure("reliability"))


UNLIKELY = 0.05
"""Prior probability below which transitions are highlighted in the graph (paper: Figure 4)."""
TYPES = 20
"""Number of section types in the graph, the most frequent in real text (paper: Figure 4)."""
LONGEST_TYPE = 18
"""Width of a section type's label, in columns of text."""
THICKEST = 7.0
"""Line width of a difference of 1, in points."""


def plot_transition_graph(transitions: pd.DataFrame, title: str, confidence: float, edges: int = 20) -> Figure:
    """Plot the transitions whose probabilities differ significantly between the system and the control.

    Left, a graph with an arrow from the previous section type to the next, as wide as the difference. Right, the
    probability of the same transitions in the system and in real text, with the intervals of the table.

    Parameters
    ----------
    transitions
        Table from `build_transition_table`.
    confidence
        Level of its intervals, between 0 and 1.
    edges
        Number of transitions to plot: those with the largest differences, weighted by the frequency of the previous
        type, since a large change of a rare type matters little.
    """
    table = select_differences(transitions, edges)
    rows = max(len(table), len(set(table["previous"])), len(set(table["next"])))
    with style():
        if table.empty:
            figure, axes = plt.subplots(figsize=(9.6, 1.2))
            axes.set_axis_off()
            axes.set_title(title)
            axes.text(0, 0.5, "No transition probability differs significantly from that of real text.")
            return figure
        figure, (graph, dots) = plt.subplots(
            1, 2, figsize=(9.6, 1.5 + 0.27 * rows), gridspec_kw={"width_ratios": [1, 1]}
        )
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        _plot_graph(table, graph)
        _plot_probabilities(table, dots, confidence)
        add_legend(figure, _legend())
    return figure


def select_differences(transitions: pd.DataFrame, edges: int) -> pd.DataFrame:
    """Return the transitions that differ significantly, the largest difference in frequency first."""
    frequency = transitions.groupby("previous")["reference_frequency"].sum()
    common = {*frequency.nlargest(TYPES + 1).index, BEGIN, END}
    shown = transitions["previous"].isin(common) & transitions["next"].isin(common)
    table = transitions[shown & (transitions["p_adjusted"] < SIGNIFICANT)]
    table = table.assign(
        difference=table["probability"] - table["reference_probability"],
        weight=(table["frequency"] - table["reference_frequency"]).abs(),
        unlikely=table["prior_probability"] < UNLIKELY,
    )
    return table.sort_values(["weight", "previous", "next"], ascending=[False, True, True]).head(edges)


def _plot_graph(table: pd.DataFrame, axes: Axes) -> None:
    """Plot section types as two columns, with an arrow from left to right for each transition."""
    order = _order_types(table)
    labels = _label_types(table)
    columns = [
        _spread_heights([name for name in order if name in set(table[column])]) for column in ("previous", "next")
    ]
    for x, heights, alignment in ((-0.03, columns[0], "right"), (1.03, columns[1], "left")):
        for name, y in heights.items():
            axes.text(x, y, labels[name], ha=alignment, va="center")
    for row in table.itertuples():
        start, end = (0.0, columns[0][row.previous]), (1.0, columns[1][row.next])
        path = Path([start, (0.5, start[1]), (0.5, end[1]), end], [Path.MOVETO, *[Path.CURVE4] * 3])
        width, colour = 0.8 + THICKEST * abs(row.difference), _colour(row.unlikely)
        axes.add_patch(
            PathPatch(path, fc="none", ec=colour, lw=width, ls=_dashes(row.difference), alpha=0.85, capstyle="butt")
        )
    axes.set(xlim=(-0.5, 1.5), ylim=(-0.06, 1.06))
    axes.text(0.0, 1.06, "previous section", ha="right", va="bottom", color=GREY)
    axes.text(1.0, 1.06, "next section", ha="left", va="bottom", color=GREY)
    axes.set_axis_off()


def _plot_probabilities(table: pd.DataFrame, axes: Axes, confidence: float) -> None:
    """Plot the probability of each transition in the system and in real text."""
    for prefix, shift, fixed in (("reference_", 0.17, GREY), ("", -0.17, None)):
        for y, (_, row) in enumerate(table.iterrows()):
            value, low, high = (row[f"{prefix}probability{end}"] for end in ("", "_low", "_high"))
            colour = fixed or _colour(row["unlikely"])
            marker = "s" if fixed else "o"
            axes.plot([low, high], [y + shift] * 2, color=colour, lw=1.4)
            axes.plot(value, y + shift, marker=marker, color=colour, ms=5, ls="")
    labels = _label_types(table)
    label_rows(axes, [f"{labels[row.previous]} → {labels[row.next]}" for row in table.itertuples()])
    label = f"transition probability, with {100 * confidence:g} % interval"
    axes.set(xlim=(-0.02, 1.02), xlabel=label)


def _label_types(table: pd.DataFrame) -> dict[str, str]:
    """Return short labels of the section types, which are titles of any length."""
    types = sorted({*table["previous"], *table["next"]})
    return dict(zip(types, shorten(types, LONGEST_TYPE), strict=True))


def _legend() -> dict[str, plt.Line2D]:
    return {
        f"unlikely in real text (prior < {UNLIKELY:g})": plt.Line2D([], [], color=VERMILION, lw=3, marker="o"),
        "likely in real text": plt.Line2D([], [], color=BLUE, lw=3, marker="o"),
        "dashed: less frequent than in real text": plt.Line2D([], [], color=GREY, lw=3, ls=_dashes(-1)),
        "real text": plt.Line2D([], [], color=GREY, lw=1.4, marker="s", ms=5),
    }


def _order_types(table: pd.DataFrame) -> list[str]:
    """Order section types so that those that follow each other in real text are adjacent."""
    waiting = {*table["previous"], *table["next"]}
    follows = table.set_index(["previous", "next"])["reference_frequency"].to_dict()
    order: list[str] = []
    while waiting:
        last = order[-1] if order else ""
        best = max(sorted(waiting), key=lambda name: (name == BEGIN, name != END, follows.get((last, name), 0.0)))
        order.append(best)
        waiting.remove(best)
    return order


def _spread_heights(names: list[str]) -> dict[str, float]:
    return {name: 1 - (i + 0.5) / len(names) for i, name in enumerate(names)}


def _colour(unlikely: bool) -> str:
    return VERMILION if unlikely else BLUE


def _dashes(difference: float) -> str | tuple[int, tuple[float, float]]:
    return "solid" if difference >= 0 else (0, (2, 1.2))
