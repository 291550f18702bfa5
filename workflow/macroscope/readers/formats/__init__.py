"""The formats of people's files, and the choice of the one that applies.

Each is a row of `resources/formats.csv`, in the order of trial. A layout is added as a row, with an expected reading in
`tests/unit/readers/test_formats.py`.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from macroscope.files import RESOURCES
from macroscope.readers.formats import programs
from macroscope.readers.formats.declaration import Fields, Format, has_marks
from macroscope.readers.messages import as_messages, split_chat
from macroscope.readers.paths import get

_JOINS = {"": None, "nothing": "", "blank": " ", "line": "\n"}
_FLAGS = ("is_certain", "has_own_ids")


def _format(row: dict[str, str]) -> Format:
    given: dict[str, Any] = {
        name: value for name, value in row.items() if value and name not in ("join", "read", *_FLAGS)
    }
    reader = getattr(programs, f"read_{row['read']}") if row["read"] else None
    flags: dict[str, Any] = {name: row[name] == "yes" for name in _FLAGS}
    return Format(**given, join=_JOINS[row["join"]], read=reader, **flags)


with (RESOURCES / "formats.csv").open(encoding="utf-8", newline="") as stream:
    FORMATS = tuple(_format(row) for row in csv.DictReader(stream))
DOCUMENTS = next(fmt for fmt in FORMATS if fmt.name == "documents")
"""This project's own format."""
CHAT = next(fmt for fmt in FORMATS if fmt.name == "chats (messages)")
"""The format of chats, which may be in a field of another name."""


__all__ = ["FORMATS", "find_formats", "find_records", "list_chats"]


def find_formats(records: Sequence[Fields], needs_answer: bool = True) -> list[Format]:
    """Return the formats that apply to the first record that has one, the one to use first; empty if none has.

    More than one means that the file is ambiguous, which the user must know. A chat in a field of any name is the last
    of all, if there is one alone, with an answer if one is needed.
    """
    for record in records:
        applicable = [fmt for fmt in FORMATS if fmt.applies(record)]
        if applicable:
            return applicable[:1] if applicable[0].is_certain else applicable
    chats = list_chats(records, needs_answer)
    return [replace(CHAT, name=f"chats ({name})", text=name) for name in chats] if len(chats) == 1 else []


def list_chats(records: Sequence[Fields], needs_answer: bool = True) -> list[str]:
    """List the fields of the first record that hold chats, with an answer if one is needed."""
    chats = ((name, split_chat(as_messages(value))) for record in records[:1] for name, value in record.items())
    return [name for name, chat in chats if (chat.text if needs_answer else len(chat.messages) > 1)]


def find_records(content: Mapping[str, object]) -> Sequence[object] | None:
    """Return the records inside of a JSON object that holds all of a file's; None if it is a record itself."""
    for fmt in FORMATS:
        if fmt.records and has_marks(content, fmt.holder) and isinstance(records := get(content, fmt.records), list):
            return records
    return None
