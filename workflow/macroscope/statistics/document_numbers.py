"""Further numbers of single documents in a critic's scores: columns number_<name>, NaN for a document without one.

T(x) is the number of a document. Further numbers are compared with those of real text, by the statistics of
`statistics.columns`; they are features of the document, and readers see them beside T(x).
"""

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from macroscope.resampling import Resampling
from macroscope.statistics.columns import compare_columns, mean_interval
from macroscope.statistics.pairing_keys import KEYS
from macroscope.statistics.tidy import ROWS, Estimate, rows_table

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


def describe_numbers(numbers: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """Compute the mean of each number in a collection, <name>_mean; columns `tidy.ROWS`."""
    tables = []
    for name in numbers.columns.difference(KEYS, sort=False):
        values = numbers[name].dropna().to_numpy(float)
        estimate = Estimate(f"{name}_mean", *mean_interval(values, resampling))
        tables.append(rows_table([estimate], (0, len(values)), lambda _: "no text has a value"))
    return pd.concat(tables, ignore_index=True).assign(seed=resampling.seed)


def compare_numbers(reference: pd.DataFrame, candidate: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """Compare each number of two collections: <name>_<statistic> of `statistics.columns`; columns `tidy.ROWS`.

    Documents without a value do not count in the sizes.
    """
    names = list(candidate.columns.difference(KEYS, sort=False))
    table = compare_columns(reference, candidate, names, resampling, KEYS)
    return table.assign(statistic=table["column"] + "_" + table["statistic"])[[*ROWS, "seed"]]
