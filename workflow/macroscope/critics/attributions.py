"""Attributions: a critic's score of each document, and the spans of its text that the score is attributed to.

The stage `attribute` of a critic writes one row per document, in the order of the samples:

- `id`
- `score`: larger is less like real text, infinite if the document is impossible under the prior, null if the critic
  does not judge the document. The critic's declaration defines the score (`declaration.AttributionScore`).
- `marks`: spans, each with `section` (from 0), `start` and `end` (characters of the section's text; both equal to its
  length if the end of the section itself is marked), `weight` (in [0, 1], strength of the attribution) and `note`
  (the reason).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
Span = tuple[int, int, int]
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
REAL_SCORES_KEY = b"real_scores"
"""Metadata key: ids and scores of the real texts to compare with, if they are not the control's."""
ROWS_AT_ONCE = 1000


@dataclass(frozen=True)
class Attribution:
    """Score of one document under a critic, and the spans that the score is attributed to.

    Attributes
    ----------
    id
        Id of the document.
    score
        Score; larger is less like real text, NaN if the critic does not judge the document.
    marks
        (span, weight, note) of every marked span.
    """

    id: str
    score: float
    marks: Sequence[tuple[Span, float, str]] = ()


def write_attributions(rows: Iterable[Attribution], output: Path, real: Mapping[str, float] | None = None) -> None:
    """Write the attributions of a system's documents as a stream, atomically.

    Parameters
    ----------
    rows
        Attributions, one per document, in the order of the samples.
    real
        Id -> score of the real texts to compare with; None: the control's.
    """
    schema = SCHEMA if real is None else SCHEMA.with_metadata({REAL_SCORES_KEY: json.dumps(dict(real)).encode()})
    with atomic(output) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for batch in in_batches(rows, ROWS_AT_ONCE):
            writer.write_table(pa.Table.from_pylist([_row(attribution) for attribution in batch], schema))


def read_attributions(path: Path) -> Iterator[dict[str, Any]]:
    """Read attributions as a stream of rows: id, score (None if not judged), marks."""
    for batch in _open(path).iter_batches(batch_size=ROWS_AT_ONCE):
        yield from batch.to_pylist()


def read_attributions_at(path: Path, row: int) -> dict[str, Any]:
    """Read the row of one document, by its index in the samples.

    Raises
    ------
    IndexError
        If the file has fewer rows.
    """
    for batch in _open(path).iter_batches(batch_size=ROWS_AT_ONCE):
        if row < len(batch):
            return dict(batch.slice(row, 1).to_pylist()[0])
        row -= len(batch)
    raise IndexError(f"{path} has no row {row}")


def read_scores(path: Path) -> tuple[list[str], Array, dict[str, float] | None]:
    """Read ids, scores (NaN if not judged), and the real texts to compare with (id -> score), if the file has them."""
    table = _open(path).read(columns=["id", "score"])
    real = (table.schema.metadata or {}).get(REAL_SCORES_KEY)
    scores = table.column("score").to_numpy().astype(float)
    return table.column("id").to_pylist(), scores, None if real is None else json.loads(real)


def read_real_scores(candidate: Path, control: Path) -> tuple[list[str], Array]:
    """Read ids and scores of the real texts that a system's texts are compared with.

    Parameters
    ----------
    candidate, control
        Attribution files of the system and of the control.
    """
    real = read_scores(candidate)[2]
    return read_scores(control)[:2] if real is None else (list(real), np.array(list(real.values()), dtype=float))


def attribute_latent_nll(scores: Path, *, output: Path) -> None:
    """Use T(x) as each document's score, without marks: a stage that any critic with a density may declare."""
    write_attributions((Attribution(name, nll) for name, nll in read_latent_nlls(scores).items()), output)


def attribute_evidence_nll(texts: Collection, own_evidence: Path, *, system: str, output: Path) -> None:
    """Use T(x) from a comparison's evidence as each document's score, for critics whose scores depend on both sides.

    The evidence's texts.parquet has the documents of both sides: id, side, nll. Scores of the candidate are compared
    with those of the reference. The control is split into halves, which are the two sides: all its scores are compared
    with each other.
    """
    table = pd.read_parquet(own_evidence / "texts.parquet", columns=["id", "side", "nll"])
    in_reference = table["side"] == "reference"
    candidate, real = (table, table) if system == CONTROL else (table[~in_reference], table[in_reference])
    nats = dict(zip(candidate["id"], candidate["nll"], strict=True))
    rows = (Attribution(name, nats.get(name, np.nan)) for name in texts.ids())
    write_attributions(rows, output, dict(zip(real["id"], real["nll"].tolist(), strict=True)))


def read_latent_nlls(scores: Path) -> dict[str, float]:
    """Read id -> T(x) in nats, in the order of the samples; NaN if the critic does not judge a document."""
    return dict(_columns(scores, "id", "nll"))


def read_nll_rates(scores: Path) -> dict[str, float]:
    """Read id -> T(x) / M, the nats per unit of the document; NaN if the critic does not judge it."""
    return {name: nll / units for name, nll, units in _columns(scores, "id", "nll", "units")}


def attribution_weight(cost: float, least: float) -> float:
    """Return the weight in [0, 1] of a span that costs `cost` nats: 0 for no cost, 1/2 at `least`, 1 in the limit."""
    return 1.0 if np.isinf(cost) else float(cost / (cost + least))


def find_section_starts(document: Document) -> list[int]:
    """Return the offset of each section in `document.text`, and the offset that a further section would have."""
    return list(accumulate((len(section.text) + 1 for section in document.sections), initial=0))


def locate_in_sections(starts: Sequence[int], start: int, end: int) -> list[Span]:
    """Convert characters [start, end) of `document.text` to spans, one for each section that contains any of them.

    Parameters
    ----------
    starts
        Offsets of the document's sections; see `find_section_starts`.
    """
    spans = []
    for number in range(int(np.searchsorted(starts, start, side="right")) - 1, len(starts) - 1):
        first, last = starts[number], starts[number + 1] - 1  # the line break belongs to neither side
        if first >= end:
            break
        if max(start, first) < min(end, last):
            spans.append((number, max(start, first) - first, min(end, last) - first))
    return spans


def merge_neighbours(spans: Sequence[Span]) -> list[Span]:
    """Merge consecutive marked spans of the same section into one span."""
    merged: list[Span] = []
    for section, start, end in spans:
        if merged and merged[-1][0] == section:
            merged[-1] = (section, merged[-1][1], end)
        else:
            merged.append((section, start, end))
    return merged


def _row(attribution: Attribution) -> dict[str, Any]:
    marks = [
        {"section": span[0], "start": span[1], "end": span[2], "weight": weight, "note": note}
        for span, weight, note in attribution.marks
    ]
    return {
        "id": attribution.id,
        "score": None if np.isnan(attribution.score) else float(attribution.score),
        "marks": marks,
    }


def _columns(path: Path, *names: str) -> Iterator[tuple[Any, ...]]:
    table = pq.read_table(path, columns=list(names)).to_pandas()
    return zip(*(table[name].tolist() for name in names), strict=True)


def _open(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file; run the critic's stage 'attribute' to write it") from None
