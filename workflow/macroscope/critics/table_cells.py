"""Cells of the tables that a person reads."""

import math

import pandas as pd

from macroscope.options import SPLIT_HALF
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.tables import LARGE, number

REAL_TEXT_HALVES = {SPLIT_HALF: "real text, half against half"}
"""Name in tables of statistics -> what a reader sees."""
MOST_DECIMALS = 6


def cell(row: pd.Series, factor: float = 1.0) -> str:
    """A value with its interval, and a star where its adjusted p-value is below 5 %.

    Parameters
    ----------
    row
        Of tidy statistics, with p_adjusted.
    factor
        To the unit that is shown.
    """
    if pd.isna(row["value"]):
        return "undefined"
    star = " *" if row["p_adjusted"] < SIGNIFICANT else ""
    return value_with_interval(*(row[name] * factor for name in ("value", "ci_low", "ci_high"))) + star


def value_with_interval(value: float, low: float, high: float) -> str:
    """A value with its interval, all to as many decimals as say two digits of the interval's width."""
    if pd.isna(low):
        return number(value)
    is_finite = math.isfinite(low) and math.isfinite(high)
    decimals = max(0, 1 - math.floor(math.log10(high - low))) if is_finite and high > low else None
    if decimals is None or decimals > MOST_DECIMALS or max(map(abs, (value, low, high))) >= LARGE:
        return f"{number(value)} [{number(low)}, {number(high)}]"
    value, low, high = (round(some, decimals) + 0.0 for some in (value, low, high))  # no -0
    return f"{value:,.{decimals}f} [{low:,.{decimals}f}, {high:,.{decimals}f}]"
