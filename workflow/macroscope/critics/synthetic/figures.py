"""Figure of latent PPL over word PPL: good next-token prediction does not imply good structure (deng2022 Table 1)."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from macroscope.colours import BLACK, COLOURS, GREEN
from macroscope.critics.findings import Findings
from macroscope.files import read_json
from macroscope.plotting import add_legend, interval_bars, save, style

PANELS = {
    "latent_ppl_valid": "latent PPL of valid texts",
    "valid_share": "valid texts, %",
}
"""Statistic -> label of its axis."""
WIDE = 4.0
"""Ratio of the axis limits of latent PPL above which the axis is logarithmic."""


def plot(findings: Findings) -> None:
    """Plot the systems with a word PPL, if there are any."""
    points = collect_points(findings)
    if len(points):
        truth = read_json(findings.folder / "prior" / "truth.json")
        save(plot_curves(points, findings.options.series, truth), findings.figure("curves"))


def collect_points(findings: Findings) -> pd.DataFrame:
    """Collect the statistics of every system that has a word PPL.

    Returns
    -------
    data frame
        Index: system. Columns: word_ppl and the statistics of `PANELS`, each with _low and _high.
    """
    points = findings.perplexities
    if not len(points):
        return points
    for statistic in PANELS:
        rows = findings.statistics[findings.statistics["statistic"] == statistic].set_index("system")
        for column, end in (("value", ""), ("ci_low", "_low"), ("ci_high", "_high")):
            points = points.assign(**{statistic + end: rows[column].astype(float).reindex(points.index)})
    return points[points["word_ppl"].notna()]


def plot_curves(points: pd.DataFrame, series: dict[str, list[str]], truth: dict[str, float]) -> Figure:
    """Plot latent PPL and the share of valid texts over word PPL: points with intervals, lines through series.

    Parameters
    ----------
    points
        Table from `collect_points`.
    series
        Name of each line -> its systems, in order.
    truth
        Values word_ppl and latent_ppl of the process.
    """
    lines = {name: [system for system in systems if system in points.index] for name, systems in series.items()}
    named = {system for systems in lines.values() for system in systems}
    groups = {**lines, **{str(system): [str(system)] for system in points.index if system not in named}}
    with style():
        figure, axes = plt.subplots(1, len(PANELS), figsize=(8.4, 3.6))
        for panel, (statistic, label) in zip(axes, PANELS.items(), strict=True):
            factor = 100.0 if statistic.endswith("_share") else 1.0
            for (name, systems), colour in zip(groups.items(), COLOURS * len(groups), strict=False):
                _plot_line(panel, points.loc[systems], statistic, factor, name, colour)
            panel.axvline(truth["word_ppl"], color=BLACK, linewidth=0.8, linestyle=":")
            mark = truth["latent_ppl"] if statistic == "latent_ppl_valid" else 100.0
            panel.axhline(mark, color=GREEN, linewidth=1.0, linestyle="--", label="the process")
            panel.set_xlabel("word PPL on held-out texts\n(dotted: of the process itself)")
            panel.set_ylabel(label)
        low, high = axes[0].get_ylim()
        if high > WIDE * max(low, 1.0):
            axes[0].set_yscale("log")
        add_legend(figure)
        return figure


def _plot_line(panel: Axes, points: pd.DataFrame, statistic: str, factor: float, name: str, colour: str) -> None:
    x, y = points["word_ppl"].to_numpy(float), points[statistic].to_numpy(float) * factor
    across, along = (
        interval_bars(values, *(points[f"{column}{end}"].to_numpy(float) * scale for end in ("_low", "_high")))
        for column, scale, values in (("word_ppl", 1.0, x), (statistic, factor, y))
    )
    panel.errorbar(x, y, yerr=along, xerr=across, color=colour, marker="o", markersize=4, linewidth=1.2, label=name)
