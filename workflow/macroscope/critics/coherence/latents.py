"""Latents of the coherence critic on disk: the posterior over section types, section by section.

Columns: `id`; `opening` (`Document.opening`); `section_types` (MAP type of each section); `posterior` (sections x
types, float32, rows sum to 1, types in the order of the file's metadata); `gold` (normalised section titles; an item is
null if the title is not a known type, the list is null if a section has no title). The metadata counts sections,
sections truncated at the encoder's limit, and documents with unknown titles.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from macroscope.critics.latents import latents_schema, read_metadata, stream_latents, write_latents
from macroscope.errors import MacroscopeError

LATENTS = latents_schema(
    pa.field("section_types", pa.list_(pa.string()), nullable=False),
    pa.field("posterior", pa.list_(pa.list_(pa.float32())), nullable=False),
    pa.field("gold", pa.list_(pa.string())),
)


@dataclass
class Batch:
    """Latents of a batch of documents.

    Attributes
    ----------
    ids, openings
        Ids and openings of the documents.
    lengths
        Number of sections per document.
    posterior
        Array sections x types, documents concatenated.
    gold
        True section types per document, with None for unknown types; None for a document with untitled sections.
    """

    ids: list[str]
    openings: list[str]
    lengths: NDArray[np.int64]
    posterior: NDArray[np.float32]
    gold: list[list[str | None] | None]

    @property
    def states(self) -> NDArray[np.int64]:
        """Return the MAP type of each section, as an index."""
        return self.posterior.argmax(axis=1)


@dataclass
class LatentsInfo:
    """Metadata of a latents file: section types, signature, and counts."""

    types: list[str]
    signature: str
    counts: dict[str, int] = field(default_factory=dict)


def write_batches(path: Path, batches: Iterable[Batch], info: LatentsInfo) -> None:
    """Write latents batch by batch; `info.counts` may still grow while `batches` is consumed."""
    write_latents(path, LATENTS, (_to_table(batch, info.types) for batch in batches), info.signature, vars(info))


def read_info(path: Path) -> LatentsInfo:
    """Read the metadata of a latents file."""
    metadata = read_metadata(path, LATENTS)
    if "types" not in metadata:
        raise MacroscopeError(f"{path}: the section types are missing in the metadata; project the texts again")
    return LatentsInfo(**metadata)


def read_batches(path: Path) -> Iterator[Batch]:
    """Yield the batches of a latents file, as they were written."""
    types = len(read_info(path).types)
    for table in stream_latents(path, LATENTS):
        posterior = table["posterior"].combine_chunks()
        lengths = np.diff(posterior.offsets.to_numpy())
        flat = posterior.flatten().flatten().to_numpy().reshape(-1, types)
        ids, openings, gold = (table[name].to_pylist() for name in ("id", "opening", "gold"))
        yield Batch(ids, openings, lengths.astype(np.int64), flat, gold)


def read_states(path: Path) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield (id, MAP type of each section) for every document."""
    for batch in read_batches(path):
        yield from zip(batch.ids, np.split(batch.states, np.cumsum(batch.lengths)[:-1]), strict=True)


def _to_table(batch: Batch, types: list[str]) -> pa.Table:
    documents = pa.array(np.concatenate([[0], np.cumsum(batch.lengths)]), pa.int32())
    sections = pa.array(np.arange(len(batch.posterior) + 1) * len(types), pa.int32())
    values = pa.ListArray.from_arrays(sections, pa.array(batch.posterior.ravel(), pa.float32()))
    names = pa.array([types[state] for state in batch.states], pa.string())
    return pa.table(
        [
            pa.array(batch.ids, pa.string()),
            pa.array(batch.openings, pa.string()),
            pa.ListArray.from_arrays(documents, names),
            pa.ListArray.from_arrays(documents, values),
            pa.array(batch.gold, pa.list_(pa.string())),
        ],
        schema=LATENTS,
    )
