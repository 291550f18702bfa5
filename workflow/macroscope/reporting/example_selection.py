"""Selection of an example document for a critic: the text that best shows why the system differs from real text.

The selected text has the score farthest outside the distribution of real texts, on either side: a system may be too
likely as well as too unlikely, and the largest score of a too likely system is unremarkable. (If the score is a
distance, only large values are unusual.) If most of the system's texts are on one side of the real median, the example
is taken from that side when possible, so that it shows typical rather than rare behaviour. Texts within the middle 90 %
of real texts are never selected. The shortest texts have the most extreme means over steps and little to read;
therefore texts below the system's lower quartile of length (in characters, which every script has) are excluded. Texts
without marks are excluded if the critic marks any of the others.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from macroscope.reporting.reader.index import CriticScores

ORDINARY = 0.05
"""Tail share of real texts, on the same side, above which a text is not unusual."""
SHORT = 0.25
"""Share of the system's texts, the shortest ones, that are excluded."""
MOST = 2 / 3
"""Share of the system's texts on one side of the real median from which the example is taken from that side."""


@dataclass(frozen=True)
class Choice:
    """A selected text.

    Attributes
    ----------
    row
        Index of the text in the samples.
    marked
        Whether texts without marks were excluded.
    """

    row: int
    marked: bool


def choose_document(
    scores: CriticScores, lengths: NDArray[np.int64], marks: NDArray[np.int64], *, distance: bool = False
) -> Choice | None:
    """Choose the most unusual text, as described in the module's docstring; None if no text is unusual.

    Parameters
    ----------
    scores
        Scores of the texts by the critic.
    lengths, marks
        Characters and number of the critic's marks per text.
    distance
        Whether the score is a distance; see `declaration.AttributionScore`.
    """
    tails = scores.tails(one_sided=distance)
    usable = (tails <= ORDINARY) & (lengths >= np.quantile(lengths, SHORT))
    for is_on_side in () if distance else (scores.scores > scores.middle, scores.scores < scores.middle):
        if is_on_side.mean() >= MOST and (usable & is_on_side).any():
            usable &= is_on_side
    marked = usable & (marks > 0)
    if marked.any():
        usable = marked
    rows = np.flatnonzero(usable)
    if not len(rows):
        return None
    # Texts beyond all real ones tie in their tail share: the farthest from the median comes first.
    order = np.lexsort((rows, -scores.distances[rows], tails[rows]))
    return Choice(int(rows[order[0]]), bool(marked.any()))


def text_lengths(samples: Path) -> NDArray[np.int64]:
    """Return the number of characters of each text, read from its column without building documents."""
    return np.concatenate([_characters(sections) for sections in _batches(samples, "sections.list.element.text")])


def mark_counts(attribution: Path) -> NDArray[np.int64]:
    """Return the number of a critic's marks in each text, from the column of their sections alone."""
    counts = [pc.list_value_length(marks).to_numpy() for marks in _batches(attribution, "marks.list.element.section")]
    return np.concatenate(counts).astype(np.int64)


def _batches(path: Path, column: str) -> Iterator[pa.ListArray]:
    for batch in pq.ParquetFile(path).iter_batches(columns=[column]):
        yield batch.column(0)


def _characters(sections: pa.ListArray) -> NDArray[np.int64]:
    lengths = pc.utf8_length(pc.struct_field(sections.flatten(), 0)).to_numpy(zero_copy_only=False)
    owners = pc.list_parent_indices(sections).to_numpy()
    return np.bincount(owners, lengths, minlength=len(sections)).astype(np.int64)
