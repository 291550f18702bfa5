"""Tables as CSV: what a spreadsheet would take for a formula is written, and read, as text.

Cells of strings that begin with "=", "+", "-" or "@" and are longer than that get an apostrophe in front, which
spreadsheets take for "this is text". `read_csv` takes it away again.
"""

from pathlib import Path
from typing import Any

import pandas as pd

_FORMULA = r"^('*[=+\-@\t\r].)"
_GUARDED = r"^'('*[=+\-@\t\r].)"


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table without its index; the same table gives the same bytes."""
    _replaced(table, _FORMULA, r"'\1").to_csv(path, index=False)


def read_csv(path: Path | str, **options: Any) -> pd.DataFrame:
    """Read what `write_csv` wrote; `options` are those of `pandas.read_csv`."""
    return _replaced(pd.read_csv(path, **options), _GUARDED, r"\1")


def _replaced(table: pd.DataFrame, pattern: str, by: str) -> pd.DataFrame:
    texts = {
        name: column.str.replace(pattern, by, regex=True)
        for name, column in table.items()
        if pd.api.types.is_string_dtype(column) and column.map(type).eq(str).any()
    }
    return table.assign(**texts) if texts else table
