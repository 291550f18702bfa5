"""Statistics of `document_numbers`: their means, and how they differ between two collections."""

import pandas as pd

from macroscope.resampling import Resampling
from macroscope.statistics.columns import compare_columns, mean_interval
from macroscope.statistics.pairing_keys import KEYS
from macroscope.statistics.tidy import ROWS, Estimate, rows_table


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
