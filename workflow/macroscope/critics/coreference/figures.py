"""Figure of mentions by gender and of pronouns, for each system."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from macroscope.colours import BLUE, GREEN, PURPLE, VERMILION
from macroscope.critics.findings import Findings
from macroscope.plotting import add_legend, interval_bars, label_rows, save, style

SHARES = {
    "male_mention_share": ("male", BLUE, "o"),
    "female_mention_share": ("female", VERMILION, "s"),
    "plural_mention_share": ("plural", GREEN, "^"),
    "pronoun_share": ("pronouns of all genders", PURPLE, "D"),
}


def plot(findings: Findings) -> None:
    """Plot the shares of mentions by gender, and of pronouns."""
    save(plot_mentions(findings.statistics, findings.systems, 100 * findings.confidence), findings.figure("mentioned"))


def plot_mentions(statistics: pd.DataFrame, systems: list[str], confidence: float) -> Figure:
    """Plot shares of all mentions with their intervals, one row per system.

    Parameters
    ----------
    statistics
        Statistics of the critic on the corpus.
    confidence
        Level of the intervals in percent.
    """
    indexed = statistics.set_index(["system", "statistic"])
    with style():
        figure, axes = plt.subplots(figsize=(7.2, 1.0 + 0.5 * len(systems)))
        for number, (name, (label, colour, marker)) in enumerate(SHARES.items()):
            available = [
                (y, indexed.loc[system, name]) for y, system in enumerate(systems) if (system, name) in indexed.index
            ]
            values = [100 * row["value"] for _, row in available]
            ends = ([100 * row[name] for _, row in available] for name in ("ci_low", "ci_high"))
            heights = [y - 0.15 * (1.5 - number) for y, _ in available]
            axes.errorbar(
                values,
                heights,
                xerr=interval_bars(values, *ends),
                fmt=marker,
                color=colour,
                capsize=2,
                ms=5,
                label=label,
            )
        label_rows(axes, systems)
        axes.set_xlabel(f"share of all mentions, % (with {confidence:g} % interval)")
        axes.set_xlim(left=-0.5)  # keep a marker at 0 fully visible
        add_legend(figure)
    return figure
