"""Table of divergences, shared by the critics that estimate them."""

from collections.abc import Sequence

import pandas as pd

from macroscope.critics.table_cells import format_cell
from macroscope.number_formats import number

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


def stack_tables(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put the tables of several systems into one, with the column `system` first; without tables, an empty one."""
    if not tables:
        return pd.DataFrame()
    table = pd.concat(tables, ignore_index=True)
    return table[["system", *(column for column in table if column != "system")]]
