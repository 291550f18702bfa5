"""The documents contract: the schema that all rooms share, with reading, writing and validation.

A *document* is a title and a list of sections; each section has a text and, if it is known, a title. Samples
(documents that a system produced) follow the same schema. On disk a collection is one Parquet file; its metadata
record where it came from and what each filter kept and dropped.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from macroscope.document_keys import key_of_text
from macroscope.errors import MacroscopeError, no_such_file
from macroscope.files import atomic, parse_as

SPLITS = ("train", "valid", "test")
ROWS_PER_GROUP = 1000
DOCUMENTS_AT_ONCE = 1000
"""Documents per batch of a projection. An encoder's output depends on its batches in the last digits, so the sizes of
shards are multiples of this size (`documents_per_shard` of the config)."""
T = TypeVar("T")
METADATA_KEY = b"macroscope"

SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("split", pa.string(), nullable=False),
        pa.field("title", pa.string()),
        pa.field("sections", pa.list_(pa.struct([("title", pa.string()), ("text", pa.string())])), nullable=False),
        pa.field("sentences", pa.list_(pa.string())),
        pa.field("label", pa.string()),
        pa.field("original", pa.string()),
        pa.field("prompt", pa.string()),
    ]
)


@dataclass(frozen=True)
class Section:
    """A section of a document: its text, and its title if it has one."""

    title: str | None
    text: str


@dataclass(frozen=True)
class Document:
    """A document or a sample.

    Attributes
    ----------
    id
        Identifier, unique in its collection.
    split
        "train", "valid" or "test".
    title
        Title of the whole document, or None.
    sections
        Sections in order, at least one.
    sentences
        Sentences of a narrative, or None.
    label
        Known class of the document (its topic, author, sentiment ...), or None.
    original
        Text that the document translates, or None.
    prompt
        Prompt that the document answers or begins with; "" if it has none, None if that is unknown.
    """

    id: str
    split: str
    title: str | None
    sections: tuple[Section, ...]
    sentences: tuple[str, ...] | None = None
    label: str | None = None
    original: str | None = None
    prompt: str | None = None

    @property
    def text(self) -> str:
        """Return the text of all sections, with a line break between them; titles do not count as text."""
        return "\n".join(section.text for section in self.sections)

    @property
    def opening(self) -> str:
        """Return what the text shares with others of its prompt; see `document_keys.key_of_text`."""
        return key_of_text(self.text, self.prompt)


@dataclass
class Count:
    """Numbers of units that one filter kept and dropped.

    `filter` is a short phrase that names the criterion ("redirect", "section shorter than 30 tokens"). `option` is the
    key of the config that sets it, or None; it is not written to files.
    """

    filter: str
    kept: int
    dropped: int
    unit: str = "documents"
    option: str | None = field(default=None, compare=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that are written to files."""
        return {"filter": self.filter, "kept": self.kept, "dropped": self.dropped, "unit": self.unit}


