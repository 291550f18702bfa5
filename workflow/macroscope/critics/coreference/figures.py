"""Who is mentioned, system by system."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from macroscope.colours import BLUE, GREEN, PURPLE, VERMILION
from macroscope.critics.findings import Findings
from macroscope.plotting import save, style

SHARES = {
    "male_mention_share": ("male", BLUE, "o"),
    "female_mention_share": ("female", VERMILION, "s"),
    "plural_mention_share": ("plural", GREEN, "^"),
    "pronoun_share": ("pronouns of all genders", PURPLE, "D"),
}


def draw(findings: Findings) -> None:
    """Draw the shares of mentions by gender, and those that are pronouns."""
    save(
        mentioned_figure(findings.statistics, findings.systems, 100 * findings.confidence), findings.figure("mentioned")
    )


def mentioned_figure(statistics: pd.DataFrame, systems: list[str], confidence: float) -> Figure:
    """Shares of all mentions with their intervals: a row a system.

    Parameters
    ----------
    statistics
        Of the critic on the corpus.
    confidence
        Level of the intervals in percent.
    """
    rows = list(reversed(systems))
    indexed = statistics.set_index(["system", "statistic"])
    with style():
        figure, axes = plt.subplots(figsize=(7.2, 1.3 + 0.5 * len(rows)), layout="constrained")
        for number, (name, (label, colour, marker)) in enumerate(SHARES.items()):
            known = [(y, indexed.loc[system, name]) for y, system in enumerate(rows) if (system, name) in indexed.index]
            values = [100 * row["value"] for _, row in known]
            errors = [
                [100 * (row["value"] - row["ci_low"]) for _, row in known],
                [100 * (row["ci_high"] - row["value"]) for _, row in known],
            ]
            heights = [y + 0.15 * (1.5 - number) for y, _ in known]
            axes.errorbar(values, heights, xerr=errors, fmt=marker, color=colour, capsize=2, ms=5, label=label)
        axes.set_yticks(range(len(rows)), rows)
        axes.set(xlabel=f"share of all mentions, % (with {confidence:g} % interval)", ylim=(-0.6, len(rows) - 0.4))
        axes.set_xlim(left=-0.5)  # a marker at 0 is seen whole
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
