"""Figure of the simplex of topic proportions, one panel per system (deng2022 Figure 7)."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from macroscope.colours import BLUE, GREY
from macroscope.critics.findings import Findings
from macroscope.critics.languages.latents import TopicProportions, read_proportions
from macroscope.critics.languages.model import Array
from macroscope.critics.topic_shares import label_topics
from macroscope.phrases import format_count
from macroscope.plotting import add_legend, save, style, title_panel
from macroscope.tables import read_csv

MAX_PANELS = 12
COLUMNS = 4
MAX_POINTS = 2000
_HEIGHT = np.sqrt(3) / 2
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, _HEIGHT]])
"""Corners of the triangle, one per topic."""


def plot(findings: Findings) -> None:
    """Plot the proportions of all systems: samples in a triangle for three languages, otherwise the largest shares."""
    systems = findings.systems[: MAX_PANELS + 1]
    latents = {system: read_proportions(findings.latents(system)) for system in systems}
    nonempty = {system: texts.subset(texts.words > 0) for system, texts in latents.items()}
    corners = label_topics(read_csv(findings.folder / "inference" / "languages.csv")["words"])
    left_out = len(findings.systems) - len(systems)
    plot_systems = plot_simplex if len(corners) == len(CORNERS) else plot_largest_shares
    save(plot_systems(nonempty, corners, left_out), findings.figure("simplex"))


def plot_simplex(proportions: dict[str, TopicProportions], corners: Sequence[str], left_out: int = 0) -> Figure:
    """Plot one triangle per system and one point per text, a sample of its proportions.

    Texts in a single language are in the corners.

    Parameters
    ----------
    corners
        Words of each topic, as labels of the corners.
    left_out
        Number of systems left out, which the figure notes.
    """
    rows = -(-len(proportions) // COLUMNS)
    with style():
        figure, grid = plt.subplots(
            rows, min(COLUMNS, len(proportions)), figsize=(9.6, 0.3 + 3.1 * rows), squeeze=False
        )
        for axes, (system, texts) in zip(grid.flat, proportions.items(), strict=False):
            number = min(len(texts), MAX_POINTS)
            indices = np.linspace(0, max(0, len(texts) - 1), number).astype(int)
            _plot_triangle(axes, np.exp(texts.log_sample[indices]), corners)
            of_all = f" of {len(texts):,}" if number < len(texts) else ""
            title_panel(axes, system, f"{number:,}{of_all} texts" if of_all else format_count(number, "text"))
        for axes in grid.flat[len(proportions) :]:
            axes.remove()
        add_legend(figure, left_out=left_out)
    return figure


def plot_largest_shares(proportions: dict[str, TopicProportions], corners: Sequence[str], left_out: int = 0) -> Figure:
    """Plot the distribution function of the largest share of a text's topics, one line per system."""
    with style():
        figure, axes = plt.subplots(figsize=(6.4, 4.0))
        for number, (system, texts) in enumerate(proportions.items()):
            if not len(texts):
                continue  # no text has a word of the vocabulary
            axes.ecdf(texts.mean.max(axis=1), label=system, ls=("-", "--", ":", "-.")[number % 4], lw=1.4)
        axes.set(xlabel="share of a text's largest topic", ylabel="share of the texts", xlim=(1 / len(corners), 1))
        add_legend(figure, left_out=left_out)
    return figure


def _plot_triangle(axes: Axes, samples: Array, corners: Sequence[str]) -> None:
    outline = np.vstack([CORNERS, CORNERS[:1]])
    axes.plot(*outline.T, color=GREY, lw=0.8)
    points = samples @ CORNERS
    axes.plot(*points.T, ls="", marker="o", ms=3, color=BLUE, alpha=0.25, mew=0)
    for (x, y), text in zip(CORNERS, corners, strict=True):
        is_top = y > 0
        axes.annotate(
            text.replace(" ", "\n"),
            (x, y),
            xytext=(0, 3 if is_top else -3),
            textcoords="offset points",
            ha="center",
            va="bottom" if is_top else "top",
            fontsize=7,
            color=GREY,
        )
    axes.set_aspect("equal")
    axes.set(xlim=(-0.15, 1.15), ylim=(-0.3, _HEIGHT + 0.32), xticks=[], yticks=[])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
