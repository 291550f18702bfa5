"""Rows of tidy statistics, before anything says whose they are."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pandas as pd

from macroscope.statistics.proportions import wilson_interval

Row = tuple[str, float, float, float, float]
"""(statistic, value, ci_low, ci_high, p_value)"""
UNDEFINED = float("nan")
"""A value, an end of an interval or a p-value that there is none of."""
SIGNIFICANT = 0.05
"""Adjusted p-value below which a difference is called one."""
ROWS = ["statistic", "value", "ci_low", "ci_high", "p_value", "n_reference", "n_candidate", "reason"]
"""Columns of one system's statistics."""


def value_only(name: str, value: float) -> Row:
    """Row of a value that has neither an interval nor a p-value."""
    return name, float(value), UNDEFINED, UNDEFINED, UNDEFINED


def rows_table(rows: Iterable[Row], sizes: tuple[int, int], reason: Callable[[str], str]) -> pd.DataFrame:
    """Statistics of one comparison; columns `ROWS`.

    Parameters
    ----------
    sizes
        Numbers of documents in reference and candidate.
    reason
        Name of a statistic -> why it is NaN; asked only where it is.
    """
    full = [(*row, *sizes, reason(row[0]) if np.isnan(row[1]) else "") for row in rows]
    return pd.DataFrame(full, columns=ROWS)


def shares_table(counts: Mapping[str, int], documents: int, confidence: float) -> pd.DataFrame:
    """Shares of a collection's documents, with Wilson's intervals; columns `ROWS`."""
    rows: list[Row] = []
    for name, count in counts.items():
        low, high = wilson_interval(count, documents, confidence)
        rows.append((name, count / documents if documents else UNDEFINED, float(low), float(high), UNDEFINED))
    return rows_table(rows, (0, documents), lambda _: "no text")
