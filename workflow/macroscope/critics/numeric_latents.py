"""Comparison of numeric latents, one number per text and column: a stage that critics may declare, and its table."""

from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from macroscope.critics.findings import Findings
from macroscope.critics.latents import read_numbers
from macroscope.critics.report_tables import format_cell
from macroscope.critics.split_half import compare_with_control
from macroscope.errors import MacroscopeError
from macroscope.options import Resampling
from macroscope.statistics.columns import NUMBERS, compare_columns, mean_interval
from macroscope.statistics.document_groups import KEYS
from macroscope.statistics.tidy import ROWS, Estimate, rows_table

STATISTICS = tuple(replace(statistic, pattern=f"*_{statistic.pattern}") for statistic in NUMBERS)
SHOWN = {"mean": "mean", "mean_difference": "difference to real text", "ks": "D to real text", "hedges_g": "Hedges' g"}


@dataclass(frozen=True)
class _Rows:
    rows: pd.DataFrame


def compare_numbers(control_latents: Path, latents: Path, *, resampling: Resampling) -> pd.DataFrame:
    """Compare every numeric column of a system's latents with the control's; see `critics.split_half`.

    Any critic may declare this function as its stage `compare`:
    Stage("macroscope.critics.numeric_latents:compare_numbers", inputs="control_latents latents resampling").

    Returns
    -------
    data frame
        Rows of `statistics.tidy`: for each column <column>_mean and, compared with the control,
        <column>_mean_difference, _ks, _hedges_g, _cliffs_delta and _minimum_detectable_difference, as defined in
        `statistics.columns`.
    """

    def describe(table: pd.DataFrame) -> pd.DataFrame:
        means = [(name, table[name].dropna().to_numpy(float)) for name in table.columns if name not in KEYS]
        estimates = [Estimate(f"{name}_mean", *mean_interval(values, resampling)) for name, values in means]
        return rows_table(estimates, (0, len(table)), lambda _: "no text has a value")

    def compare(reference: pd.DataFrame, candidate: pd.DataFrame) -> _Rows:
        columns = [name for name in reference if name not in KEYS]
        table = compare_columns(reference, candidate, columns, resampling, KEYS)
        table = table[table["statistic"] != "mean"]
        return _Rows(table.assign(statistic=table["column"] + "_" + table["statistic"])[ROWS])

    return compare_with_control(
        control_latents,
        latents,
        read=_read_numbers,
        describe=describe,
        compare=compare,
        halves=lambda table: (table.iloc[0::2], table.iloc[1::2]),
    ).table


def numbers_table(findings: Findings, columns: dict[str, str]) -> pd.DataFrame:
    """Return a table with one row per column and system, with intervals; a star marks an adjusted p-value below 5 %.

    Parameters
    ----------
    columns
        Column of the latents -> label for readers, with its unit.
    """
    rows = []
    for name, label in columns.items():
        for system, group in findings.statistics.groupby("system", sort=False):
            indexed = group.set_index("statistic")
            row = {"number": label, "system": system}
            for statistic, heading in SHOWN.items():
                is_present = f"{name}_{statistic}" in indexed.index
                row[heading] = format_cell(indexed.loc[f"{name}_{statistic}"]) if is_present else "–"
            rows.append(row)
    return pd.DataFrame(rows)


def _read_numbers(path: Path) -> pd.DataFrame:
    keys, numbers = read_numbers(path)
    numbers = numbers.select_dtypes("number")
    if not len(numbers.columns):
        raise MacroscopeError(f"{path}: the latents have no numeric column; write at least one")
    return numbers.assign(**keys)
