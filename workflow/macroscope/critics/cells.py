"""Cells of the tables that a person reads."""

import pandas as pd

from macroscope.config.options import SPLIT_HALF
from macroscope.statistics.tidy import SIGNIFICANT

REAL_TEXT_HALVES = {SPLIT_HALF: "real text, half against half"}
"""Name in tables of statistics -> what a reader sees."""
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
"""Digits -> as exponents."""


def cell(row: pd.Series, factor: float = 1.0, digits: int = 3) -> str:
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
    interval = ""
    if not pd.isna(row["ci_low"]):
        interval = f" [{number(row['ci_low'] * factor, digits)}, {number(row['ci_high'] * factor, digits)}]"
    star = " *" if row["p_adjusted"] < SIGNIFICANT else ""
    return number(row["value"] * factor, digits) + interval + star


def number(value: float, digits: int = 3) -> str:
    """Significant digits, and thousands in full."""
    if pd.isna(value):
        return "–"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else significant(f"{value:.{digits}g}")


def significant(text: str) -> str:
    """A number as Python writes it, its power of ten as people do: "9.11e-05" is "9.11 × 10⁻⁵"."""
    mantissa, power, exponent = text.partition("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(RAISED)}" if power else text
