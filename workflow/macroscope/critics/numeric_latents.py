"""The comparison of critics whose latents are numbers of every text: a stage to declare, and its table."""

from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from macroscope.critics.findings import Findings
from macroscope.critics.split_half import compare_with_control
from macroscope.critics.table_cells import REAL_TEXT_HALVES, cell
from macroscope.errors import MacroscopeError
from macroscope.statistics.columns import NUMBERS, compare_columns, mean_interval
from macroscope.statistics.latent import Resampling
from macroscope.statistics.pairing_keys import KEYS
from macroscope.statistics.tidy import ROWS, UNDEFINED, rows_table

STATISTICS = tuple(replace(statistic, pattern=f"*_{statistic.pattern}") for statistic in NUMBERS)
SHOWN = {"mean": "mean", "mean_difference": "difference to real text", "ks": "D to real text", "hedges_g": "Hedges' g"}


@dataclass(frozen=True)
class _Found:
    rows: pd.DataFrame


def compare_numbers(control_latents: Path, latents: Path, *, resampling: Resampling) -> pd.DataFrame:
    """Compare every column of numbers of a system's latents with the control's; see `critics.split_half`.

    A stage `compare` that any critic may declare: Stage("macroscope.critics.numeric_latents:compare_numbers",
    inputs="control_latents latents resampling").

    Returns
    -------
    data frame
        Rows of `statistics.tidy`: of each column <column>_mean, and against the control <column>_mean_difference, _ks,
        _hedges_g, _cliffs_delta, _minimum_detectable_difference, as `statistics.columns` has them.
    """

    def describe(table: pd.DataFrame) -> pd.DataFrame:
        means = [(name, table[name].dropna().to_numpy(float)) for name in table.columns if name not in KEYS]
        rows = [(f"{name}_mean", *mean_interval(values, resampling), UNDEFINED) for name, values in means]
        return rows_table(rows, (0, len(table)), lambda _: "no text has the number")

    def compare(reference: pd.DataFrame, candidate: pd.DataFrame) -> _Found:
        columns = [name for name in reference if name not in KEYS]
        table = compare_columns(reference, candidate, columns, resampling, KEYS)
        table = table[table["statistic"] != "mean"]
        return _Found(table.assign(statistic=table["column"] + "_" + table["statistic"])[ROWS])

    return compare_with_control(
        control_latents,
        latents,
        read=_read_numbers,
        describe=describe,
        compare=compare,
        halves=lambda table: (table.iloc[0::2], table.iloc[1::2]),
    ).table


def numbers_table(findings: Findings, columns: dict[str, str]) -> pd.DataFrame:
    """A row a number and system, with intervals; a star marks an adjusted p-value below 5 %.

    Parameters
    ----------
    columns
        Column of the latents -> what a reader sees, with its unit.
    """
    rows = []
    for name, label in columns.items():
        for system, some in findings.statistics.groupby("system", sort=False):
            indexed = some.set_index("statistic")
            row = {"number": label, "system": REAL_TEXT_HALVES.get(str(system), system)}
            for statistic, heading in SHOWN.items():
                known = f"{name}_{statistic}" in indexed.index
                row[heading] = cell(indexed.loc[f"{name}_{statistic}"]) if known else "–"
            rows.append(row)
    return pd.DataFrame(rows)


def _read_numbers(path: Path) -> pd.DataFrame:
    table = pd.read_parquet(path)
    numbers = table.select_dtypes("number")
    if not len(numbers.columns):
        raise MacroscopeError(f"{path}: the latents have no column of numbers")
    return numbers.assign(**{key: table[key] for key in KEYS if key in table})
