"""Damaged segments as detectors are given them: sentences by their numbers, labels, and what was there before."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.critics.narrative.narratives import Integers, Narratives
from macroscope.critics.narrative.options import Task
from macroscope.critics.narrative.segments import Segment

NONE = -1
"""Stands for no sentence, no label, no target."""
KEY = b"macroscope"
_SCHEMA = pa.schema(
    [
        ("split", pa.string()),
        ("narratives", pa.int64()),
        ("inputs", pa.list_(pa.int64())),
        ("labels", pa.list_(pa.int8())),
        ("targets", pa.list_(pa.int64())),
    ]
)


@dataclass(frozen=True)
class Examples:
    """Segments of a collection after damage: n segments of at most m sentences.

    Attributes
    ----------
    narratives
        Number of the narrative that each is from (n).
    inputs
        Numbers of the sentences that a detector reads (n x m); `NONE` behind the last one.
    labels
        1 where a sentence is missing behind this one, or where it stands for another one; 0 where not; `NONE` where
        there is nothing to say: behind the last sentence, and past it (n x m).
    targets
        Number of the sentence that was there, where the label is 1; else `NONE` (n x m).
    """

    narratives: Integers
    inputs: Integers
    labels: npt.NDArray[np.int8]
    targets: Integers

    def __len__(self) -> int:
        return len(self.narratives)

    def some(self, chosen: npt.ArrayLike) -> "Examples":
        """Those of some numbers or flags."""
        rows = np.asarray(chosen)
        return Examples(self.narratives[rows], self.inputs[rows], self.labels[rows], self.targets[rows])

    @property
    def damaged(self) -> npt.NDArray[np.bool_]:
        """Which of the segments are damaged (n)."""
        return (self.labels == 1).any(axis=1)


def examples_of(
    narratives: Narratives, segments: Sequence[Segment], task: Task, replacements: Mapping[tuple[int, int], int]
) -> Examples:
    """Damage segments.

    Parameters
    ----------
    replacements
        (number of the segment, place in it) -> number of the sentence that takes the place; a place without any stays
        as it is. Empty where sentences are removed.
    """
    rows = [_example(narratives, number, segment, task, replacements) for number, segment in enumerate(segments)]
    most = max((len(inputs) for inputs, _, _ in rows), default=1)
    padded = [[(*some, *([NONE] * (most - len(some)))) for some in row] for row in rows]
    inputs, labels, targets = (
        np.array([row[part] for row in padded], dtype=np.int64).reshape(len(rows), most) for part in range(3)
    )
    owners = np.array([segment.narrative for segment in segments], dtype=np.int64)
    return Examples(owners, inputs, labels.astype(np.int8), targets)


def _example(
    narratives: Narratives, number: int, segment: Segment, task: Task, replacements: Mapping[tuple[int, int], int]
) -> tuple[list[int], list[int], list[int]]:
    first = int(narratives.starts[segment.narrative]) + segment.first
    if task == "missing":
        left = [place for place in range(segment.length) if place not in segment.places]
        gone = [place + 1 in segment.places for place in left]
        labels = [*(int(gap) for gap in gone[:-1]), NONE]
        targets = [first + place + 1 if gap else NONE for place, gap in zip(left, gone, strict=True)]
        return [first + place for place in left], labels, targets
    inputs = [replacements.get((number, place), first + place) for place in range(segment.length)]
    replaced = [(number, place) in replacements for place in range(segment.length)]
    targets = [first + place if gone else NONE for place, gone in enumerate(replaced)]
    return inputs, [int(gone) for gone in replaced], targets


def write_examples(path: Path, by_split: Mapping[str, Examples], about: Mapping[str, Any]) -> None:
    """Write the examples of all splits into one Parquet file, and what is to be said about them into its metadata."""
    tables = [
        pa.Table.from_pydict(
            {"split": [split] * len(some), **{name: list(getattr(some, name)) for name in _SCHEMA.names[1:]}}, _SCHEMA
        )
        for split, some in by_split.items()
    ]
    metadata = {KEY: json.dumps(about, ensure_ascii=False).encode()}
    pq.write_table(pa.concat_tables(tables).replace_schema_metadata(metadata), path)


def read_examples(path: Path) -> tuple[dict[str, Examples], dict[str, Any]]:
    """Read what `write_examples` has written."""
    table = pq.read_table(path)
    splits = table.column("split").to_numpy(zero_copy_only=False)
    return (
        {split: _examples(table.filter(pa.array(splits == split))) for split in dict.fromkeys(splits)},
        json.loads(table.schema.metadata[KEY]),
    )


def _examples(table: pa.Table) -> Examples:
    owners = table.column("narratives").to_numpy()
    flat = [table.column(name).combine_chunks().flatten().to_numpy() for name in ("inputs", "labels", "targets")]
    return Examples(owners, *(some.reshape(len(table), -1) for some in flat))
