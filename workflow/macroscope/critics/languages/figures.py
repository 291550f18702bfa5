"""The simplex of topic proportions, system by system (deng2022 Figure 7)."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from macroscope.colours import BLUE, GREY
from macroscope.critics.findings import Findings
from macroscope.critics.languages.latents import TopicProportions, read_proportions
from macroscope.critics.languages.model import Array
from macroscope.plotting import save, style
from macroscope.tables import read_csv

MOST_PANELS = 12
COLUMNS = 4
MOST_POINTS = 2000
WORDS_OF_A_CORNER = 3
_HEIGHT = np.sqrt(3) / 2
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, _HEIGHT]])
"""Of the triangle, one a topic."""


def draw(findings: Findings) -> None:
    """Draw samples of the proportions of all systems: in a triangle for three languages, else the largest share."""
    systems = findings.systems[: MOST_PANELS + 1]
    found = {system: read_proportions(findings.latents(system)) for system in systems}
    known = {system: some.some(some.words > 0) for system, some in found.items()}
    words = read_csv(findings.folder / "inference" / "languages.csv")["words"]
    corners = [" ".join(str(some).split()[:WORDS_OF_A_CORNER]) for some in words]
    left_out = len(findings.systems) - len(systems)
    panel = simplex_figure if len(corners) == len(CORNERS) else largest_share_figure
    save(panel(known, corners, left_out), findings.figure("simplex"))


def simplex_figure(found: dict[str, TopicProportions], corners: Sequence[str], left_out: int = 0) -> Figure:
    """A triangle a system, a point a text: a draw of its proportions. Texts of one language lie in a corner.

    Parameters
    ----------
    corners
        Words of each topic.
    left_out
        Number of systems that are not drawn; the figure says so.
    """
    rows = -(-len(found) // COLUMNS)
    with style():
        figure, grid = plt.subplots(
            rows, min(COLUMNS, len(found)), figsize=(9.6, 0.3 + 3.1 * rows), squeeze=False, layout="constrained"
        )
        for axes, (system, some) in zip(grid.flat, found.items(), strict=False):
            number = min(len(some), MOST_POINTS)
            evenly = np.linspace(0, max(0, len(some) - 1), number).astype(int)
            _triangle(axes, np.exp(some.log_sample[evenly]), corners)
            of_all = f" of {len(some):,}" if number < len(some) else ""
            axes.set_title(f"{system}\n{number:,}{of_all} texts", fontsize=9)
        for axes in grid.flat[len(found) :]:
            axes.remove()
        if left_out:
            figure.supxlabel(f"{left_out} more systems are not drawn; the tables have them", fontsize=9)
    return figure


def largest_share_figure(found: dict[str, TopicProportions], corners: Sequence[str], left_out: int = 0) -> Figure:
    """Share of the texts whose largest topic has at most a share: a line a system."""
    with style():
        figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
        for number, (system, some) in enumerate(found.items()):
            if not len(some):
                continue  # no text has a word of the vocabulary
            axes.ecdf(some.mean.max(axis=1), label=system, ls=("-", "--", ":", "-.")[number % 4], lw=1.4)
        axes.set(xlabel="share of a text's largest topic", ylabel="share of the texts", xlim=(1 / len(corners), 1))
        axes.legend(fontsize=8)
        if left_out:
            figure.supxlabel(f"{left_out} more systems are not drawn; the tables have them", fontsize=9)
    return figure


def _triangle(axes: Axes, samples: Array, corners: Sequence[str]) -> None:
    outline = np.vstack([CORNERS, CORNERS[:1]])
    axes.plot(*outline.T, color=GREY, lw=0.8)
    points = samples @ CORNERS
    axes.plot(*points.T, ls="", marker="o", ms=3, color=BLUE, alpha=0.25, mew=0)
    for (x, y), text in zip(CORNERS, corners, strict=True):
        up = y > 0
        axes.annotate(
            text.replace(" ", "\n"),
            (x, y),
            xytext=(0, 3 if up else -3),
            textcoords="offset points",
            ha="center",
            va="bottom" if up else "top",
            fontsize=7,
            color=GREY,
        )
    axes.set_aspect("equal")
    axes.set(xlim=(-0.15, 1.15), ylim=(-0.3, _HEIGHT + 0.32), xticks=[], yticks=[])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
