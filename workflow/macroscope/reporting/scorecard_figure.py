"""The scorecard as a figure: a panel per critic, a row per system, real text against itself as a band."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from macroscope.colours import GREY
from macroscope.options import SPLIT_HALF
from macroscope.plotting import REAL_TEXT_BAND, add_legend, interval_bars, label_rows, style, title_panel
from macroscope.reporting.scorecard import LIKE, UNLIKE, Scorecard
from macroscope.reporting.scorecard_text import COLOURS


def plot_scorecards(scorecards: Sequence[Scorecard]) -> Figure:
    """Plot the detectability of every system by every critic with its interval, in percent; 50 % is chance.

    Parameters
    ----------
    scorecards
        Scorecards of the corpora, each of which is a row of panels.
    """
    columns = max(1, *(len(scorecard.critics) for scorecard in scorecards))
    heights = [1.1 + 0.4 * len(scorecard.rows) for scorecard in scorecards]
    with style():
        figure, grid = plt.subplots(
            len(scorecards), columns, figsize=(1.6 + 2.4 * columns, sum(heights)), sharex=True, squeeze=False
        )
        for line, scorecard in zip(grid, scorecards, strict=True):
            systems = [system for system in scorecard.rows if system != SPLIT_HALF]
            for axes, critic in zip(line, scorecard.critics, strict=False):
                _plot_critic(axes, scorecard, critic, systems)
                title_panel(axes, f"{critic} on {scorecard.corpus}" if len(scorecards) > 1 else critic)
            for axes in line[1:]:
                axes.tick_params(labelleft=False)
            for axes in line[len(scorecard.critics) :]:
                axes.set_axis_off()
        for axes in grid[-1]:
            axes.set_xlabel("detectability (%)")
        add_legend(figure)
    return figure


def _plot_critic(axes: Axes, scorecard: Scorecard, critic: str, systems: Sequence[str]) -> None:
    real = scorecard.rows.get(SPLIT_HALF, {}).get(critic)
    if real is not None:
        low, high = 100 * real["ci_low"], 100 * real["ci_high"]
        axes.axvspan(low, high, **REAL_TEXT_BAND, label="real text against itself")
    axes.axvline(50, color=GREY, ls=":", lw=1, label="chance")
    labelled: set[str] = set()
    for row, system in enumerate(systems):
        cell = scorecard.rows[system].get(critic)
        if cell is None:
            continue
        value, low, high = (100 * cell[[name]].astype(float) for name in ("c2st_auc", "ci_low", "ci_high"))
        verdict, error = cell["verdict"], interval_bars(value, low, high)
        label = None if verdict in labelled else f"{verdict} real text" if verdict in (LIKE, UNLIKE) else verdict
        axes.errorbar(value, [row], xerr=error, fmt="o", capsize=3, color=COLOURS.get(verdict, GREY), label=label)
        labelled.add(verdict)
    label_rows(axes, systems)
    axes.set_xlim(right=102)
