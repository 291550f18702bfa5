"""Numbers of finished runs with their intervals and settings, read from their tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.errors import MacroscopeError
from macroscope.statistics.tidy import COLUMNS
from macroscope.tables import read_csv

_INTERVAL = ("value", "ci_low", "ci_high")
Key = tuple[str, str, str, str]
"""(corpus, system, critic, statistic)"""


@dataclass(frozen=True)
class Number:
    """A statistic with its interval.

    Attributes
    ----------
    interval
        (value, low, high); NaN if undefined.
    sizes
        Numbers of documents in reference and candidate; 0 if a collection is not used.
    signature
        All settings that affect the value: key -> value; values of repeated keys are joined.
    reason
        Reason why the value is NaN.
    """

    interval: tuple[float, float, float]
    sizes: tuple[int, int]
    signature: Mapping[str, str]
    reason: str = ""

    @property
    def confidence(self) -> float:
        """Return the level of the interval; NaN if the signature has none."""
        try:
            return float(self.signature.get("confidence", "nan"))
        except ValueError:
            return float("nan")


def read_numbers(path: Path) -> dict[Key, Number]:
    """Read the numbers of a run from its table of statistics."""
    numbers: dict[Key, Number] = {}
    for row in _table(path, COLUMNS).to_dict("records"):
        key = (str(row["corpus"]), str(row["system"]), str(row["critic"]), str(row["statistic"]))
        if key in numbers:
            raise MacroscopeError(f"{path}: {' '.join(key)} occurs twice; make the tables again")
        numbers[key] = _number(row, ("n_reference", "n_candidate"), path)
    return numbers


def read_pairs(path: Path) -> dict[tuple[str, str, str, str, str], tuple[str, Number]]:
    """Read (corpus, critic, statistic, system, other) -> (measure, number) from a run's table of pairs.

    The sizes of a number are those of the two systems.
    """
    keys, sizes = ("corpus", "critic", "statistic", "system", "other"), ("n_system", "n_other")
    rows = _table(path, (*keys, *sizes, "measure", *_INTERVAL, "signature", "reason")).to_dict("records")
    return {
        tuple(str(row[key]) for key in keys): (str(row["measure"]), _number(row, sizes, path))  # type: ignore[misc]
        for row in rows
    }


def read_corpora(path: Path) -> dict[str, dict[str, str]]:
    """Read corpus -> its rows of the table of corpora: column and split -> value."""
    table = _table(path, ("corpus", "split"))
    corpora: dict[str, dict[str, str]] = {}
    for row in table.to_dict("records"):
        properties = corpora.setdefault(str(row["corpus"]), {})
        for name in table.columns.drop(["corpus", "split"]):
            properties[f"{name} of {row['split']}"] = str(row[name])
    return corpora


def parse_signature(signature: str) -> dict[str, str]:
    """Split a signature into its keys and values; values of repeated keys are joined by ' and '."""
    values: dict[str, str] = {}
    for part in signature.split("|"):
        key, _, value = part.partition(":")
        values[key] = f"{values[key]} and {value}" if key in values else value
    return values


def _table(path: Path, needed: tuple[str, ...]) -> pd.DataFrame:
    try:
        table = read_csv(path, keep_default_na=False, dtype=str)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file; finish the run, or keep all of its tables") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise MacroscopeError(f"{path}: not a table ({error}); make the tables again") from None
    if missing := [name for name in needed if name not in table.columns]:
        raise MacroscopeError(f"{path}: the column {missing[0]!r} is missing; make the tables again with this version")
    return table


def _number(row: dict[Any, Any], of_sizes: tuple[str, str], path: Path) -> Number:
    try:
        value, low, high = (float(row[name] or "nan") for name in _INTERVAL)
        sizes = tuple(int(float(row[name] or 0)) for name in of_sizes)
    except (ValueError, OverflowError) as error:
        raise MacroscopeError(f"{path}: {row['critic']} {row['statistic']} of {row['system']}: {error}") from None
    if np.isfinite([value, low, high]).all() and not low <= high:
        raise MacroscopeError(f"{path}: {row['critic']} {row['statistic']} of {row['system']}: ci_low is above ci_high")
    return Number((value, low, high), (sizes[0], sizes[1]), parse_signature(row["signature"]), row["reason"])
