"""Containers of records, recognised by their content; the name of a file matters for text and tables alone."""

from collections.abc import Collection
from pathlib import Path

from macroscope.corpora.columnar import ARROW_MAGIC, read_numbered_rows
from macroscope.corpora.compression import DAMAGE, open_bytes, raise_broken, read_all, without_suffix
from macroscope.corpora.files.containers.delimited import open_delimited
from macroscope.corpora.files.containers.inspect_archives import LOG_SUFFIX, is_log, open_log
from macroscope.corpora.files.containers.json_values import open_json
from macroscope.corpora.files.containers.rows import NumberedRows, Rows
from macroscope.corpora.files.containers.wikiextractor import BEGINNING, open_articles
from macroscope.errors import MacroscopeError
from macroscope.files import parse_json, require_regular

TEXT_SUFFIXES = (".txt", ".md", ".markdown")
FORMATS_READ = (
    "JSON Lines (.jsonl), JSON (.json), Parquet (.parquet), Arrow (.arrow, .feather), CSV (.csv, .tsv), the files of a"
    " harness, or a folder of such files or of .txt or .md files"
)
_TABLE_SUFFIXES = (".csv", ".tsv")
_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
_COLUMNAR_SUFFIXES = (".parquet", ".arrow", ".feather")
_BLANK = b"\xef\xbb\xbf \t\r\n"
_BEGINNING_BYTES = 4096


def open_rows(path: Path, named: Collection[str] = ()) -> Rows:
    """Return the rows of a file.

    Parameters
    ----------
    named
        Names of fields that the user gave, which may be those of a table's columns.

    Raises
    ------
    MacroscopeError
        If the file is absent, or of an unknown format.
    """
    rows = find_rows(path, named)
    if rows is None:
        raise MacroscopeError(f"{path}: unknown format; give {FORMATS_READ}")
    return rows


def find_rows(path: Path, named: Collection[str] = ()) -> Rows | None:
    """Return the rows of a file, or None if its format is unknown."""
    require_regular(path)
    name = without_suffix(path.name)
    if name.endswith(TEXT_SUFFIXES):
        return Rows("", lambda _: _read_text(path))
    if name.endswith(_TABLE_SUFFIXES):
        return open_delimited(path, named)
    beginning = _beginning(path)
    if beginning.startswith((b"PAR1", *ARROW_MAGIC)) or name.endswith(_COLUMNAR_SUFFIXES):
        return Rows("row", lambda wanted: read_numbered_rows(path, wanted))
    if name.endswith(LOG_SUFFIX) or is_log(path):
        return open_log(path)
    stripped = beginning.lstrip(_BLANK)
    if stripped.startswith((b"{", b"[")) or name.endswith(_JSON_SUFFIXES):
        return open_json(path)
    return open_articles(path) if stripped.startswith(BEGINNING) else None


def _beginning(path: Path) -> bytes:
    try:
        with open_bytes(path) as stream:
            return stream.read(_BEGINNING_BYTES)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file") from None
    except DAMAGE as error:
        raise_broken(error, str(path))


def _read_text(path: Path) -> NumberedRows:
    """Read a whole file as one text."""
    try:
        text = read_all(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MacroscopeError(f"{path}: not valid UTF-8 (byte {error.start + 1:,}); save the file as UTF-8") from None
    if _is_json_lines(text):
        raise MacroscopeError(f"{path}: JSON Lines in a text file; call it .jsonl, so that each line is a document")
    # As `Path.read_text` reads line ends.
    yield 1, {"text": text.replace("\r\n", "\n").replace("\r", "\n")}


def _is_json_lines(text: str) -> bool:
    """Return whether the first line is a record with `text` or `sections`."""
    first = text.lstrip().partition("\n")[0]
    if not first.startswith("{"):
        return False
    try:
        record = parse_json(first.encode(), "", "")
    except (MacroscopeError, UnicodeEncodeError):
        return False
    return isinstance(record, dict) and bool({"text", "sections"} & set(record))
