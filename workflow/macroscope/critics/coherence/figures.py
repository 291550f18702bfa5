"""Figures of the coherence critic: the transition-difference graph (deng2022 Figure 4) and the reliability diagram."""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from macroscope.critics.coherence.prior import BEGIN, END
from macroscope.plotting import BLUE, GREY, VERMILION, style

UNLIKELY = 0.05
"""Transitions below this prior probability are marked in the graph (paper: Figure 4)."""


def transition_graph(transitions: pd.DataFrame, title: str, types: int = 14, edges: int = 22) -> Figure:
    """Where the system's transition probabilities differ most from the control's.

    Parameters
    ----------
    transitions
        As `transition_table` makes it.
    types, edges
        Only the most frequent section types and the largest differences are drawn.
    """
    table = transitions.assign(difference=transitions["probability"] - transitions["control_probability"])
    shown = _frequent_types(table, types)
    table = table[table["previous"].isin(shown) & table["next"].isin(shown)]
    # Weigh by how often the previous type occurs: a large change of a rare row matters little.
    table = table.assign(weight=(table["frequency"] - table["control_frequency"]).abs())
    table = table.sort_values(["weight", "previous", "next"], ascending=[False, True, True]).head(edges)
    table = table[table["difference"] != 0]
    graph = nx.DiGraph()
    graph.add_nodes_from(name for name in shown if name in set(table["previous"]) | set(table["next"]))
    for row in table.itertuples():
        graph.add_edge(row.previous, row.next, difference=row.difference, unlikely=row.prior_probability < UNLIKELY)
    with style():
        figure, axes = plt.subplots(figsize=(8.2, 7.4))
        _draw(graph, axes)
        axes.set_title(title)
        axes.set_axis_off()
        for color, text in ((VERMILION, f"unlikely in real text (prior < {UNLIKELY:g})"), (BLUE, "likely in real text")):
            axes.plot([], [], color=color, lw=3, label=text)
        axes.plot([], [], color=GREY, lw=3, ls=(0, (2, 1.2)), label="dashed: made less often than in real text")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=1)
    return figure


def reliability_diagram(table: pd.DataFrame, title: str) -> Figure:
    """Accuracy of the section classifier against its confidence, with 95 % Wilson intervals."""
    from macroscope.critics.coherence.calibration import wilson_interval

    filled = table[table["sections"] > 0]
    correct = (filled["accuracy"] * filled["sections"]).round().astype(int)
    intervals = np.array([wilson_interval(c, n) for c, n in zip(correct, filled["sections"], strict=True)])
    with style():
        figure, (top, bottom) = plt.subplots(
            2, 1, figsize=(5.2, 5.4), sharex=True, gridspec_kw={"height_ratios": [3, 1]}
        )
        top.plot([0, 1], [0, 1], color=GREY, lw=1, ls="--", label="perfect calibration")
        errors = np.abs(intervals.T - filled["accuracy"].to_numpy())
        top.errorbar(
            filled["confidence"], filled["accuracy"], yerr=errors, fmt="o", color=BLUE, capsize=3, label="validation"
        )
        top.set(ylabel="accuracy (share of sections)", ylim=(0, 1.03), xlim=(0, 1.02), title=title)
        top.legend(loc="upper left")
        bottom.bar(
            (filled["low"] + filled["high"]) / 2, filled["sections"], width=0.08, color=BLUE, edgecolor="white"
        )
        bottom.set(xlabel="confidence of the most probable type", ylabel="sections", yscale="log")
    return figure


def _frequent_types(table: pd.DataFrame, types: int) -> list[str]:
    totals = table.groupby("next")["control_frequency"].sum() + table.groupby("next")["frequency"].sum()
    names = [name for name in totals.sort_values(ascending=False).index if name != END][:types]
    return [BEGIN, *sorted(names), END]


def _draw(graph: nx.DiGraph, axes: Axes) -> None:
    positions = nx.circular_layout(graph)
    nx.draw_networkx_labels(
        graph, positions, ax=axes, font_size=9, bbox={"boxstyle": "round,pad=0.25", "fc": "white", "ec": GREY, "lw": 0.8}
    )
    for negative in (False, True):
        edges = [(a, b, d) for a, b, d in graph.edges(data=True) if (d["difference"] < 0) == negative]
        if not edges:
            continue
        nx.draw_networkx_edges(
            graph,
            positions,
            ax=axes,
            edgelist=[(a, b) for a, b, _ in edges],
            width=[0.8 + 7 * abs(d["difference"]) for *_, d in edges],
            edge_color=[VERMILION if d["unlikely"] else BLUE for *_, d in edges],
            style=(0, (2, 1.2)) if negative else "solid",
            connectionstyle="arc3,rad=0.12",
            node_size=1900,
            arrowsize=13,
        )
    nx.draw_networkx_edge_labels(
        graph,
        positions,
        ax=axes,
        edge_labels={(a, b): f"{d['difference']:+.2f}" for a, b, d in graph.edges(data=True)},
        font_size=8,
        connectionstyle="arc3,rad=0.12",
        bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.85},
    )
    axes.margins(0.16)
