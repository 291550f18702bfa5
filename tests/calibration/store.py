"""The rates of every setting, kept from one calibration to the next, with the version of what was simulated."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from macroscope.files import atomic
from macroscope.tables import write_csv

from .promises import all_cases

COLUMNS = ("declared", "setting", "statistic", "claim", "runs", "rate", "bias", "verdict", "version", "date")
"""Columns of the table: those of `running.evaluate`, the version of the case, and the day of the simulation."""
Key = tuple[str, str]
"""A setting: the tuple of statistics that it simulates, and its name."""


def key_of(setting: tuple[int, int]) -> Key:
    """Return the key of a setting, given the numbers of its case and of itself."""
    case = all_cases()[setting[0]]
    return case.declared, case.settings[setting[1]].name


def present_version(declared: str) -> int:
    """Return the version of the case that simulates a tuple of statistics."""
    return next(case.version for case in all_cases() if case.declared == declared)


def read_rates(path: Path) -> pd.DataFrame:
    """Read the rates of the settings that still exist."""
    if not path.exists():
        return pd.DataFrame(columns=list(COLUMNS))
    table = pd.read_csv(path, dtype={"date": str}, keep_default_na=False, na_values={"bias": [""]})
    exist = {(case.declared, setting.name) for case in all_cases() for setting in case.settings}
    return table[[key in exist for key in zip(table["declared"], table["setting"], strict=True)]]


def is_current(table: pd.DataFrame) -> pd.Series:
    """Return whether each row was simulated in the present version."""
    return table["version"] == table["declared"].map(present_version)


def list_outdated(table: pd.DataFrame, settings: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """List the settings that the table lacks, then those of another version; see `running.list_settings`."""
    rows, current = table[["declared", "setting"]], is_current(table)
    kept, outdated = (set(part.itertuples(index=False, name=None)) for part in (rows, rows[~current]))
    lacking = [setting for setting in settings if key_of(setting) not in kept]
    return lacking + [setting for setting in settings if key_of(setting) in outdated]


def replace_rates(table: pd.DataFrame, key: Key, rates: pd.DataFrame, date: str) -> pd.DataFrame:
    """Replace the rows of a setting; the order is that of the cases."""
    declared, name = key
    others = table[(table["declared"] != declared) | (table["setting"] != name)]
    added = rates.assign(version=present_version(declared), date=date)[list(COLUMNS)]
    both = pd.concat([others, added] if len(others) else [added], ignore_index=True)
    order = {
        (case.declared, setting.name): (c, s)
        for c, case in enumerate(all_cases())
        for s, setting in enumerate(case.settings)
    }
    places = pd.Series([order[pair] for pair in zip(both["declared"], both["setting"], strict=True)], dtype=object)
    return both.loc[places.sort_values(kind="stable").index].reset_index(drop=True)


def write_rates(path: Path, table: pd.DataFrame) -> None:
    """Write the table as CSV, with rates and biases to four digits."""
    with atomic(path) as part:
        write_csv(table.round({"rate": 4, "bias": 4}), part)
