"""Incoherence that is detected in a system's narratives, against real ones.

A detector is wrong at some places of real text, and misses part of the damage. So the rate at which it finds something
in a system is corrected by both (Rogan and Gladen 1978; `statistics.misclassification`): with s the system's rate, c the
control's, t the share of known damage in held-out narratives that is found, (s - c) / (t - c) is the share of the
system's places that are as if a sentence were missing, or stood for another one. 0 is real text.
"""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.narrative.latents import FOUND, TASKS, read_latents
from macroscope.critics.narrative.operating_point import OperatingPoint, read_operating_points
from macroscope.critics.split_half import compare_with_control
from macroscope.statistics.columns import NUMBERS, compare_columns
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.latent import Resampling
from macroscope.statistics.misclassification import corrected_rate
from macroscope.statistics.pairing_keys import KEYS
from macroscope.statistics.permutation_groups import permutation_of
from macroscope.statistics.ratio import Sample
from macroscope.statistics.tidy import ROWS, UNDEFINED, Row, rows_table
from macroscope.tables import read_csv

STATISTICS = (
    *(
        Statistic(f"{task}_corrected", "share of the system's places that are as if damaged, beyond real text")
        for task in TASKS
    ),
    *(replace(statistic, pattern=f"worst_*_{statistic.pattern}") for statistic in NUMBERS),
)
_REASON = "too few texts, or the detector finds no more of known damage than of what is in real text"


@dataclass(frozen=True)
class _Compared:
    rows: pd.DataFrame


def compare_latents(control_latents: Path, latents: Path, inference: Path, *, resampling: Resampling) -> pd.DataFrame:
    """Compare what is detected in a system with what is detected in the control; see `critics.split_half`.

    Returns
    -------
    data frame
        Rows of `statistics.tidy`, for each task: <task>_corrected (0 is real text, 1 damage everywhere; may be
        negative; undefined where the detector may find no more of known damage than of real text); of the largest
        probability of each narrative, worst_<task>, the statistics of `statistics.columns`.
    """
    points = read_operating_points(inference)
    found = {task: _found(inference / task / FOUND) for task in points}
    return compare_with_control(
        control_latents,
        latents,
        read=lambda path: read_counts(path, points),
        describe=lambda _: rows_table([], (0, 0), lambda _: ""),
        compare=partial(compare, found=found, resampling=resampling),
        halves=lambda table: (table.iloc[0::2], table.iloc[1::2]),
    ).table


def compare(
    reference: pd.DataFrame, candidate: pd.DataFrame, found: dict[str, Sample], resampling: Resampling
) -> _Compared:
    """Compare two tables of `read_counts`.

    Parameters
    ----------
    found
        Of each task, for held-out narratives with known damage, damaged places that are found, and damaged places.
    """
    rows: list[Row] = []
    for task, known in found.items():
        sides = [side[side[f"of_{task}"] > 0] for side in (reference, candidate)]
        theirs, ours = ((side[f"count_{task}"], side[f"of_{task}"]) for side in sides)
        permutation = permutation_of(*sides)
        value, low, high = corrected_rate(theirs, ours, known, permutation, resampling.confidence)
        # Without an interval the detector cannot be told from one that finds nothing: its rate, corrected, is noise.
        rows.append((f"{task}_corrected", UNDEFINED if np.isnan(low) else value, low, high, UNDEFINED))
    worst = compare_columns(reference, candidate, [f"worst_{task}" for task in found], resampling, KEYS)
    numbers = worst.assign(statistic=worst["column"] + "_" + worst["statistic"])[ROWS]
    sizes = (len(reference), len(candidate))
    return _Compared(pd.concat([rows_table(rows, sizes, lambda _: _REASON), numbers], ignore_index=True))


def read_counts(latents: Path, points: dict[str, OperatingPoint]) -> pd.DataFrame:
    """Read, a row a narrative, for each task: count_ (places found), of_ (places) and worst_ (largest probability)."""
    columns = [f"{what}_{task}" for task in points for what in ("count", "of", "worst")]
    empty = {key: pd.Series(dtype=str) for key in KEYS} | {name: pd.Series(dtype=float) for name in columns}
    tables = [pd.DataFrame(empty)]
    for some in read_latents(latents):
        table = some[list(KEYS)].copy()
        for task, point in points.items():
            places = [np.asarray(p, dtype=float) for p in some[task]]
            table[f"count_{task}"] = [float((p >= point.threshold).sum()) for p in places]
            table[f"of_{task}"] = [float(len(p)) for p in places]
            table[f"worst_{task}"] = [p.max() if len(p) else np.nan for p in places]
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _found(path: Path) -> Sample:
    table = read_csv(path)
    return table["found"].to_numpy(float), table["damaged"].to_numpy(float)
