"""Further numbers of single documents in a critic's scores: columns number_<name>, NaN for a document without one.

T(x) is the number of a document. Further numbers are compared with those of real text, by the statistics of
`statistics.columns`; they are features of the document, and readers see them beside T(x).
"""

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from macroscope.statistics.pairing_keys import KEYS

NUMBER = "number_"
"""Prefix of the columns."""


def list_document_numbers(scores: Path) -> list[str]:
    """List the names of the further numbers in a file of scores."""
    return [name.removeprefix(NUMBER) for name in pq.read_schema(scores).names if name.startswith(NUMBER)]


def read_document_numbers(scores: Path) -> pd.DataFrame:
    """Read the `KEYS` of every document, and its further numbers under their names."""
    names = list_document_numbers(scores)
    keys = [key for key in KEYS if key in pq.read_schema(scores).names]
    table = pd.read_parquet(scores, columns=[*keys, *(f"{NUMBER}{name}" for name in names)])
    return table.rename(columns={f"{NUMBER}{name}": name for name in names})
