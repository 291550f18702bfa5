"""Comparison of the incoherence detected in a system's narratives with that in real ones.

A detector raises false alarms in real text, and misses part of the damage. So the rate of detection in a system is
corrected for both (Rogan and Gladen 1978; `statistics.misclassification`): with s the system's rate, c the control's
and t the share of known damage in held-out narratives that is detected, (s - c) / (t - c) estimates the share of the
system's places that look damaged: a sentence is missing, or replaced by another one. Real text has 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.latents import stream_latents
from macroscope.critics.narrative.latents import DETECTION_COUNTS, INCOHERENCE, LATENTS, TASKS
from macroscope.critics.narrative.operating_point import OperatingPoint, read_operating_points
from macroscope.critics.split_half import compare_with_control
from macroscope.options import Resampling
from macroscope.statistics.columns import NUMBERS, compare_columns
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_features import Sample
from macroscope.statistics.document_groups import KEYS
from macroscope.statistics.misclassification import corrected_rate
from macroscope.statistics.permutation_groups import build_permutation
from macroscope.statistics.ratio import ratio_interval
from macroscope.statistics.tidy import ROWS, UNDEFINED, Estimate, rows_table
from macroscope.tables import read_csv

STATISTICS = (
    *(
        Statistic(f"{task}_corrected", "share of the system's places that look damaged, beyond real text")
        for task in TASKS
    ),
    *(replace(statistic, pattern=f"worst_*_{statistic.pattern}") for statistic in NUMBERS),
    *(replace(statistic, pattern=f"{INCOHERENCE}_{statistic.pattern}") for statistic in NUMBERS),
)
_REASON = "too few texts, or the detector's rate on known damage is not above its rate on real text"


@dataclass(frozen=True)
class _Compared:
    rows: pd.DataFrame


def compare_latents(control_latents: Path, latents: Path, inference: Path, *, resampling: Resampling) -> pd.DataFrame:
    """Compare detections in a system with detections in the control; see `critics.split_half`.

    Returns
    -------
    data frame
        Rows of `statistics.tidy`, for each task: <task>_corrected (0 is real text, 1 damage everywhere; may be
        negative; undefined if the detector's rate on known damage may be no larger than on real text); for the largest
        probability of each narrative, worst_<task>, and its `incoherence`, the statistics of `statistics.columns`.
    """
    points = read_operating_points(inference)
    known_damage = {task: _read_detection_counts(inference / task / DETECTION_COUNTS) for task in points}
    return compare_with_control(
        control_latents,
        latents,
        read=lambda path: read_counts(path, points),
        describe=partial(describe, tasks=list(points), resampling=resampling),
        compare=partial(compare, known_damage=known_damage, resampling=resampling),
        halves=lambda table: (table.iloc[0::2], table.iloc[1::2]),
    ).table


def describe(counts: pd.DataFrame, tasks: Sequence[str], resampling: Resampling) -> pd.DataFrame:
    """Compute the means of a table of `read_counts`: of largest probabilities, and of incoherence."""
    means = []
    for name in _list_numbers(counts, tasks):
        judged = counts[name].dropna().to_numpy(float)
        rng = np.random.default_rng(resampling.seed)
        interval = ratio_interval((judged, np.ones(len(judged))), resampling.confidence, resampling.resamples, rng)
        means.append(Estimate(f"{name}_mean", *interval))
    return rows_table(means, (0, len(counts)), lambda _: "no text has a value")


def compare(
    reference: pd.DataFrame, candidate: pd.DataFrame, known_damage: dict[str, Sample], resampling: Resampling
) -> _Compared:
    """Compare two tables of `read_counts`.

    Parameters
    ----------
    known_damage
        For each task, numbers of detected damaged places, and of damaged places, of each held-out narrative.
    """
    estimates = []
    for task, detections in known_damage.items():
        sides = [counts[counts[f"of_{task}"] > 0] for counts in (reference, candidate)]
        reference_counts, candidate_counts = ((counts[f"count_{task}"], counts[f"of_{task}"]) for counts in sides)
        permutation = build_permutation(*sides)
        value, low, high = corrected_rate(
            reference_counts, candidate_counts, detections, permutation, resampling.confidence
        )
        # Without an interval, the detector may be no better than chance; its corrected rate is noise.
        estimates.append(Estimate(f"{task}_corrected", UNDEFINED if np.isnan(low) else value, low, high))
    columns = _list_numbers(reference, list(known_damage))
    compared = compare_columns(reference, candidate, columns, resampling, KEYS)
    compared = compared[compared["statistic"] != "mean"]  # `describe` has it
    numbers = compared.assign(statistic=compared["column"] + "_" + compared["statistic"])[ROWS]
    sizes = (len(reference), len(candidate))
    return _Compared(pd.concat([rows_table(estimates, sizes, lambda _: _REASON), numbers], ignore_index=True))


def _list_numbers(counts: pd.DataFrame, tasks: Sequence[str]) -> list[str]:
    """List the columns with one number per narrative; without the incoherence if none has it."""
    return [*(f"worst_{task}" for task in tasks), *([INCOHERENCE] if counts[INCOHERENCE].notna().any() else [])]


def read_counts(latents: Path, points: dict[str, OperatingPoint]) -> pd.DataFrame:
    """Read the incoherence and, per task, count_ (detected places), of_ (places) and worst_ (largest)."""
    names = [INCOHERENCE, *(f"{kind}_{task}" for task in points for kind in ("count", "of", "worst"))]
    empty = {key: pd.Series(dtype=str) for key in KEYS} | {name: pd.Series(dtype=float) for name in names}
    tables = [pd.DataFrame(empty)]
    for batch in (table.to_pandas() for table in stream_latents(latents, LATENTS)):
        table = batch[list(KEYS)].assign(**{INCOHERENCE: batch[INCOHERENCE].astype(float)})
        for task, point in points.items():
            places = [np.asarray(p, dtype=float) for p in batch[task]]
            table[f"count_{task}"] = [float((p >= point.threshold).sum()) for p in places]
            table[f"of_{task}"] = [float(len(p)) for p in places]
            table[f"worst_{task}"] = [p.max() if len(p) else np.nan for p in places]
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _read_detection_counts(path: Path) -> Sample:
    table = read_csv(path)
    return table["found"].to_numpy(float), table["damaged"].to_numpy(float)
