"""Finished runs: their folders, and the statistics in their tables, for what compares runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.errors import MacroscopeError, nearest
from macroscope.files import read_json
from macroscope.gaps import UNFINISHED, Gap, find_gap, read_missing
from macroscope.options import KEPT_NAMES, is_matched
from macroscope.statistics.tidy import COLUMNS
from macroscope.systems import kinds
from macroscope.tables import read_csv

CONFIG, STATISTICS, CORPORA, PAIRS = "config.json", "tables/statistics.csv", "tables/corpora.csv", "tables/pairs.csv"
"""Files of a run that are read, the last one optional; so is the table of what failed (`missing`)."""
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


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes
    ----------
    folder
        Folder of the run, `results/<run>`.
    config
        Effective config.
    numbers
        All rows of `tables/statistics.csv`.
    corpora
        Corpus -> its rows of `tables/corpora.csv`: (split, column) -> value.
    missing
        Rows of `tables/missing.csv`: what failed, and has no statistics.
    """

    folder: Path
    config: Mapping[str, Any]
    numbers: Mapping[Key, Number]
    corpora: Mapping[str, Mapping[str, str]]
    missing: Sequence[Gap] = ()

    @cached_property
    def systems(self) -> set[str]:
        """Return the names of all systems with statistics, and of those that failed."""
        return {system for _, system, _, _ in self.numbers} | {entry.system for entry in self.missing if entry.system}

    def is_judged(self, system: str) -> bool:
        """Return whether a system is judged: it is no check, no real text, and no copy at matched length."""
        if system in KEPT_NAMES or is_matched(system):
            return False
        options = self.config["systems"].get(system)
        return options is None or not kinds()[options["kind"]].data.check

    @property
    def confidence(self) -> float:
        """Return the level of the run's intervals."""
        return float(self.config["statistics"]["confidence"])

    def explain_absence(self, key: Key) -> str:
        """Return " (failed: REASON)" for a statistic of a part of the run that failed; "" for others."""
        corpus, system, critic, _ = key
        gap = find_gap(self.missing, corpus, system, critic)
        return "" if gap is None else f" ({gap.note})"

    @cached_property
    def pairs(self) -> dict[tuple[str, str, str, str, str], tuple[str, Number]]:
        """Return (corpus, critic, statistic, system, other) -> (measure, number); empty without a table of pairs.

        The sizes of a number are those of the two systems.
        """
        path = self.folder / PAIRS
        if not path.exists():
            return {}
        keys, sizes = ("corpus", "critic", "statistic", "system", "other"), ("n_system", "n_other")
        rows = _table(path, (*keys, *sizes, "measure", *_INTERVAL, "signature", "reason")).to_dict("records")
        return {
            tuple(str(row[key]) for key in keys): (str(row["measure"]), _number(row, sizes, path))  # type: ignore[misc]
            for row in rows
        }


def find_run(argument: str) -> tuple[Run, str | None]:
    """Read a run given as FOLDER or FOLDER:SYSTEM, and return it with the system or None.

    FOLDER is `results/<run>`, the config.json in it, or a parent folder with a single run.

    Raises
    ------
    MacroscopeError
        If there is no finished run, or the run has no such system.
    """
    if Path(argument).exists():
        return read_run(find_run_folder(Path(argument))), None
    path, colon, system = argument.rpartition(":")
    if not colon or not Path(path).exists():
        raise MacroscopeError(f"{argument}: no such folder; give a finished run, results/RUN or results/RUN:SYSTEM")
    run = read_run(find_run_folder(Path(path)))
    if system not in run.systems:
        raise MacroscopeError(f"{path}: the run has no statistics of a system '{system}'{nearest(system, run.systems)}")
    return run, system


def read_run(folder: Path) -> Run:
    """Read the config and the tables of a finished run.

    Raises
    ------
    MacroscopeError
        If the run is not finished or not readable.
    """
    if (folder / UNFINISHED).exists():
        raise MacroscopeError(
            f"{folder}: the last call of this run did not end, so that its tables may be older than its texts; run the"
            " same command again (with --forcerun make_tables if Snakemake has nothing to do)"
        )
    config = read_json(folder / CONFIG)
    if not isinstance(config, dict) or not {"corpora", "systems", "statistics"} <= set(config):
        raise MacroscopeError(f"{folder / CONFIG}: not the effective config of a run; give the folder of a run")
    table = _table(folder / STATISTICS, COLUMNS)
    numbers: dict[Key, Number] = {}
    for row in table.to_dict("records"):
        key = (str(row["corpus"]), str(row["system"]), str(row["critic"]), str(row["statistic"]))
        if key in numbers:
            raise MacroscopeError(f"{folder / STATISTICS}: {' '.join(key)} occurs twice; make the tables again")
        numbers[key] = _number(row, ("n_reference", "n_candidate"), folder / STATISTICS)
    corpora = _corpora(_table(folder / CORPORA, ("corpus", "split")))
    without_numbers = [entry for entry in read_missing(folder / "tables") if entry.stage is None]
    return Run(folder, config, numbers, corpora, without_numbers)


def parse_signature(signature: str) -> dict[str, str]:
    """Split a signature into its keys and values; values of repeated keys are joined by ' and '."""
    values: dict[str, str] = {}
    for part in signature.split("|"):
        key, _, value = part.partition(":")
        values[key] = f"{values[key]} and {value}" if key in values else value
    return values


def find_run_folder(path: Path) -> Path:
    """Return the folder `results/<run>` of a finished run: the path itself, or the only run in it.

    Raises
    ------
    MacroscopeError
        If there is no finished run, or there are several.
    """
    if path.is_file():
        path = path.parent
    if (path / STATISTICS).exists():
        return path
    inside = sorted(table.parent.parent for table in path.glob(f"results/*/{STATISTICS}"))
    if len(inside) > 1:
        names = ", ".join(map(str, inside))
        raise MacroscopeError(f"{path}: several runs ({names}); give one of them")
    if not inside:
        raise MacroscopeError(f"{path}: no finished run (there is no {STATISTICS}); give the folder results/RUN of one")
    return inside[0]


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


def _corpora(table: pd.DataFrame) -> dict[str, dict[str, str]]:
    corpora: dict[str, dict[str, str]] = {}
    for row in table.to_dict("records"):
        properties = corpora.setdefault(str(row["corpus"]), {})
        for name in table.columns.drop(["corpus", "split"]):
            properties[f"{name} of {row['split']}"] = str(row[name])
    return corpora
