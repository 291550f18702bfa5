"""Files of a run without the texts, titles and ids of documents, and the search that shows it.

Ids and first words become pseudonyms (`document_keys`), so that documents are still grouped and paired.
"""

import csv
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from macroscope.document_keys import pseudonym_of_id, pseudonym_of_key, pseudonym_of_word
from macroscope.documents import SCHEMA, Document, Section, read_documents, read_provenance, write_documents
from macroscope.files import read_json, write_json

_TEXTS = frozenset(("after", "before", "candidate_example", "excerpt", "reference_example", "text", "title"))
"""Columns that hold parts of documents."""
_PASSAGES = "passages.json"
_EVIDENCE = "evidence"
"""Folder of what the report shows of single documents."""
_FAILED = "failed_documents"
_WORDS_IN_SEARCH = 5
_HEAD = 4096
_WORD = re.compile(r"\w(?:\S*\w)?")
"""A word: what white space surrounds, without the marks before and after it."""
_SHARE = re.compile(r"\(\d+%\);?")
"""A share behind a name of several words, as that of a topic."""
Digests = NDArray[np.int64]


@dataclass(frozen=True)
class Rules:
    """Rules for the values of columns and of keys of JSON.

    Attributes
    ----------
    keep
        Names of columns that stay as they are.
    words
        Names of columns with words of texts, of which those in `shared` stay, and others become pseudonyms.
    shared
        Words, and labels as "label:…", that many texts have; None: all.
    salt
        Secret on which pseudonyms depend; b"" for none.
    """

    keep: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    shared: frozenset[str] | None = None
    salt: bytes = b""

    def change_of(self, name: str) -> Callable[[Any], Any] | None:
        """Return what is done to the values of a column or a key; None if they stay."""
        if name in self.keep:
            return None
        if self.shared is not None and name in self.words:
            return self._replace_rare
        if name in _TEXTS:
            return lambda value: value and ""
        pseudonym = {"id": pseudonym_of_id, "opening": pseudonym_of_key}.get(name)
        return pseudonym and (lambda value: value and pseudonym(value, self.salt))

    def label_of(self, document: Document) -> str | None:
        """Return the label of a document if it is kept."""
        is_kept = "label" in self.keep and (self.shared is None or f"label:{document.label}" in self.shared)
        return document.label if is_kept else None

    def _replace_rare(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._replace_rare(each) for each in value]
        if not isinstance(value, str):
            return value
        stays = [not word or word in (self.shared or ()) or _SHARE.fullmatch(word) for word in value.split(" ")]
        words = zip(value.split(" "), stays, strict=True)
        return " ".join(word if is_kept else pseudonym_of_word(word, self.salt) for word, is_kept in words)


_ALL = Rules()


def redact(source: Path, target: Path, rules: Rules = _ALL) -> None:
    """Copy a file, or the files of a folder, without texts, titles and ids."""
    if source.is_dir():
        target.mkdir(parents=True)
        for path in sorted(source.iterdir()):
            redact(path, target / path.name, rules)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    change = {".parquet": _redact_parquet, ".csv": _redact_csv, ".json": _redact_json}.get(source.suffix)
    if change is None:
        shutil.copyfile(source, target)
    else:
        change(source, target, rules)


def redact_document(document: Document, rules: Rules = _ALL) -> Document:
    """Return a document with nothing but its keys, its split, and perhaps its label."""
    key, identifier = pseudonym_of_key(document.opening, rules.salt), pseudonym_of_id(document.id, rules.salt)
    label = rules.label_of(document)
    return Document(identifier, document.split, None, (Section(None, ""),), label=label, prompt=key or None)


def _redact_parquet(source: Path, target: Path, rules: Rules) -> None:
    file = pq.ParquetFile(source)
    schema = file.schema_arrow
    if schema.names == SCHEMA.names:
        documents = (redact_document(each, rules) for each in read_documents(source))
        write_documents(target, documents, read_provenance(source))
        return
    of_schema = schema.metadata or {}
    metadata = {key: _redact_metadata(value, rules) for key, value in _metadata_of(file).items()}
    schema = schema.with_metadata({key: metadata.get(key, b"") for key in of_schema} or None)
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group)
            for number, field in enumerate(schema):
                if (change := _change_of(field, rules)) is not None:
                    values = pa.array(map(change, table.column(number).to_pylist()), field.type)
                    table = table.set_column(number, field, values)
            writer.write_table(table.replace_schema_metadata(schema.metadata))
        writer.add_key_value_metadata({key: value for key, value in metadata.items() if key not in of_schema})


def _metadata_of(file: pq.ParquetFile) -> dict[bytes, bytes]:
    """Return what a file says beside its table, of the table's schema and of the file."""
    return {key: value for key, value in (file.metadata.metadata or {}).items() if key != b"ARROW:schema"}


