"""Look-up of statistics in tables, and formatting of numbers for readers."""

import pandas as pd

from macroscope.phrases import significant

SMALLEST_P = 0.001


def format_p_value(p: float) -> str:
    """Format a p-value with two significant digits; "–" for NaN, "< 0.001" for small ones."""
    return "–" if pd.isna(p) else f"{p:.2g}" if p >= SMALLEST_P else f"< {SMALLEST_P:g}"


def format_number(value: float) -> str:
    """Format a number with three significant digits and all digits before the decimal point; "–" for NaN."""
    if pd.isna(value):
        return "–"
    value += 0.0  # no -0
    return f"{value:,.0f}" if abs(value) >= 100 else significant(f"{value:#.3g}").rstrip(".")


def format_two_decimals(value: float, low: float, high: float) -> str:
    """Format a value with two decimals, and its interval if there is one; "–" for NaN."""
    if pd.isna(value):
        return "–"
    return f"{value:z.2f}" + ("" if pd.isna(low) else f" [{low:z.2f}, {high:z.2f}]")


def format_percent_inline(share: float) -> str:
    """Format a share that follows a sign: "over 99 %", because "≠ > 99 %" would read as one relation."""
    return f"{format_percent(share)} %".replace("> ", "over ")


def format_percent(share: float) -> str:
    """Format a share in whole per cent; "> 99" for a share below 1 that would round to 100."""
    rounded = round(100 * share)
    return "> 99" if rounded == 100 and share < 1 else str(rounded)


def look_up_estimate(indexed: pd.DataFrame, key: tuple[str, ...], name: str) -> dict[str, float]:
    """Return a statistic and its interval as <name>, <name>_low, <name>_high; NaN if absent."""
    return {
        name: look_up_value(indexed, key, "value"),
        f"{name}_low": look_up_value(indexed, key, "ci_low"),
        f"{name}_high": look_up_value(indexed, key, "ci_high"),
    }


def look_up_value(indexed: pd.DataFrame, key: tuple[str, ...], column: str) -> float:
    """Return one column of the row at `key` in the indexed table; NaN if there is no such row."""
    return float(indexed.at[key, column]) if key in indexed.index else float("nan")


def format_with_interval(table: pd.DataFrame, name: str) -> list[str]:
    """Format the column `name` with its interval: "5.18 [5.02, 5.33]"."""
    return [
        "–" if pd.isna(value) else f"{format_number(value)} [{format_number(low)}, {format_number(high)}]"
        for value, low, high in zip(table[name], table[f"{name}_low"], table[f"{name}_high"], strict=True)
    ]
