"""Numbers as people read them: significant digits, thousands, powers of ten."""

import pandas as pd

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
"""Digits and minus sign -> superscripts."""
LARGE = 1e7
"""Absolute value from which numbers are written with a power of ten."""
ROUNDING = -12
"""Power of ten below which a number is what rounding left of 0, such as a distance between equal texts."""


def number(value: float, digits: int = 3) -> str:
    """Format a number with significant digits, thousands in full, a missing one as "–"."""
    if pd.isna(value):
        return "–"
    return f"{value:,.0f}" if 1000 <= abs(value) < LARGE else significant(f"{value:.{digits}g}")


def significant(text: str) -> str:
    """Rewrite the power of ten of a number that Python formatted: "9.11e-05" becomes "9.11 × 10⁻⁵", "1.7e-18" is 0."""
    mantissa, power, exponent = text.partition("e")
    if not power:
        return text
    return f"{mantissa} × 10{str(int(exponent)).translate(RAISED)}" if int(exponent) >= ROUNDING else "0"