def _change_of(field: pa.Field, rules: Rules) -> Callable[[Any], Any] | None:
    """Return what is done to the values of a column; None if they stay."""
    if field.name == "marks":  # the order of marked words is that of the text
        return lambda marks: []
    if pa.types.is_list(field.type) and pa.types.is_struct(field.type.value_type):
        # Words in the order in which they first occur are a part of the text.
        return lambda entries: sorted(
            (_redact_value(entry, rules) for entry in entries), key=lambda entry: [*map(str, entry.values())]
        )
    return rules.change_of(field.name)


def _redact_metadata(value: bytes, rules: Rules) -> bytes:
    """Return metadata with pseudonyms in the place of ids, which are keys of numbers."""
    try:
        entries = json.loads(value)
    except ValueError:
        return value
    if isinstance(entries, dict) and entries and all(isinstance(number, float) for number in entries.values()):
        return json.dumps({pseudonym_of_id(name, rules.salt): number for name, number in entries.items()}).encode()
    return value


def _redact_csv(source: Path, target: Path, rules: Rules) -> None:
    with source.open(encoding="utf-8", newline="") as read, target.open("w", encoding="utf-8", newline="") as written:
        rows = csv.DictReader(read)
        names = list(rows.fieldnames or ())
        changed = [{name: (rules.change_of(name) or str)(value) for name, value in row.items()} for row in rows]
        if "word" in names:  # words in the order in which they first occur are a part of the texts
            changed.sort(key=lambda row: row["word"])
        writer = csv.DictWriter(written, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(changed)


def _redact_json(source: Path, target: Path, rules: Rules) -> None:
    """Copy a file of JSON: without texts if it is evidence; ids of documents that failed become pseudonyms."""
    if _EVIDENCE in source.parts:
        write_json(target, [] if source.name == _PASSAGES else _redact_value(read_json(source), rules))
        return
    value = read_json(source)
    if isinstance(value, dict) and _FAILED in value:
        write_json(target, value | {_FAILED: [pseudonym_of_id(each, rules.salt) for each in value[_FAILED]]})
    elif isinstance(value, dict) and rules.shared is not None and not rules.words.isdisjoint(value):
        write_json(target, _redact_value(value, rules))
    else:  # of a model, which reads it
        shutil.copyfile(source, target)


def _redact_value(value: Any, rules: Rules) -> Any:
    if isinstance(value, list):
        return [_redact_value(each, rules) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: change(inside)
        if (change := rules.change_of(name)) is not None and (isinstance(inside, str) or name in rules.words)
        else _redact_value(inside, rules)
        for name, inside in value.items()
    }


# ---- search ----------------------------------------------------------------------------------------------------------


class Passages:
    """All sequences of five words of texts, to find those in other files.

    Parameters
    ----------
    texts
        The texts.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        digests = [np.unique(_digests(text)) for text in texts]
        # The end, which no digest is, saves a check of places behind the last one.
        self._known = np.append(np.unique(np.concatenate([np.empty(0, np.int64), *digests])), np.iinfo(np.int64).max)

    def find(self, path: Path) -> str | None:
        """Return the first sequence of the texts in a file; None if it has none."""
        return next((each for value in read_strings(path) if (each := self._find_in(value)) is not None), None)

    def _find_in(self, value: str) -> str | None:
        digests = _digests(value)
        places = np.flatnonzero(self._known[np.searchsorted(self._known, digests)] == digests)
        if not len(places):
            return None
        return " ".join(_WORD.findall(value.casefold())[places[0] : places[0] + _WORDS_IN_SEARCH])


def _digests(text: str) -> Digests:
    words = _WORD.findall(text.casefold())
    starts = range(len(words) - _WORDS_IN_SEARCH + 1)
    return np.array([hash(tuple(words[at : at + _WORDS_IN_SEARCH])) for at in starts], dtype=np.int64)


def read_strings(path: Path) -> Iterator[str]:
    """Yield what a file says: the strings of each row, of each column and of each list, joined in their order."""
    if path.suffix == ".parquet":
        file = pq.ParquetFile(path)
        yield " ".join(value.decode("utf-8", "replace") for value in _metadata_of(file).values())
        table = file.read()
        for field, column in zip(table.schema, table.columns, strict=True):
            if "string" not in str(field.type):
                continue
            rows = [[*_strings(value)] for value in column.to_pylist()]
            yield from (joined for strings in rows for joined in _join(strings))
            if not pa.types.is_nested(field.type):
                yield from _join([*chain.from_iterable(rows)])
    elif path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        yield from map(" ".join, rows)
        for _, *values in zip(*rows, strict=True):
            yield from _join(values)
    elif path.suffix == ".json":
        yield " ".join(_strings(read_json(path)))
    elif b"\0" not in (content := path.read_bytes())[:_HEAD]:  # arrays and weights have no words
        yield content.decode("utf-8", "replace")


def _join(values: list[str]) -> list[str]:
    """Return strings as one, unless they stand in the order of the alphabet, which says nothing of that of a text."""
    return values if values == sorted(values) else [" ".join(values)]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inside in value.values():
            yield from _strings(inside)
    elif isinstance(value, list | tuple):
        for inside in value:
            yield from _strings(inside)
