"""Containers of records, recognised by their content; names matter for text, spreadsheets and some tables alone."""

import re
import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from macroscope.errors import MacroscopeError, no_such_file
from macroscope.files import RESOURCES, require_regular
from macroscope.readers.columnar import ARROW_MAGIC, read_numbered_rows
from macroscope.readers.compression import DAMAGE, open_bytes, raise_broken, without_suffix
from macroscope.readers.compression import SUFFIXES as COMPRESSED_SUFFIXES
from macroscope.readers.containers.json_values import LOG_SUFFIX, is_log, open_json, open_log
from macroscope.readers.containers.tables import SUFFIXES as SPREADSHEET_SUFFIXES
from macroscope.readers.containers.tables import is_delimited, open_delimited, open_spreadsheet
from macroscope.readers.containers.texts import ARTICLE_BEGINNING, open_articles, open_text
from macroscope.readers.records import Rows
from macroscope.strict_yaml import read_yaml

SUBTITLE_SUFFIXES = (".srt", ".vtt")
TEXT_SUFFIXES = (".txt", ".md", ".markdown", ".wp_target", *SUBTITLE_SUFFIXES)
FORMATS_READ = (
    "JSON Lines (.jsonl), JSON (.json), Parquet (.parquet), Arrow (.arrow, .feather), CSV (.csv, .tsv), spreadsheets"
    " (.xlsx, .ods), the files of a harness, texts (.txt, .md), or a folder of such files"
)
_TABLE_SUFFIXES = (".csv", ".tsv")
_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
_COLUMNAR_SUFFIXES = (".parquet", ".arrow", ".feather")
RECORD_SUFFIXES = (*_TABLE_SUFFIXES, *_JSON_SUFFIXES, *_COLUMNAR_SUFFIXES, *SPREADSHEET_SUFFIXES, LOG_SUFFIX)
KNOWN_SUFFIXES = frozenset((*TEXT_SUFFIXES, *RECORD_SUFFIXES, *COMPRESSED_SUFFIXES, ".zip"))
"""Suffixes that say how a file is written, and not what it is."""
_BLANK = b"\xef\xbb\xbf \t\r\n"
_BEGINNING_BYTES = 4096
_JSON_BEGINNING = re.compile(rb"""\[\s*[\[{"'\]]|\{\s*["'}]""")


def open_rows(path: Path, named: Collection[str] = (), separator: str | None = None) -> Rows:
    """Return the rows of a file.

    Parameters
    ----------
    named
        Names of fields that the user gave, which may be those of a table's columns.
    separator
        Separator of the texts of a text file (`texts.open_text`).

    Raises
    ------
    MacroscopeError
        If the file is absent, or of an unknown format.
    """
    rows = find_rows(path, named, separator)
    if rows is None:
        raise MacroscopeError(f"{path}: unknown format; {advise(path)}")
    return rows


def advise(path: Path) -> str:
    """Return what to give instead of a file without texts that are read, and what it is, if that is known."""
    described = describe_unreadable(path, _beginning(path)) if find_rows(path) is None else ""
    return described or f"give {FORMATS_READ}"


def find_rows(path: Path, named: Collection[str] = (), separator: str | None = None) -> Rows | None:
    """Return the rows of a file, or None if its format is unknown."""
    require_regular(path)
    name = without_suffix(path.name)
    if name.endswith(TEXT_SUFFIXES):
        return open_text(path, separator)
    if name.endswith(_TABLE_SUFFIXES):
        return open_delimited(path, named)
    if name.endswith(SPREADSHEET_SUFFIXES):
        return open_spreadsheet(path, named)
    beginning = _beginning(path)
    if beginning.startswith((b"PAR1", *ARROW_MAGIC)) or name.endswith(_COLUMNAR_SUFFIXES):
        return Rows("row", lambda wanted: read_numbered_rows(path, wanted))
    if name.endswith(LOG_SUFFIX) or is_log(path):
        return open_log(path)
    stripped = beginning.lstrip(_BLANK)
    if _JSON_BEGINNING.match(stripped) or name.endswith(_JSON_SUFFIXES):
        return open_json(path)
    if stripped.startswith(ARTICLE_BEGINNING):
        return open_articles(path)
    return open_delimited(path, named) if is_delimited(beginning, named) else None


def _beginning(path: Path) -> bytes:
    try:
        with open_bytes(path) as stream:
            return stream.read(_BEGINNING_BYTES)
    except FileNotFoundError:
        raise no_such_file(path) from None
    except DAMAGE as error:
        raise_broken(error, str(path))


# ---- files that are not read -----------------------------------------------------------------------------------------

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
