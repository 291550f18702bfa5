"""Files that are not read: what they are, by suffix or first bytes, and how to convert them."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from macroscope.files import RESOURCES
from macroscope.strict_yaml import read_yaml

KINDS = [
    {"suffixes": (), "beginnings": (), "command": "", "advice": ""} | row
    for row in read_yaml(RESOURCES / "unreadable.yaml")
]
"""Rows of `resources/unreadable.yaml`."""
_PROLOGUE = re.compile(rb"\A\s*(?:<\?xml[^>]*\?>|<!--.*?-->|\s)*", re.DOTALL)
_TEXT_MARKS = frozenset(b"\t\n\r\x0c\x1b")
"""Control characters that texts may hold."""


def describe_unreadable(path: Path, beginning: bytes) -> str:
    """Return what a file is that is not read, and what to do; "" if it is not known.

    Parameters
    ----------
    beginning
        Its first bytes.
    """
    starts = tuple(start.lstrip()[:32].lower() for start in (beginning, _PROLOGUE.sub(b"", beginning)))
    kind = next((row for row in KINDS if _is_of(row, path.name.lower(), starts)), None)
    if kind is None:
        return f"{path.name} looks like plain text: call it {path.name}.txt" if _is_text(beginning) else ""
    file, stem = shlex.quote(path.name), shlex.quote(path.stem)
    command = f"convert it first, for example with `{kind['command']}`" if kind["command"] else ""
    what = (command + kind["advice"]).format(file=file, stem=stem)
    return f"{path.name} is {kind['name']}, which is not read; {what}"


def _is_of(kind: Mapping[str, Any], name: str, starts: tuple[bytes, ...]) -> bool:
    beginnings = tuple(beginning.encode("latin-1") for beginning in kind["beginnings"])
    return name.endswith(tuple(kind["suffixes"])) or any(start.startswith(beginnings) for start in starts)


def _is_text(beginning: bytes) -> bool:
    """Return whether bytes begin a text in UTF-8, whose last character may be cut."""
    if not beginning or any(byte < 32 and byte not in _TEXT_MARKS for byte in beginning):
        return False
    try:
        beginning.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(beginning) - 4
    return True
