"""Tables as CSV, in which text that looks like a formula to a spreadsheet stays text.

Cells of strings that begin with "=", "+", "-" or "@" and are longer than that get an apostrophe in front, which marks
text in spreadsheets. `read_csv` removes it again. Negative numbers have none, with or without an interval. Cells of
white space get one, too: such lines would be skipped on reading. Names and ids are read as they are written: "007" is
not a number, "null" is not a missing value.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.files import atomic, require_regular, require_replaceable

NAMES = ("corpus", "system", "other", "critic", "statistic", "id", "label", "feature")
"""Columns that are read as text, whatever they hold."""
_NUMBER = r"-?[\d.,]+(?:e[+-]?\d+| × 10[⁻⁰¹²³⁴-⁹]+)?"
_GUARDED = re.compile(rf"'*(?!{_NUMBER}(?: \[{_NUMBER}, {_NUMBER}\])?(?: \*)?\Z)(?:[=+\-@\t\r].|\s+\Z)", re.DOTALL)


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table without its index; the same table gives the same bytes."""
    _with_texts(table, lambda text: f"'{text}" if _GUARDED.match(text) else text).to_csv(path, index=False)


def write_output(table: pd.DataFrame, path: Path) -> None:
    """Write a table that a user asked for, atomically.

    Raises
    ------
    MacroscopeError
        If a file of that name is not an earlier table with the same columns.
    """
    require_output(table.columns, path)
    with atomic(path) as temporary:
        write_csv(table, temporary)


def require_output(columns: Iterable[Any], path: Path) -> None:
    """Check that `write_output` may write a table with these columns, before any work is spent on it."""
    require_replaceable(path, ",".join(map(str, columns)) + "\n")


def read_csv(path: Path | str, **options: Any) -> pd.DataFrame:
    """Read a table that `write_csv` wrote; `options` are those of `pandas.read_csv`; only empty cells are NaN."""
    if "keep_default_na" not in options:
        options |= {"keep_default_na": False, "na_values": [""]}
    if "dtype" not in options:
        options["converters"] = dict.fromkeys(NAMES, str)
    require_regular(path)
    table = pd.read_csv(path, **options)
    return _with_texts(table, lambda text: text[1:] if text[:1] == "'" and _GUARDED.match(text[1:]) else text)


def read_if_any(path: Path, columns: Iterable[str], texts: Iterable[str] = ()) -> pd.DataFrame:
    """Read a table that a run may lack: then it has these columns and no rows. Empty cells of `texts` are ""."""
    if not path.exists():
        return pd.DataFrame(columns=list(columns))
    types = dict.fromkeys(texts, str)
    return read_csv(path, dtype=types).fillna(dict.fromkeys(types, "")) if types else read_csv(path)


def _with_texts(table: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    """Return a copy of a table with its texts changed and its other values unchanged."""
    changed = {}
    for name, column in table.items():
        if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
            continue
        values = column.tolist()
        new = [change(value) if isinstance(value, str) else value for value in values]
        if any(a is not b for a, b in zip(new, values, strict=True)):
            changed[name] = pd.Series(new, index=column.index, dtype=object)
    return table.assign(**changed)