@dataclass
class Provenance:
    """Metadata of a collection: its origin, and the counts of its filters in order.

    `source` describes the origin (name, version, file, checksum), `options` holds everything that changed the content.
    """

    corpus: str
    source: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    counts: list[Count] = field(default_factory=list)

    def to_json(self) -> str:
        """Serialise for the metadata of a Parquet file."""
        return json.dumps(
            {
                "corpus": self.corpus,
                "source": self.source,
                "options": self.options,
                "counts": [count.as_dict() for count in self.counts],
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, content: bytes, where: str) -> "Provenance":
        """Parse what `to_json` wrote; `where` names its place in messages."""
        return parse_as(cls, content, where)


def validate(document: Document, where: str) -> None:
    """Check that a document keeps the contract.

    Parameters
    ----------
    where
        File and line, or file and id, for the message.

    Raises
    ------
    MacroscopeError
        If the id is empty, the split is unknown, there are no sections, or a text cannot be written as UTF-8.
    """
    if not document.id:
        raise MacroscopeError(f"{where}: the document has no id; give every document a unique, non-empty 'id'")
    if document.split not in SPLITS:
        raise MacroscopeError(f"{where}: split is {document.split!r}; it must be one of {', '.join(SPLITS)}")
    if not document.sections:
        raise MacroscopeError(
            f"{where}: document {document.id!r} has no sections; give it at least one, or leave it out"
        )
    for text in _all_strings(document):
        require_whole_characters(text, f"{where}: document {document.id!a}")


def require_whole_characters(text: str, where: str) -> str:
    """Return a text that can be written as UTF-8; `where` names its place in the message.

    Raises
    ------
    MacroscopeError
        If it holds half a character (a lone surrogate), which JSON can spell.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise MacroscopeError(
            f"{where} has half a character, {text[error.start]!a}, which UTF-8 cannot hold; write the text again"
            " without it"
        ) from None
    return text


def _all_strings(document: Document) -> Iterator[str]:
    yield document.id
    yield from (
        text for text in (document.title, document.label, document.original, document.prompt) if text is not None
    )
    yield from document.sentences or ()
    for section in document.sections:
        yield from (text for text in (section.title, section.text) if text is not None)


def write_documents(path: Path, documents: Iterable[Document], provenance: Provenance) -> int:
    """Write a collection atomically, as a stream; the provenance may still change while `documents` is consumed.

    Returns
    -------
    int
        Number of documents written.

    Raises
    ------
    MacroscopeError
        If a document breaks the contract (`validate`), or two documents have one id.
    """
    seen: set[str] = set()
    with atomic(path) as temporary, pq.ParquetWriter(temporary, SCHEMA, compression="zstd") as writer:
        for batch in in_batches(documents, ROWS_PER_GROUP):
            for document in batch:
                validate(document, str(path))
                if document.id in seen:
                    raise MacroscopeError(f"{path}: two documents have the id {document.id!r}; ids must be unique")
                seen.add(document.id)
            writer.write_table(_to_table(batch))
        writer.add_key_value_metadata({METADATA_KEY: provenance.to_json().encode()})
    return len(seen)


def read_documents(path: Path, split: str | None = None) -> Iterator[Document]:
    """Stream a collection in file order; memory is bounded by a row group.

    Parameters
    ----------
    split
        Split to read; default: all.
    """
    for batch in _open(path).iter_batches(batch_size=ROWS_PER_GROUP):
        for row in batch.to_pylist():
            if split is None or row["split"] == split:
                yield _from_row(row)


@dataclass(frozen=True)
class Collection:
    """Documents of a file, or one shard of them, in file order.

    Attributes
    ----------
    path
        Parquet file of the whole collection.
    shard, size
        Number of the shard, and documents per shard (the last may have fewer); without a size, all are one shard.
    """

    path: Path
    shard: int = 0
    size: int | None = None

    @property
    def total(self) -> int:
        """Return the number of documents of all shards together."""
        return int(_open(self.path).metadata.num_rows)

    @property
    def first(self) -> int:
        """Return the number of the shard's first document."""
        return self.shard * (self.size or 0)

    def __len__(self) -> int:
        rest = self.total - self.first
        return rest if self.size is None else max(0, min(self.size, rest))

    def __iter__(self) -> Iterator[Document]:
        skipped, left = self.first, len(self)
        for group in _row_groups_from(_open(self.path), skipped):
            rows = group.slice(0, left).to_pylist()
            left -= len(rows)
            yield from map(_from_row, rows)
            if not left:
                return

    def ids(self) -> list[str]:
        """Return the ids of the documents, without reading their texts."""
        column = pq.read_table(self.path, columns=["id"]).column("id")
        return list(column.slice(self.first, len(self)).to_pylist())

    def batches(self) -> Iterator[list[Document]]:
        """Stream the documents in lists of `DOCUMENTS_AT_ONCE`: the same lists whatever the number of shards."""
        return in_batches(self, DOCUMENTS_AT_ONCE)


def read_provenance(path: Path) -> Provenance:
    """Read the metadata of a collection."""
    metadata = _open(path).metadata.metadata or {}
    if METADATA_KEY not in metadata:
        raise MacroscopeError(f"{path}: the file was not written by macroscope; import it as source or system 'files'")
    return Provenance.from_json(metadata[METADATA_KEY], f"{path}: its provenance")


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Cut a stream into lists of `size` items; the last may be shorter."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def count_documents(path: Path, split: str) -> int:
    """Count the documents of a split, without reading their texts."""
    column = _open(path).read(columns=["split"]).column("split")
    return int(pc.sum(pc.equal(column, split)).as_py() or 0)


def require_documents(documents: Sequence[Document], path: Path, split: str) -> Sequence[Document]:
    """Return `documents` if there are any; raise `MacroscopeError` if the split of the file is empty."""
    require_count(len(documents), path, split)
    return documents


def require_count(count: int, path: Path, split: str) -> int:
    """Return the number of documents of a split; raise `MacroscopeError` if it is 0."""
    if not count:
        raise MacroscopeError(
            f"{path}: no documents in split '{split}'; give the corpus more documents or looser filters"
        )
    return count


def _open(path: Path) -> pq.ParquetFile:
    try:
        file = pq.ParquetFile(path)
    except FileNotFoundError:
        raise no_such_file(path) from None
    except (pa.ArrowInvalid, OSError) as error:
        raise MacroscopeError(f"{path}: not a readable Parquet file ({error})") from None
    missing = [name for name in ("id", "split", "sections") if name not in file.schema_arrow.names]
    if missing:
        raise MacroscopeError(
            f"{path}: no column '{missing[0]}'; give a collection, with the columns id, split, title and sections"
        )
    return file


def _row_groups_from(file: pq.ParquetFile, skipped: int) -> Iterator[pa.Table]:
    for number in range(file.num_row_groups):
        rows = file.metadata.row_group(number).num_rows
        if skipped >= rows:
            skipped -= rows
            continue
        table = file.read_row_group(number)
        yield table.slice(skipped)
        skipped = 0


def _to_table(documents: Sequence[Document]) -> pa.Table:
    rows = [
        {
            "id": document.id,
            "split": document.split,
            "title": document.title,
            "sections": [{"title": section.title, "text": section.text} for section in document.sections],
            "sentences": None if document.sentences is None else list(document.sentences),
            "label": document.label,
            "original": document.original,
            "prompt": document.prompt,
        }
        for document in documents
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _from_row(row: dict[str, Any]) -> Document:
    sections = tuple(Section(section["title"], section["text"]) for section in row["sections"])
    sentences = row.get("sentences")
    sentences = None if sentences is None else tuple(sentences)
    further = (row.get(name) for name in ("label", "original", "prompt"))
    return Document(row["id"], row["split"], row.get("title"), sections, sentences, *further)


def keep(count: Count, condition: bool) -> bool:
    """Count one unit as kept or dropped, and return `condition`."""
    if condition:
        count.kept += 1
    else:
        count.dropped += 1
    return condition
