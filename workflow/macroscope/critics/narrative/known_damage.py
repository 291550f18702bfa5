"""Detection of known damage: a detector's operating point and its true positive rate.

Whole validation narratives set the operating point. Damaged held-out narratives give the share of damage that is
detected, which `comparison` uses to correct rates.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from macroscope.critics.narrative.detector import Detector, read_narratives
from macroscope.critics.narrative.examples import NONE, Examples
from macroscope.critics.narrative.latents import DETECTION_COUNTS, OPERATING_POINT
from macroscope.critics.narrative.operating_point import choose_operating_point
from macroscope.critics.narrative.options import Task
from macroscope.critics.narratives import Narratives
from macroscope.documents import DOCUMENTS_AT_ONCE
from macroscope.files import write_json
from macroscope.tables import write_csv


def write_operating_point(
    folder: Path, detector: Detector, narratives: Narratives, held_out: Examples, false_positive_rate: float
) -> None:
    """Write operating_point.json (`OperatingPoint`) and found.csv: id, damaged, found (counts of places per narrative).

    Parameters
    ----------
    narratives
        Narratives of the corpus, with embeddings if the detector reads them.
    held_out
        Damaged whole narratives, which were used neither in training nor in selection of the detector.
    """
    whole = read_narratives(detector, select_narratives(narratives, narratives.of_split("valid")))
    point = choose_operating_point(np.concatenate([np.empty(0, dtype=np.float32), *whole]), false_positive_rate)
    write_json(folder / OPERATING_POINT, vars(point))
    write_csv(count_detections(detector, narratives, held_out, point.threshold), folder / DETECTION_COUNTS)


def count_detections(detector: Detector, narratives: Narratives, examples: Examples, threshold: float) -> pd.DataFrame:
    """Count the detected damaged places per narrative: id, damaged, found.

    Narratives are read as wholes, as a system's texts are, even if only one segment is damaged. Versions of one story
    share a row.
    """
    damaged = examples.select(examples.damaged)
    counts = []
    for start in range(0, len(damaged), DOCUMENTS_AT_ONCE):
        batch = damaged.select(slice(start, start + DOCUMENTS_AT_ONCE))
        damaged_narratives, flags = apply_damage(narratives, batch, detector.task)
        probabilities = read_narratives(detector, damaged_narratives)
        counts += [
            (name, int(is_damaged.sum()), int((values[is_damaged[: len(values)]] >= threshold).sum()))
            for name, is_damaged, values in zip(damaged_narratives.ids, flags, probabilities, strict=True)
        ]
    families = narratives.families[damaged.narratives]
    table = pd.DataFrame(counts, columns=["id", "damaged", "found"])
    return table.groupby(families, sort=False).agg({"id": "first", "damaged": "sum", "found": "sum"})


def apply_damage(
    narratives: Narratives, damaged: Examples, task: Task
) -> tuple[Narratives, list[npt.NDArray[np.bool_]]]:
    """Apply segments' damage to their whole narratives; return these, and whether each of their places is damaged."""
    sequences, flags = [], []
    for owner, inputs, labels, targets in zip(
        damaged.narratives, damaged.inputs, damaged.labels, damaged.targets, strict=True
    ):
        numbers = np.arange(narratives.starts[owner], narratives.starts[owner + 1])
        is_damaged = np.zeros(len(numbers), dtype=bool)
        removed = targets[targets != NONE] - narratives.starts[owner]
        if task == "missing":
            is_damaged[removed - 1] = True
            sequences.append(np.delete(numbers, removed))
            flags.append(np.delete(is_damaged, removed))
        else:
            numbers[removed] = inputs[labels == 1]
            is_damaged[removed] = True
            sequences.append(numbers)
            flags.append(is_damaged)
    return _build_narratives(narratives, damaged.narratives.tolist(), sequences), flags


def select_narratives(narratives: Narratives, indices: Sequence[int]) -> Narratives:
    """Return the narratives with these indices."""
    numbers = [np.arange(narratives.starts[number], narratives.starts[number + 1]) for number in indices]
    return _build_narratives(narratives, indices, numbers)


def _build_narratives(
    narratives: Narratives, owners: Sequence[int], numbers: Sequence[npt.NDArray[np.int64]]
) -> Narratives:
    """Build narratives from sequences of sentences' numbers."""
    joined = np.concatenate([np.empty(0, dtype=np.int64), *numbers])
    ids, splits, openings = (
        [values[owner] for owner in owners] for values in (narratives.ids, narratives.splits, narratives.openings)
    )
    sentences = [narratives.sentences[number] for number in joined]
    starts = np.cumsum([0, *map(len, numbers)])
    selected = Narratives(ids, splits, openings, sentences, starts)
    if narratives.vectors is None or narratives.cut is None:
        return selected
    return selected.with_vectors(narratives.vectors.select(joined), narratives.cut[joined])
