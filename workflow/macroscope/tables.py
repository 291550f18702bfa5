"""Tables as CSV: what a spreadsheet would take for a formula is written, and read, as text.

Cells of strings that begin with "=", "+", "-" or "@" and are longer than that get an apostrophe in front, which
spreadsheets take for "this is text". `read_csv` takes it away again. So do cells of nothing but white space: a line of
that would be none to who reads it. Names and ids are read as they stand: "007" is no number, "null" not nothing.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


NAMES = ("corpus", "system", "other", "critic", "statistic", "id")
"""Columns that are texts, whatever they hold."""
_GUARDED = re.compile(r"'*(?:[=+\-@\t\r].|\s+\Z)", re.DOTALL)


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table without its index; the same table gives the same bytes."""
    _with_texts(table, lambda text: f"'{text}" if _GUARDED.match(text) else text).to_csv(path, index=False)


def read_csv(path: Path | str, **options: Any) -> pd.DataFrame:
    """Read what `write_csv` wrote; `options` are those of `pandas.read_csv`; nothing but an empty cell is NaN."""
    if "keep_default_na" not in options:
        options |= {"keep_default_na": False, "na_values": [""]}
    if "dtype" not in options:
        options["converters"] = dict.fromkeys(NAMES, str)
    table = pd.read_csv(path, **options)
    return _with_texts(table, lambda text: text[1:] if text[:1] == "'" and _GUARDED.match(text[1:]) else text)


def _with_texts(table: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    """A table whose texts are changed, and whose other values are as they were."""
    changed = {}
    for name, column in table.items():
        if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
            continue
        values = column.tolist()
        new = [change(value) if isinstance(value, str) else value for value in values]
        if any(a is not b for a, b in zip(new, values, strict=True)):
            changed[name] = pd.Series(new, index=column.index, dtype=object)
    return table.assign(**changed)
