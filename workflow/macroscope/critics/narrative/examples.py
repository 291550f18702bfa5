"""Damaged segments as detectors read them: numbers of the sentences, labels, and the original sentences."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from macroscope.critics.narrative.options import Task
from macroscope.critics.narrative.segments import Segment
from macroscope.critics.narratives import Integers, Narratives

NONE = -1
"""Placeholder for a missing sentence, label or target."""
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
        Number of each segment's narrative (n).
    inputs
        Numbers of the sentences that a detector reads (n x m), padded with `NONE`.
    labels
        1 if a sentence is missing after this one, or if this one replaces another; 0 if not; `NONE` at positions
        without a label: the slot after the last sentence, and padding (n x m).
    targets
        Number of the original sentence if the label is 1; else `NONE` (n x m).
    """

    narratives: Integers
    inputs: Integers
    labels: npt.NDArray[np.int8]
    targets: Integers

    def __len__(self) -> int:
        return len(self.narratives)

    def select(self, indices: npt.ArrayLike | slice) -> "Examples":
        """Return the examples with these indices or flags."""
        rows = indices if isinstance(indices, slice) else np.asarray(indices)
        return Examples(self.narratives[rows], self.inputs[rows], self.labels[rows], self.targets[rows])

    @property
    def damaged(self) -> npt.NDArray[np.bool_]:
        """Return whether each segment is damaged (n)."""
        return (self.labels == 1).any(axis=1)


def make_examples(
    narratives: Narratives, segments: Sequence[Segment], task: Task, replacements: Mapping[tuple[int, int], int]
) -> Examples:
    """Damage segments.

    Parameters
    ----------
    replacements
        (number of the segment, place in it) -> number of the replacing sentence; a place without one stays
        unchanged. Empty if sentences are removed.
    """
    most = max((_length(segment, task) for segment in segments), default=1)
    inputs, labels, targets = (
        np.full((len(segments), most), NONE, dtype=dtype) for dtype in (np.int64, np.int8, np.int64)
    )
    for number, segment in enumerate(segments):
        row = slice(_length(segment, task))
        example = _example(narratives, number, segment, task, replacements)
        inputs[number, row], labels[number, row], targets[number, row] = example
    owners = np.array([segment.narrative for segment in segments], dtype=np.int64)
    return Examples(owners, inputs, labels, targets)


def _length(segment: Segment, task: Task) -> int:
    return segment.length - (len(segment.places) if task == "missing" else 0)


def _example(
    narratives: Narratives, number: int, segment: Segment, task: Task, replacements: Mapping[tuple[int, int], int]
) -> tuple[list[int], list[int], list[int]]:
    first = int(narratives.starts[segment.narrative]) + segment.first
    if task == "missing":
        kept = [place for place in range(segment.length) if place not in segment.places]
        is_damaged = [place + 1 in segment.places for place in kept]
        labels = [*(int(gap) for gap in is_damaged[:-1]), NONE]
        targets = [first + place + 1 if gap else NONE for place, gap in zip(kept, is_damaged, strict=True)]
        return [first + place for place in kept], labels, targets
    inputs = [replacements.get((number, place), first + place) for place in range(segment.length)]
    replaced = [(number, place) in replacements for place in range(segment.length)]
    targets = [first + place if is_damaged else NONE for place, is_damaged in enumerate(replaced)]
    return inputs, [int(is_damaged) for is_damaged in replaced], targets


def write_examples(path: Path, by_split: Mapping[str, Examples], counts: Mapping[str, Any]) -> None:
    """Write the examples of all splits into one Parquet file, and the counts into its metadata."""
    tables = [
        pa.Table.from_arrays(
            [
                pa.array([split] * len(examples), pa.string()),
                pa.array(examples.narratives),
                *(_lists(values) for values in (examples.inputs, examples.labels, examples.targets)),
            ],
            schema=_SCHEMA,
        )
        for split, examples in by_split.items()
    ]
    metadata = {KEY: json.dumps(counts, ensure_ascii=False).encode()}
    pq.write_table(pa.concat_tables(tables).replace_schema_metadata(metadata), path)


def _lists(values: npt.NDArray[np.integer]) -> pa.ListArray:
    """Return the rows of an array as lists."""
    rows, width = values.shape
    offsets = pa.array(np.arange(rows + 1) * width, pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.array(values.ravel()))


def read_examples(path: Path) -> tuple[dict[str, Examples], dict[str, Any]]:
    """Read examples by split, and the counts, from a file of `write_examples`."""
    table = pq.read_table(path)
    splits = table.column("split").unique().to_pylist()
    by_split = {split: _examples(table.filter(pc.field("split") == split)) for split in splits}
    counts = json.loads(table.schema.metadata[KEY])
    del table
    pa.default_memory_pool().release_unused()  # Arrow keeps freed memory
    return by_split, counts


def _examples(table: pa.Table) -> Examples:
    owners = table.column("narratives").to_numpy()
    flat = [table.column(name).combine_chunks().flatten().to_numpy() for name in ("inputs", "labels", "targets")]
    return Examples(owners, *(values.reshape(len(table), -1) for values in flat))
