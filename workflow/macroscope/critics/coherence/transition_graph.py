"""The transition-difference graph (deng2022 Figure 4)."""

import matplotlib.pyplot as plt
import networkx as nx
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from macroscope.critics.coherence.sections import BEGIN, END
from macroscope.plotting import BLUE, GREY, VERMILION, style

UNLIKELY = 0.05
"""Transitions below this prior probability are marked in the graph (paper: Figure 4)."""
SIGNIFICANT = 0.05
"""Adjusted p-value below which a difference is drawn."""


def transition_graph(transitions: pd.DataFrame, title: str, edges: int = 20) -> Figure:
    """Where the system's transition probabilities differ from the control's by more than chance.

    Parameters
    ----------
    transitions
        As `transition_table` makes it.
    edges
        Only the largest differences are drawn, weighed by how often the previous type occurs: a large change of a rare
        type matters little.
    """
    table = transitions.assign(difference=transitions["probability"] - transitions["control_probability"])
    table = table[table["p_adjusted"] < SIGNIFICANT]
    weight = (table["frequency"] - table["control_frequency"]).abs()
    table = table.assign(weight=weight).sort_values(["weight", "previous", "next"], ascending=[False, True, True])
    graph = nx.DiGraph()
    graph.add_nodes_from(_round_trip(table.head(edges)))
    for row in table.head(edges).itertuples():
        graph.add_edge(row.previous, row.next, difference=row.difference, unlikely=row.prior_probability < UNLIKELY)
    with style():
        figure, axes = plt.subplots(figsize=(8.2, 6.8 if len(graph) else 1.6))
        axes.set_title(title)
        axes.set_axis_off()
        if not len(graph):
            axes.text(0, 0.5, "No transition probability differs from real text's by more than chance.")
            return figure
        _draw(graph, axes)
        for color, text in (
            (VERMILION, f"unlikely in real text (prior < {UNLIKELY:g})"),
            (BLUE, "likely in real text"),
        ):
            axes.plot([], [], color=color, lw=3, label=text)
        axes.plot([], [], color=GREY, lw=3, ls=(0, (2, 1.2)), label="dashed: made less often than in real text")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, fontsize=9)
    return figure


def _round_trip(table: pd.DataFrame) -> list[str]:
    """Section types in an order that keeps those side by side that follow each other in real text."""
    waiting = {*table["previous"], *table["next"]}
    follows = table.set_index(["previous", "next"])["control_frequency"].to_dict()
    order: list[str] = []
    while waiting:
        last = order[-1] if order else ""
        best = max(sorted(waiting), key=lambda name: (name == BEGIN, name != END, follows.get((last, name), 0.0)))
        order.append(best)
        waiting.remove(best)
    return order


def _draw(graph: nx.DiGraph, axes: Axes) -> None:
    positions = nx.circular_layout(graph)
    nx.draw_networkx_labels(
        graph,
        positions,
        ax=axes,
        font_size=9,
        bbox={"boxstyle": "round,pad=0.25", "fc": "white", "ec": GREY, "lw": 0.8},
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
