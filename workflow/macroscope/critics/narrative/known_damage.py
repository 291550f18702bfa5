"""What a detector finds where it is known what is wrong.

Whole validation narratives set its operating point; held-out ones that are damaged tell how much of that it finds
there, which rates are corrected by (`comparison`).
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from macroscope.critics.narrative.detector import Detector
from macroscope.critics.narrative.examples import NONE, Examples
from macroscope.critics.narrative.latents import FOUND, POINT
from macroscope.critics.narrative.narratives import Narratives
from macroscope.critics.narrative.operating_point import operating_point
from macroscope.critics.narrative.options import Task
from macroscope.critics.narrative.sliding_window import read_narratives
from macroscope.files import write_json
from macroscope.tables import write_csv


def write_operating_point(
    folder: Path, detector: Detector, narratives: Narratives, held_out: Examples, false_positive_rate: float
) -> None:
    """Write operating_point.json (`OperatingPoint`), and found.csv: id, damaged, found (places of each narrative).

    Parameters
    ----------
    narratives
        Of the corpus, with what the detector reads.
    held_out
        Narratives that are damaged as wholes, none of which the detector was trained on or chosen by.
    """
    whole = read_narratives(detector, subset(narratives, narratives.of_split("valid")))
    point = operating_point(np.concatenate([np.empty(0, dtype=np.float32), *whole]), false_positive_rate)
    write_json(folder / POINT, vars(point))
    write_csv(found_in(detector, narratives, held_out, point.threshold), folder / FOUND)


def found_in(detector: Detector, narratives: Narratives, examples: Examples, threshold: float) -> pd.DataFrame:
    """Count the damaged places of each narrative that are found: id, damaged, found.

    Of a narrative that is damaged in one segment, all of it is read, as a system's text is. Versions of one story are
    one row.
    """
    damaged = examples.some(examples.damaged)
    told, marked = with_damage(narratives, damaged, detector.task)
    read = read_narratives(detector, told)
    counts = [
        (told.ids[number], int(marks.sum()), int((read[number][marks[: len(read[number])]] >= threshold).sum()))
        for number, marks in enumerate(marked)
    ]
    families = narratives.families[damaged.narratives]
    table = pd.DataFrame(counts, columns=["id", "damaged", "found"])
    return table.groupby(families, sort=False).agg({"id": "first", "damaged": "sum", "found": "sum"})


def with_damage(
    narratives: Narratives, damaged: Examples, task: Task
) -> tuple[Narratives, list[npt.NDArray[np.bool_]]]:
    """Whole narratives with the damage of one of their segments, and of each which places are damaged."""
    told, marks = [], []
    for owner, inputs, labels, targets in zip(
        damaged.narratives, damaged.inputs, damaged.labels, damaged.targets, strict=True
    ):
        numbers = np.arange(narratives.starts[owner], narratives.starts[owner + 1])
        wrong = np.zeros(len(numbers), dtype=bool)
        gone = targets[targets != NONE] - narratives.starts[owner]
        if task == "missing":
            wrong[gone - 1] = True
            told.append(np.delete(numbers, gone))
            marks.append(np.delete(wrong, gone))
        else:
            numbers[gone] = inputs[labels == 1]
            wrong[gone] = True
            told.append(numbers)
            marks.append(wrong)
    return _of_numbers(narratives, damaged.narratives.tolist(), told), marks


def subset(narratives: Narratives, chosen: Sequence[int]) -> Narratives:
    """Some narratives."""
    numbers = [np.arange(narratives.starts[number], narratives.starts[number + 1]) for number in chosen]
    return _of_numbers(narratives, chosen, numbers)


def _of_numbers(narratives: Narratives, owners: Sequence[int], told: Sequence[npt.NDArray[np.int64]]) -> Narratives:
    """Narratives of sentences that are given by their numbers."""
    joined = np.concatenate([np.empty(0, dtype=np.int64), *told])
    ids, splits, openings = (
        [known[owner] for owner in owners] for known in (narratives.ids, narratives.splits, narratives.openings)
    )
    sentences = [narratives.sentences[number] for number in joined]
    starts = np.cumsum([0, *map(len, told)])
    found = Narratives(ids, splits, openings, sentences, starts)
    if narratives.vectors is None or narratives.cut is None:
        return found
    return found.with_vectors(narratives.vectors[joined], narratives.cut[joined])
