"""File format of resolved mentions, the interface between resolvers and the critic.

Every resolver (the embedded rules, a neural model in its own environment, a user's own tool) writes a Parquet file with
one row per document. Positions are character offsets into the document's text (its sections, joined by line breaks), so
that resolvers and the critic need not share a tokenizer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.errors import MacroscopeError

SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("sentence_starts", pa.list_(pa.int32())),
        pa.field(
            "mentions",
            pa.list_(
                pa.struct(
                    [
                        ("start", pa.int32()),
                        ("end", pa.int32()),
                        ("head_start", pa.int32()),
                        ("head_end", pa.int32()),
                        ("entity", pa.int32()),
                        ("pronoun", pa.bool_()),
                        ("person", pa.bool_()),
                    ]
                )
            ),
        ),
        pa.field("error", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention of a person or thing; only persons enter chains.

    Attributes
    ----------
    start, end
        Character span, the end exclusive.
    head_start, head_end
        Character span of the head: the syntactic root, or the last word of a name.
    entity
        Index of the mention's cluster in the document.
    pronoun
        Whether the mention is a pronoun, whose surface enters the chain.
    person
        Whether the mention alone identifies a person: a personal pronoun other than "it", or a person's name.
    """

    start: int
    end: int
    head_start: int
    head_end: int
    entity: int
    pronoun: bool
    person: bool


@dataclass(frozen=True)
class Resolved:
    """Resolved mentions of a document.

    Attributes
    ----------
    id
        Id of the document.
    sentence_starts
        Character offsets of sentence starts, in order.
    mentions
        Mentions in any order. They may overlap; the critic leaves out and counts those that are empty or outside the
        text.
    error
        Message of the resolver's failure on this document, or None.
    """

    id: str
    sentence_starts: tuple[int, ...] = ()
    mentions: tuple[Mention, ...] = ()
    error: str | None = None


def read_resolved(path: Path) -> Iterator[Resolved]:
    """Read a file of mentions, one document at a time."""
    try:
        file = pq.ParquetFile(path)
    except FileNotFoundError:
        raise MacroscopeError(
            f"{path}: no such file; write a file of mentions (see docs/critics/coreference.md)"
        ) from None
    except (pa.ArrowInvalid, OSError) as error:
        raise MacroscopeError(f"{path}: not a readable Parquet file ({error})") from None
    missing = [name for name in ("id", "sentence_starts", "mentions") if name not in file.schema_arrow.names]
    if missing:
        raise MacroscopeError(f"{path}: no column '{missing[0]}'; write the columns {', '.join(SCHEMA.names)}")
    schema = pa.schema([field for field in SCHEMA if field.name in file.schema_arrow.names])
    for batch in file.iter_batches(batch_size=1000, columns=schema.names):
        try:
            rows = pa.Table.from_batches([batch]).select(schema.names).cast(schema).to_pylist()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, ValueError) as error:
            raise MacroscopeError(
                f"{path}: columns of another type ({error}); see docs/critics/coreference.md"
            ) from None
        for row in rows:
            yield _parse_resolved(path, row)


def _parse_resolved(path: Path, row: dict[str, Any]) -> Resolved:
    where = f"{path}, document {row['id']!r}"
    if row.get("error") is not None:
        return Resolved(row["id"], error=row["error"])
    for name in ("sentence_starts", "mentions"):
        if row[name] is None:
            raise MacroscopeError(f"{where}: '{name}' is null; if the resolver failed, give its message in 'error'")
    if None in row["sentence_starts"] or None in row["mentions"]:
        raise MacroscopeError(f"{where}: a null among 'sentence_starts' or 'mentions'; remove it")
    if any(value is None for mention in row["mentions"] for value in mention.values()):
        raise MacroscopeError(f"{where}: a mention lacks a value; give all of its values")
    return Resolved(row["id"], tuple(row["sentence_starts"]), tuple(Mention(**mention) for mention in row["mentions"]))
