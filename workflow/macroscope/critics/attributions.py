"""What a critic blames texts for: a number for each document, and the places of its text that made it so.

What a critic's stage `attribute` writes, a row a document, in the order of the samples: `id`; `score` (larger is less like
real text, infinite where that is impossible; what it is, the declaration says; null where the critic does not judge the
document); `marks`, each with `section` (from 0), `start` and `end` (characters of the section's text; its
length both where the end itself is blamed), `weight` (in [0, 1], how strongly that place is blamed) and `note` (why).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from macroscope.documents import Collection, Document, in_batches
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.options import CONTROL

Array = NDArray[np.float64]
Place = tuple[int, int, int]
"""(section, start, end): characters of a section's text."""
MARK = pa.struct(
    [
        pa.field("section", pa.int32(), nullable=False),
        pa.field("start", pa.int32(), nullable=False),
        pa.field("end", pa.int32(), nullable=False),
        pa.field("weight", pa.float32(), nullable=False),
        pa.field("note", pa.string(), nullable=False),
    ]
)
SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("score", pa.float64()),
        pa.field("marks", pa.list_(MARK), nullable=False),
    ]
)
REAL = b"real_scores"
"""Metadata: scores of the real texts that these are to be held against, where they are not those of the control."""
ROWS_AT_ONCE = 1000


@dataclass(frozen=True)
class Attribution:
    """What a critic has against a document.

    Attributes
    ----------
    id
        Of the document.
    score
        Larger is less like real text; NaN where the critic does not judge it.
    marks
        (place, weight, note) of the places that are blamed.
    """

    id: str
    score: float
    marks: Sequence[tuple[Place, float, str]] = ()


def write_attributions(rows: Iterable[Attribution], output: Path, real: Array | None = None) -> None:
    """Write what a critic has against the documents of a system, streaming, whole or not at all.

    Parameters
    ----------
    rows
        One for every document, in the order of the samples.
    real
        Scores of the real texts that these are to be held against; None: those of the control.
    """
    schema = SCHEMA if real is None else SCHEMA.with_metadata({REAL: json.dumps(np.sort(real).tolist()).encode()})
    with atomic(output) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for some in in_batches(rows, ROWS_AT_ONCE):
            writer.write_table(pa.Table.from_pylist([_row(attributed) for attributed in some], schema))


def read_attributions(path: Path) -> Iterator[dict[str, Any]]:
    """Stream what was written: id, score (None where not judged), marks."""
    for batch in _open(path).iter_batches(batch_size=ROWS_AT_ONCE):
        yield from batch.to_pylist()


def read_attributions_at(path: Path, row: int) -> dict[str, Any]:
    """The row of one document, by its number in the samples."""
    for batch in _open(path).iter_batches(batch_size=ROWS_AT_ONCE):
        if row < len(batch):
            return dict(batch.slice(row, 1).to_pylist()[0])
        row -= len(batch)
    raise IndexError(f"{path} has no row {row}")


def read_scores(path: Path) -> tuple[list[str], Array, Array | None]:
    """Ids, scores (NaN where not judged), and the scores of real texts to hold them against, if the file has any."""
    table = _open(path).read(columns=["id", "score"])
    real = (table.schema.metadata or {}).get(REAL)
    scores = table.column("score").to_numpy().astype(float)
    return table.column("id").to_pylist(), scores, None if real is None else np.array(json.loads(real), dtype=float)


def attribute_latent_nll(scores: Path, *, output: Path) -> None:
    """Blame documents for their T(x), without marks: a stage that any critic with a density may declare."""
    write_attributions((Attribution(name, nll) for name, nll in totals(scores).items()), output)


def attribute_compared(texts: Path, own_evidence: Path, *, system: str, output: Path) -> None:
    """Blame documents for the T(x) of a comparison's evidence: a stage for critics whose scores depend on both sides.

    texts.parquet has the documents of both sides: id, side, nll. Those of the candidate are held against those of the
    reference, and of the control, whose halves are the sides, all against each other.
    """
    table = pd.read_parquet(own_evidence / "texts.parquet", columns=["id", "side", "nll"])
    reference = table["side"] == "reference"
    own, real = (table, table) if system == CONTROL else (table[~reference], table[reference])
    nats = dict(zip(own["id"], own["nll"], strict=True))
    rows = (Attribution(name, nats.get(name, np.nan)) for name in Collection(texts).ids())
    write_attributions(rows, output, real["nll"].to_numpy(float))


def totals(scores: Path) -> dict[str, float]:
    """Id -> T(x) in nats, in the order of the samples; NaN where the critic does not judge a document."""
    return dict(_columns(scores, "id", "nll"))


def rates(scores: Path) -> dict[str, float]:
    """Id -> T(x) over the document's units, in nats; NaN where the critic does not judge it."""
    return {name: nll / units for name, nll, units in _columns(scores, "id", "nll", "units")}


def attribution_weight(cost: float, least: float) -> float:
    """Weight of a place that costs so many nats: 0 for nothing, 1/2 where it begins to count, towards 1 beyond."""
    return 1.0 if np.isinf(cost) else float(cost / (cost + least))


def section_starts(document: Document) -> list[int]:
    """Where each section begins in `document.text`, and where one behind the last would."""
    return list(accumulate((len(section.text) + 1 for section in document.sections), initial=0))


def places_within(starts: Sequence[int], start: int, end: int) -> list[Place]:
    """Characters of `document.text` as places, one in each section that has any of them.

    Parameters
    ----------
    starts
        Of the document; see `section_starts`.
    """
    found = []
    for number in range(int(np.searchsorted(starts, start, side="right")) - 1, len(starts) - 1):
        first, last = starts[number], starts[number + 1] - 1  # the line break belongs to neither side
        if first >= end:
            break
        if max(start, first) < min(end, last):
            found.append((number, max(start, first) - first, min(end, last) - first))
    return found


def joined(places: Sequence[Place]) -> list[Place]:
    """Neighbouring places as one, within each section."""
    found: list[Place] = []
    for section, start, end in places:
        if found and found[-1][0] == section:
            found[-1] = (section, found[-1][1], end)
        else:
            found.append((section, start, end))
    return found


def _row(attributed: Attribution) -> dict[str, Any]:
    marks = [
        {"section": place[0], "start": place[1], "end": place[2], "weight": weight, "note": note}
        for place, weight, note in attributed.marks
    ]
    return {
        "id": attributed.id,
        "score": None if np.isnan(attributed.score) else float(attributed.score),
        "marks": marks,
    }


def _columns(path: Path, *names: str) -> Iterator[tuple[Any, ...]]:
    table = pq.read_table(path, columns=list(names)).to_pandas()
    return zip(*(table[name].tolist() for name in names), strict=True)


def _open(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file; let the critic's stage 'attribute' write it") from None
