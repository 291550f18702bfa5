"""The table of formats, `resources/formats.csv`: a row per layout of people's files, in the order of trial.

A layout is added as a row, with an expected reading in `tests/unit/readers/test_formats.py`.
"""

import csv
from typing import Any

from macroscope.files import RESOURCES
from macroscope.readers.formats import programs
from macroscope.readers.formats.declaration import Format

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
