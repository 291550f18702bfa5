"""Covariances of topic strengths, system by system (deng2022 Figures 6, 8, 9)."""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from scipy.cluster.hierarchy import leaves_list, linkage

from macroscope.critics.findings import Findings
from macroscope.critics.topics.comparison import relative_strengths
from macroscope.critics.topics.latents import Array, read_strengths
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.plotting import save, style

MOST_PANELS = 12
COLUMNS = 4
CLAMP, PUBLISHED_CLAMP = 1.0, 5.0
MOST_NUMBERED = 20
"""Topics of a matrix whose numbers fit beside it."""


@dataclass(frozen=True)
class Panel:
    """A system's covariances.

    Attributes
    ----------
    title
        The system, and its latent NLL.
    covariance
        Topics x topics.
    """

    title: str
    covariance: Array


def draw(findings: Findings) -> None:
    """Draw the covariances of all systems; the control first, which gives the order of the topics."""
    model = CorrelatedTopicModel.load(findings.folder / "inference" / "model.npz")
    published = findings.options.convention == "published"
    nll = findings.statistics[findings.statistics["statistic"] == "latent_nll"].set_index("system")["value"]
    panels = []
    for system in findings.systems[: MOST_PANELS + 1]:
        found = read_strengths(findings.latents(system))
        means = found.with_words().mean
        if len(means):
            values = means if published else relative_strengths(means, model)
            title = f"{system}\nlatent NLL {nll[system]:.4g} nats"
            panels.append(Panel(title, np.atleast_2d(np.cov(values, rowvar=False, ddof=0))))
    left_out = len(findings.systems) - len(findings.systems[: MOST_PANELS + 1])
    what = "covariance of strengths" if published else "covariance of relative strengths\n(prior variances)"
    save(
        covariance_figure(panels, PUBLISHED_CLAMP if published else CLAMP, what, left_out),
        findings.figure("covariances"),
    )


def covariance_figure(panels: list[Panel], clamp: float, what: str, left_out: int = 0) -> Figure:
    """Matrices side by side, topics in the same order in all of them, colours cut off at the same values.

    Parameters
    ----------
    panels
        The first one gives the order: that of the leaves when its rows are clustered (average linkage of Euclidean
        distances, as in the paper).
    clamp
        Covariances beyond plus and minus this have the colour of it.
    what
        Label of the colours.
    left_out
        Number of systems that are not drawn; the figure says so.
    """
    order = topic_order(panels[0].covariance)
    rows = -(-len(panels) // COLUMNS)
    with style():
        figure, grid = plt.subplots(
            rows, min(COLUMNS, len(panels)), figsize=(9.6, 0.7 + 2.7 * rows), squeeze=False, layout="constrained"
        )
        for axes, panel in zip(grid.flat, panels, strict=False):
            image = _matrix(axes, panel.covariance, order, clamp, panel.title)
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        bar = figure.colorbar(image, ax=list(grid.flat[: len(panels)]), shrink=0.8, extend="both", pad=0.02)
        bar.set_label(what)
        bar.outline.set_visible(False)
        if left_out:
            figure.supxlabel(f"{left_out} more systems are not drawn; the tables have them", fontsize=9)
    return figure


def topic_order(covariance: Array) -> list[int]:
    """Topics in the order of the leaves of a hierarchical clustering of the rows."""
    if len(covariance) < 3:
        return list(range(len(covariance)))
    return [int(topic) for topic in leaves_list(linkage(covariance, "average"))]


def _matrix(axes: Axes, covariance: Array, order: list[int], clamp: float, title: str) -> AxesImage:
    values = covariance[np.ix_(order, order)]
    image = axes.imshow(values, cmap="RdBu_r", vmin=-clamp, vmax=clamp, interpolation="nearest")
    axes.set_title(title, fontsize=9)
    axes.set(xticks=[], yticks=[], xlabel="topic", ylabel="topic")
    if len(order) <= MOST_NUMBERED:
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks(range(len(order)), [str(topic) for topic in order], fontsize=7)
            axis.set_tick_params(length=0, pad=1)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_linewidth(0.5)
    return image
