"""How numbers are looked up among the statistics of a run, and how a person reads them."""

import pandas as pd

from macroscope.tables import significant

SMALLEST_P = 0.001


def format_p_value(p: float) -> str:
    """Two significant digits; "–" where there is nothing to test."""
    return "–" if pd.isna(p) else f"{p:.2g}" if p >= SMALLEST_P else f"< {SMALLEST_P:g}"


def format_number(value: float) -> str:
    """Three significant digits, and all digits before the decimal point."""
    if pd.isna(value):
        return "–"
    value += 0.0  # no -0
    return f"{value:,.0f}" if abs(value) >= 100 else significant(f"{value:#.3g}").rstrip(".")


def estimate(indexed: pd.DataFrame, key: tuple[str, ...], name: str) -> dict[str, float]:
    """Return a statistic and the ends of its interval as <name>, <name>_low, <name>_high; NaN where there is none."""
    return {
        name: value_of(indexed, key, "value"),
        f"{name}_low": value_of(indexed, key, "ci_low"),
        f"{name}_high": value_of(indexed, key, "ci_high"),
    }


def value_of(indexed: pd.DataFrame, key: tuple[str, ...], column: str) -> float:
    """Return one column of a statistic; `indexed` has the index that `key` is a value of."""
    return float(indexed.at[key, column]) if key in indexed.index else float("nan")


def with_interval(table: pd.DataFrame, name: str) -> list[str]:
    """Return the column `name` with its interval: "5.18 [5.02, 5.33]"."""
    return [
        "–" if pd.isna(value) else f"{format_number(value)} [{format_number(low)}, {format_number(high)}]"
        for value, low, high in zip(table[name], table[f"{name}_low"], table[f"{name}_high"], strict=True)
    ]
