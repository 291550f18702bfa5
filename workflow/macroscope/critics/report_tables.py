"""Tables of critics' reports: values with intervals and marks of significance, and the table of divergences."""

import math

import pandas as pd

from macroscope.phrases import LARGE, number
from macroscope.statistics.tidy import SIGNIFICANT

MOST_DECIMALS = 6


def format_cell(row: pd.Series, factor: float = 1.0) -> str:
    """Format a value with its interval, and a star if its adjusted p-value is below 5 %.

    Parameters
    ----------
    row
        Row of tidy statistics, with p_adjusted.
    factor
        Factor to the displayed unit.
    """
    if pd.isna(row["value"]):
        return "undefined"
    star = " *" if row["p_adjusted"] < SIGNIFICANT else ""
    return format_with_interval(*(row[name] * factor for name in ("value", "ci_low", "ci_high"))) + star


def format_with_interval(value: float, low: float, high: float) -> str:
    """Format a value with its interval, all with the decimals that give the interval's width to two digits."""
    if pd.isna(low):
        return number(value)
    is_finite = math.isfinite(low) and math.isfinite(high)
    decimals = max(0, 1 - math.floor(math.log10(high - low))) if is_finite and high > low else None
    if decimals is None or decimals > MOST_DECIMALS or max(map(abs, (value, low, high))) >= LARGE:
        return f"{number(value)} [{number(low)}, {number(high)}]"
    value, low, high = (round(x, decimals) + 0.0 for x in (value, low, high))  # no -0
    return f"{value:,.{decimals}f} [{low:,.{decimals}f}, {high:,.{decimals}f}]"


DIVERGENCES = {
    "forward_kl": "forward KL (nats)",
    "backward_kl": "backward KL (nats)",
    "jeffreys": "Jeffreys: forward + backward KL (nats)",
    "exponentiated_kl": "exponentiated KL",
    "jensen_shannon": "Jensen–Shannon (nats)",
    "auc_divergence": "1 − AUC",
    "mauve": "MAUVE",
    "frontier_integral": "frontier integral",
}
"""Name of a statistic -> label for readers."""
PLOTTED = ("forward_kl", "backward_kl", "jeffreys", "jensen_shannon", "auc_divergence", "frontier_integral")
VECTORS = {
    "mmd_squared": ("MMD²", 1.0),
    "energy_distance": ("energy distance", 1.0),
    "precision": ("precision", 1.0),
    "recall": ("recall", 1.0),
}
"""Statistic of `statistics.vectors` -> (heading, factor to the displayed unit)."""
COLUMNS = {
    "": "value",
    "_corrected": "without small-sample bias",
    "_at_half": "at half the size",
    "_floor": "real text at half the size",
}
"""Suffix of a statistic's name -> heading of its column."""


def divergence_table(statistics: pd.DataFrame) -> pd.DataFrame:
    """Return a table with one row per divergence and system; * marks adjusted p-values below 5 %.

    exp KL is left out, because it is a function of the KL divergence.
    """
    rows = []
    for name, label in DIVERGENCES.items():
        if name == "exponentiated_kl":
            continue
        for system, group in statistics.groupby("system", sort=False):
            indexed = group.set_index("statistic")
            if name not in indexed.index:
                continue
            row = {"divergence": label, "system": system}
            for end, column in COLUMNS.items():
                if f"{name}{end}" in indexed.index:
                    row[column] = format_cell(indexed.loc[f"{name}{end}"])
            spread = f"{name}_seed_sd"
            if spread in indexed.index:
                row["sd over seeds"] = number(indexed.at[spread, "value"])
            rows.append(row)
    return pd.DataFrame(rows).fillna("–")


def statistics_table(statistics: pd.DataFrame, columns: dict[str, tuple[str, float]]) -> pd.DataFrame:
    """Return a table with one row per system and one column per statistic.

    Parameters
    ----------
    columns
        Statistic -> (heading, factor to the displayed unit).
    """
    rows = []
    for system, group in statistics.groupby("system", sort=False):
        indexed = group.set_index("statistic")
        row = {"system": system}
        for name, (heading, factor) in columns.items():
            row[heading] = format_cell(indexed.loc[name], factor) if name in indexed.index else "–"
        if any(value != "–" for heading, value in row.items() if heading != "system"):
            rows.append(row)
    return pd.DataFrame(rows)


def list_plotted(names: pd.Series, values: pd.Series) -> list[str]:
    """Return the divergences, each for a panel of its own, that have a value: a convention may leave some undefined."""
    defined = set(names[values.notna()])
    return [name for name in PLOTTED if name in defined]
