"""Messages of a chat that WhatsApp exported as text: a date and a name stand before each, and are no part of it."""

import re
from itertools import islice
from pathlib import Path

from macroscope.corpora.files.containers.rows import NumberedRows, Rows
from macroscope.corpora.records import read_numbered_lines

_DATE = re.compile(
    r"\u200e?\[?\d{1,4}[./-]\d{1,2}[./-]\d{1,4},?\s\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s[ap]\.?\s?m\.?)?(?:\]|\s-)\s",
    re.IGNORECASE,
)
"""Beginning of a message on an iPhone, [26.11.25, 14:05:03], or on Android, 26/11/2025, 14:05 -."""
_NAME = re.compile(r"[^:]{1,60}: ?")
_NO_TEXT = re.compile(r"\u200e|<[^<>]+>$|$")
"""Beginning of a message without text: of the program, or in place of a picture."""
_FIRST_LINES = 3


def is_chat(path: Path) -> bool:
    """Return whether one of the first lines of a text file begins as a message does; the first of all may not."""
    return any(_DATE.match(line) for _, line in islice(read_numbered_lines(path), _FIRST_LINES))


def open_chat(path: Path) -> Rows:
    """Return the messages of a chat; one without text, or of the program, has None."""
    return Rows("line", lambda _: _read(path), ("messages of a WhatsApp chat, without dates and names",))


def _read(path: Path) -> NumberedRows:
    beginning, lines = 0, list[str]()
    for number, line in read_numbered_lines(path):
        if match := _DATE.match(line):
            if beginning:
                yield beginning, {"text": _text_of(lines)}
            beginning, lines = number, [line[match.end() :]]
        elif beginning:
            lines.append(line)
    if beginning:
        yield beginning, {"text": _text_of(lines)}


def _text_of(lines: list[str]) -> str | None:
    name = _NAME.match(lines[0])
    text = "\n".join([lines[0][name.end() :], *lines[1:]]).strip() if name else ""
    return None if _NO_TEXT.match(text) else text
