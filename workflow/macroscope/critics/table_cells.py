"""Cells of the report's tables: values with intervals and significance marks."""

import math

import pandas as pd

from macroscope.number_formats import LARGE, number
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
