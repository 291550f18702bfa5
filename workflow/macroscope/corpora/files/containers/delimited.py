"""Rows of CSV and TSV: the separator is recognised, names of columns may differ in case and blanks, or be absent."""

import csv
import io
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from macroscope.corpora.compression import DAMAGE, open_bytes, raise_broken
from macroscope.corpora.files.containers.rows import NumberedRows, Rows
from macroscope.corpora.files.formats import FORMATS
from macroscope.errors import MacroscopeError
from macroscope.files import parse_json

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_LONGEST_NAME = 60
"""Characters of the longest cell that is the name of a column; a longer one is a text."""
_SAMPLE_ROWS = 100
_OF_JSON = ("sections", "section_names", "messages", "conversations", "choices", "outputs")
"""Fields that are lists, which CSV lacks: they are JSON in a cell."""


def open_delimited(path: Path, named: Collection[str] = ()) -> Rows:
    """Return the rows of a file of separated values.

    Parameters
    ----------
    named
        Further names of columns that the user gave.
    """
    csv.field_size_limit(sys.maxsize)
    known_names = {name.casefold(): name for name in (*(name for fmt in FORMATS for name in fmt.top_fields), *named)}
    separator, header = _find_header(path, known_names)
    remarks = [] if separator == _expected(path) else [f"separated by {_SEPARATORS[separator]}"]
    if header is None:
        names, text = _nameless_columns(path, separator)
        remarks.append(f"no line of names, so that column {text + 1} of {len(names)} is taken for the text")
    else:
        names = [known_names.get(name.strip().casefold(), name.strip()) for name in header]
        if repeated := next((name for name in names if names.count(name) > 1), None):
            raise MacroscopeError(f"{path}: two columns are called {repeated!r}; rename one")
    return Rows("line", lambda _: _read(path, separator, names, header is not None), tuple(remarks))


def _expected(path: Path) -> str:
    return "\t" if ".tsv" in path.name.lower() else ","


def _find_header(path: Path, known_names: Collection[str]) -> tuple[str, list[str] | None]:
    """Return the separator, and the names of the columns as written; None if the first line is no line of names."""
    first_rows: dict[str, list[str]] = {}
    for separator in (_expected(path), *(other for other in _SEPARATORS if other != _expected(path))):
        with _reader(path, separator) as reader:
            first_rows[separator] = next(reader, [])
        if any(name.strip().casefold() in known_names for name in first_rows[separator]):
            return separator, first_rows[separator]
    separator = _sniff(path) or _expected(path)
    row = first_rows[separator]
    return separator, None if any(len(name.strip()) > _LONGEST_NAME for name in row) else row


def _sniff(path: Path) -> str | None:
    with open_bytes(path) as stream:
        sample = stream.read(1 << 16).decode("utf-8-sig", "replace")
    try:
        return csv.Sniffer().sniff(sample, "".join(_SEPARATORS)).delimiter
    except csv.Error:
        return None


def _nameless_columns(path: Path, separator: str) -> tuple[list[str], int]:
    """Return names for the columns of a file without any, their numbers, and the number of the longest, the text."""
    with _reader(path, separator) as reader:
        rows = [row for _, row in zip(range(_SAMPLE_ROWS), reader, strict=False)]
    width = max(map(len, rows))
    lengths = [sum(len(row[column]) for row in rows if column < len(row)) for column in range(width)]
    text = lengths.index(max(lengths))
    return ["text" if column == text else str(column + 1) for column in range(width)], text


@contextmanager
def _reader(path: Path, separator: str) -> Iterator[Any]:
    """Yield a reader of rows; errors name the file and the line."""
    with open_bytes(path) as stream, io.TextIOWrapper(cast(IO[bytes], stream), "utf-8-sig", newline="") as text:
        reader = csv.reader(text, delimiter=separator, strict=True)
        try:
            yield reader
        except csv.Error as error:
            raise MacroscopeError(f"{path}, line {reader.line_num}: not valid CSV ({error})") from None
        except UnicodeDecodeError:
            raise MacroscopeError(
                f"{path}, after line {reader.line_num}: not valid UTF-8; save the file as UTF-8"
            ) from None
        except DAMAGE as error:
            raise_broken(error, str(path), f" after line {reader.line_num:,}")


def _read(path: Path, separator: str, names: list[str], has_header: bool) -> NumberedRows:
    with _reader(path, separator) as reader:
        rows = iter(reader)
        if has_header:
            next(rows, None)
        for row in filter(None, rows):
            if len(row) != len(names):
                raise MacroscopeError(
                    f"{path}, line {reader.line_num}: another number of fields than in the first line; quote fields"
                    " that contain commas"
                )
            cells = dict(zip(names, row, strict=True))
            yield reader.line_num, _parse_cells(cells, f"{path}, line {reader.line_num}")


def _parse_cells(cells: dict[str, str], where: str) -> dict[str, Any]:
    """Parse lists from JSON in a cell; drop empty cells, but for those of the text."""
    fields: dict[str, Any] = {name: value for name, value in cells.items() if value or name == "text"}
    for name in _OF_JSON:
        if name in fields:
            try:
                fields[name] = parse_json(
                    fields[name].encode(), f"{where}: '{name}'", "; in CSV, give 'text', or a JSON list"
                )
            except UnicodeEncodeError:
                raise MacroscopeError(f"{where}: '{name}' is not valid Unicode; write it again") from None
    return fields
