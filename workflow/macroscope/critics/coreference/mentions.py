"""The contract of resolvers: who is mentioned where in a text.

Whatever resolves coreference (the embedded rules, a neural model in an environment of its own, a user's own tool) hands
over a Parquet file with one row a document, and everything else of the critic begins there. Places are characters of
the document's text (its sections, a line break between two), so that no tokenizer has to be shared.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.errors import MacroscopeError
from macroscope.files import atomic

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
    """A mention of somebody (or of something: only persons go into chains).

    Attributes
    ----------
    start, end
        Characters where it starts, and before which it ends.
    head_start, head_end
        The same of the word that stands for it: its syntactic root, or the last of a name.
    entity
        Number of its cluster in the document.
    pronoun
        Whether it is a pronoun, whose surface goes into the chain.
    person
        Whether it alone tells that this is a person: a personal pronoun other than "it", or a person's name.
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
    """A document whose mentions were resolved.

    Attributes
    ----------
    id
        Of the document.
    sentence_starts
        Characters where sentences start, in order.
    mentions
        In any order. They may overlap; one that is empty or outside of the text is left out and counted by whoever
        reads it.
    error
        Why the resolver failed on this document, or None.
    """

    id: str
    sentence_starts: tuple[int, ...] = ()
    mentions: tuple[Mention, ...] = ()
    error: str | None = None


def write_resolved(path: Path, documents: Iterable[Resolved]) -> None:
    """Write a file of the contract."""
    rows = [
        {
            "id": document.id,
            "sentence_starts": document.sentence_starts,
            "mentions": [asdict(mention) for mention in document.mentions],
            "error": document.error,
        }
        for document in documents
    ]
    with atomic(path) as temporary:
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), temporary)


def read_resolved(path: Path) -> Iterator[Resolved]:
    """Read a file of the contract, a document at a time.

    Raises
    ------
    MacroscopeError
        Where it is not one; where a number is missing in a mention.
    """
    try:
        file = pq.ParquetFile(path)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file of mentions; write one (docs/critics/coreference.md)") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise MacroscopeError(f"{path}: not a readable Parquet file ({error})") from None
    missing = [name for name in ("id", "sentence_starts", "mentions") if name not in file.schema_arrow.names]
    if missing:
        raise MacroscopeError(f"{path}: no column '{missing[0]}'; a file of mentions has {', '.join(SCHEMA.names)}")
    known = pa.schema([field for field in SCHEMA if field.name in file.schema_arrow.names])
    for batch in file.iter_batches(batch_size=1000, columns=known.names):
        try:
            rows = pa.Table.from_batches([batch]).select(known.names).cast(known).to_pylist()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, ValueError) as error:
            raise MacroscopeError(f"{path}: not the types of a file of mentions ({error}); see the docs") from None
        for row in rows:
            yield _resolved(path, row)


def _resolved(path: Path, row: dict[str, Any]) -> Resolved:
    where = f"{path}, document {row['id']!r}"
    if row.get("error") is not None:
        return Resolved(row["id"], error=row["error"])
    for name in ("sentence_starts", "mentions"):
        if row[name] is None:
            raise MacroscopeError(f"{where}: '{name}' is null; where the resolver failed, say why in 'error'")
    if None in row["sentence_starts"] or None in row["mentions"]:
        raise MacroscopeError(f"{where}: a null among 'sentence_starts' or 'mentions'; leave it out")
    if any(value is None for mention in row["mentions"] for value in mention.values()):
        raise MacroscopeError(f"{where}: a mention lacks a value; all are needed")
    return Resolved(row["id"], tuple(row["sentence_starts"]), tuple(Mention(**mention) for mention in row["mentions"]))
