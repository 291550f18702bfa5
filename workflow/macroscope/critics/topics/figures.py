"""Figure of the covariances of topic strengths, one panel per system (deng2022 Figures 6, 8, 9)."""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from scipy.cluster.hierarchy import leaves_list, linkage

from macroscope.critics.cross_fitting import first_fold
from macroscope.critics.findings import Findings
from macroscope.critics.topics.comparison import compute_relative_strengths
from macroscope.critics.topics.latents import Array, read_strengths
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.plotting import add_legend, save, style, title_panel

MAX_PANELS = 12
COLUMNS = 4
CLAMP, PUBLISHED_CLAMP = 1.0, 5.0
MAX_NUMBERED = 20
"""Largest number of topics whose numbers fit beside a matrix."""


@dataclass(frozen=True)
class Panel:
    """Panel with a system's covariances.

    Attributes
    ----------
    system
        Name of the system.
    covariance
        Covariances (topics x topics).
    note
        Line below the name.
    """

    system: str
    covariance: Array
    note: str = ""


def plot(findings: Findings) -> None:
    """Plot the covariances of all systems; the control comes first and sets the order of the topics."""
    model = CorrelatedTopicModel.load(findings.folder / "inference" / "model.npz")
    published = findings.options.convention == "published"
    nll = findings.statistics[findings.statistics["statistic"] == "latent_nll"].set_index("system")["value"]
    panels = []
    for system in findings.systems[: MAX_PANELS + 1]:
        with first_fold({"latents": findings.latents(system)}) as compared:
            means = read_strengths(compared["latents"]).with_words().mean
        if len(means):
            values = means if published else compute_relative_strengths(means, model)
            covariance = np.atleast_2d(np.cov(values, rowvar=False, ddof=0))
            panels.append(Panel(system, covariance, f"latent NLL {nll[system]:.4g} nats"))
    left_out = len(findings.systems) - len(findings.systems[: MAX_PANELS + 1])
    label = "covariance of strengths" if published else "covariance of relative strengths\n(prior variances)"
    save(
        plot_covariances(panels, PUBLISHED_CLAMP if published else CLAMP, label, left_out),
        findings.figure("covariances"),
    )


def plot_covariances(panels: list[Panel], clamp: float, label: str, left_out: int = 0) -> Figure:
    """Plot matrices side by side, with the same order of topics and the same colour scale in all of them.

    Parameters
    ----------
    panels
        Panels; the first one sets the order of topics: that of the leaves of a clustering of its rows (average linkage
        of Euclidean distances, as in the paper).
    clamp
        Covariance at which the colour scale is clipped, in both directions.
    label
        Label of the colour scale.
    left_out
        Number of systems left out, which the figure notes.
    """
    order = order_topics(panels[0].covariance)
    rows = -(-len(panels) // COLUMNS)
    with style():
        figure, grid = plt.subplots(rows, min(COLUMNS, len(panels)), figsize=(9.6, 0.7 + 2.7 * rows), squeeze=False)
        for axes, panel in zip(grid.flat, panels, strict=False):
            image = _plot_matrix(axes, panel.covariance, order, clamp)
            title_panel(axes, panel.system, panel.note)
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        bar = figure.colorbar(image, ax=list(grid.flat[: len(panels)]), shrink=0.8, extend="both", pad=0.02)
        bar.set_label(label)
        bar.outline.set_visible(False)
        add_legend(figure, left_out=left_out)
    return figure


def order_topics(covariance: Array) -> list[int]:
    """Return the topics in the order of the leaves of a hierarchical clustering of the rows."""
    if len(covariance) < 3:
        return list(range(len(covariance)))
    return [int(topic) for topic in leaves_list(linkage(covariance, "average"))]


def _plot_matrix(axes: Axes, covariance: Array, order: list[int], clamp: float) -> AxesImage:
    values = covariance[np.ix_(order, order)]
    image = axes.imshow(values, cmap="RdBu_r", vmin=-clamp, vmax=clamp, interpolation="nearest")
    axes.set(xticks=[], yticks=[], xlabel="topic", ylabel="topic")
    if len(order) <= MAX_NUMBERED:
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks(range(len(order)), [str(topic) for topic in order], fontsize=7)
            axis.set_tick_params(length=0, pad=1)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_linewidth(0.5)
    return image
