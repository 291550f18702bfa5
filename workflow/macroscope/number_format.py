"""Numbers as people read them."""

import pandas as pd

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
"""Digits -> as exponents."""
LARGE = 1e7
"""From here on numbers are written with a power of ten."""


def number(value: float, digits: int = 3) -> str:
    """Significant digits, and thousands in full."""
    if pd.isna(value):
        return "–"
    return f"{value:,.0f}" if 1000 <= abs(value) < LARGE else significant(f"{value:.{digits}g}")


def significant(text: str) -> str:
    """A number as Python writes it, its power of ten as people do: "9.11e-05" is "9.11 × 10⁻⁵"."""
    mantissa, power, exponent = text.partition("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(RAISED)}" if power else text
