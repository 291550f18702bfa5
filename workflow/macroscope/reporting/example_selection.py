"""Which of a system's texts shows best in what a critic finds it unlike real text.

The text whose score lies furthest out of real text's, on either side: a system may be too likely as well as too
unlikely, and the largest score of one that is too likely is as ordinary as any. (Where the score is a distance already,
a small one is nothing unusual, and only large ones count.) Where most of the system's texts lie on one side, so does
the one that is chosen, if any lies out there: it shows what the system does, not what it seldom does. No text within
the middle 90 % of real ones is ever chosen. Of a mean over steps the shortest scraps have the most extreme values and
the least to read, so texts below the system's lower quartile of length (characters, which every script has) are left
aside; and so are texts without a mark, where the critic marks any of the others.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from macroscope.reporting.reader.index import ScoresOfCritic

ORDINARY = 0.05
"""Of real texts: where more than so many lie as far out or further on the same side, a text is an ordinary one."""
SHORT = 0.25
"""Of the system's texts, the shortest, which are left aside."""
MOST = 2 / 3
"""Of the system's texts on one side of real text's median: the side that the text is chosen from."""


@dataclass(frozen=True)
class Choice:
    """A text.

    Attributes
    ----------
    row
        Its number in the samples.
    marked
        Whether texts without marks were left aside.
    """

    row: int
    marked: bool


def choose(
    judged: ScoresOfCritic, lengths: NDArray[np.int64], marks: NDArray[np.int64], *, distance: bool = False
) -> Choice | None:
    """Choose the text that lies furthest out, as the module says; None where none lies out.

    Parameters
    ----------
    judged
        What the critic says of them.
    lengths, marks
        Characters of each text, and places that the critic marks in it.
    distance
        Whether the score is a distance; see `declaration.Blame`.
    """
    tails = judged.tails(one_sided=distance)
    usable = (tails <= ORDINARY) & (lengths >= np.quantile(lengths, SHORT))
    for side in () if distance else (judged.scores > judged.middle, judged.scores < judged.middle):
        if side.mean() >= MOST and (usable & side).any():
            usable &= side
    marked = usable & (marks > 0)
    if marked.any():
        usable = marked
    rows = np.flatnonzero(usable)
    if not len(rows):
        return None
    # Beyond all real texts there is no share to tell texts apart by: what lies furthest from the middle comes first.
    order = np.lexsort((rows, -judged.distances[rows], tails[rows]))
    return Choice(int(rows[order[0]]), bool(marked.any()))


def text_lengths(samples: Path) -> NDArray[np.int64]:
    """Characters of each text, counted in its column: no document is made."""
    return np.concatenate([_characters(sections) for sections in _batches(samples, "sections.list.element.text")])


def mark_counts(attribution: Path) -> NDArray[np.int64]:
    """Places that a critic marks in each text, by the column of their sections alone."""
    counts = [pc.list_value_length(marks).to_numpy() for marks in _batches(attribution, "marks.list.element.section")]
    return np.concatenate(counts).astype(np.int64)


def _batches(path: Path, column: str) -> Iterator[pa.ListArray]:
    for batch in pq.ParquetFile(path).iter_batches(columns=[column]):
        yield batch.column(0)


def _characters(sections: pa.ListArray) -> NDArray[np.int64]:
    of_each = pc.utf8_length(pc.struct_field(sections.flatten(), 0)).to_numpy(zero_copy_only=False)
    owners = pc.list_parent_indices(sections).to_numpy()
    return np.bincount(owners, of_each, minlength=len(sections)).astype(np.int64)
