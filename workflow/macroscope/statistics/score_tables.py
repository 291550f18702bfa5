"""Tables of scores: a row per document with T(x), and further numbers in columns number_<name>, NaN without one.

T(x) is the number of a document. Further numbers are compared with those of real text, by the statistics of
`statistics.columns`; they are features of the document, and readers see them beside T(x).
"""

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from macroscope.errors import MacroscopeError
from macroscope.statistics.category_counts import CATEGORIES
from macroscope.statistics.pairing_keys import KEYS

NUMBER = "number_"
"""Prefix of the columns of further numbers."""


def read_scores(path: Path) -> pd.DataFrame:
    """Read a table of scores without its categories.

    Raises
    ------
    MacroscopeError
        If the file, or one of the columns id, nll and units, is missing.
    """
    try:
        names = pq.read_schema(path).names
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file of scores") from None
    missing = [name for name in ("id", "nll", "units") if name not in names]
    if missing:
        raise MacroscopeError(f"{path}: no column '{missing[0]}'; a table of scores has id, nll, units")
    return pd.read_parquet(path, columns=[name for name in names if name != CATEGORIES])


def list_document_numbers(scores: Path) -> list[str]:
    """List the names of the further numbers in a file of scores."""
    return [name.removeprefix(NUMBER) for name in pq.read_schema(scores).names if name.startswith(NUMBER)]


def read_document_numbers(scores: Path) -> pd.DataFrame:
    """Read the `KEYS` of every document, and its further numbers under their names."""
    names = list_document_numbers(scores)
    keys = [key for key in KEYS if key in pq.read_schema(scores).names]
    table = pd.read_parquet(scores, columns=[*keys, *(f"{NUMBER}{name}" for name in names)])
    return table.rename(columns={f"{NUMBER}{name}": name for name in names})
