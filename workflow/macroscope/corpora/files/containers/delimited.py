"""Rows of CSV and TSV: the separator is recognised, names of columns may differ in case and blanks, or be absent."""

import csv
import io
import sys
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from macroscope.corpora.compression import DAMAGE, open_bytes, raise_broken
from macroscope.corpora.files.containers.columns import (
    SAMPLE_ROWS,
    find_columns,
    has_known_name,
    known_names,
    parse_cells,
)
from macroscope.corpora.files.containers.rows import NumberedRows, Rows
from macroscope.errors import MacroscopeError
from macroscope.files import SAVE_AS_UTF8

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


class _NotSeparated(MacroscopeError):
    """Lines that are not valid with a separator and with quotation marks around cells."""


def is_delimited(beginning: bytes, named: Collection[str]) -> bool:
    """Return whether the first line of a file names two or more columns, and a known field among them."""
    # Lines may end with carriage returns alone, as in files of old spreadsheets.
    line = io.StringIO(beginning.decode("utf-8-sig", "replace"), newline=None).readline().strip()
    rows = (next(csv.reader([line], delimiter=separator), []) for separator in _SEPARATORS)
    return any(len(row) > 1 and has_known_name(row, known_names(named)) for row in rows)


def open_delimited(path: Path, named: Collection[str]) -> Rows:
    """Return the rows of a file of separated values.

    Parameters
    ----------
    named
        Further names of columns that the user gave.
    """
    csv.field_size_limit(sys.maxsize)
    names_known = known_names(named)
    separator = _find_separator(path, names_known)
    quoting = _find_quoting(path, separator)
    with _reader(path, separator, quoting) as reader:
        columns = find_columns(list(islice(reader, SAMPLE_ROWS)), names_known, path)
    remarks = [] if separator == _expected(path) else [f"separated by {_SEPARATORS[separator]}"]
    return Rows(
        "line",
        lambda _: _read(path, separator, quoting, columns.names, columns.has_header),
        (*remarks, *columns.remarks),
    )


def _expected(path: Path) -> str:
    return "\t" if ".tsv" in path.name.lower() else ","


def _find_separator(path: Path, names_known: Collection[str]) -> str:
    """Return the separator with which the first line names a known field, or else the one that is sniffed."""
    for separator in (_expected(path), *(another for another in _SEPARATORS if another != _expected(path))):
        if has_known_name(_first_row(path, separator), names_known):
            return separator
    return _sniff(path) or _expected(path)


def _first_row(path: Path, separator: str) -> list[str]:
    """Return the first row of a file; none if its line is not valid with this separator."""
    with suppress(_NotSeparated), _reader(path, separator) as reader:
        return next(reader, [])
    return []


def _find_quoting(path: Path, separator: str) -> int:
    """Return whether quotation marks enclose cells, or are characters of texts as in most files with tabs."""
    if separator != "\t":
        return csv.QUOTE_MINIMAL
    try:
        with _reader(path, separator) as reader:
            deque(reader, maxlen=0)
    except _NotSeparated:
        return csv.QUOTE_NONE
    return csv.QUOTE_MINIMAL


def _sniff(path: Path) -> str | None:
    """Return the separator that cuts the first rows into equally many cells, two or more; None if there is none."""
    # Tabs first: texts hold hardly any, and in files with tabs, quotation marks may be plain characters.
    ways = [("\t", csv.QUOTE_NONE), *((separator, csv.QUOTE_MINIMAL) for separator in ("\t", *_SEPARATORS))]
    return next((separator for separator, quoting in ways if _has_equal_rows(path, separator, quoting)), None)


def _has_equal_rows(path: Path, separator: str, quoting: int) -> bool:
    try:
        with _reader(path, separator, quoting) as reader:
            widths = {len(row) for row in islice(reader, SAMPLE_ROWS) if row}
    except _NotSeparated:
        return False
    return len(widths) == 1 and max(widths) > 1


@contextmanager
def _reader(path: Path, separator: str, quoting: int = csv.QUOTE_MINIMAL) -> Iterator[Any]:
    """Yield a reader of rows; errors name the file and the line."""
    with open_bytes(path) as stream, io.TextIOWrapper(cast(IO[bytes], stream), "utf-8-sig", newline="") as text:
        reader = csv.reader(text, delimiter=separator, quoting=cast(Any, quoting), strict=True)
        try:
            yield reader
        except csv.Error as error:
            raise _NotSeparated(f"{path}, line {reader.line_num}: not valid CSV ({error})") from None
        except UnicodeDecodeError:
            raise MacroscopeError(
                f"{path}, line {reader.line_num + 1} or later: not valid UTF-8; {SAVE_AS_UTF8}"
            ) from None
        except DAMAGE as error:
            raise_broken(error, str(path), f" after line {reader.line_num:,}")


def _read(path: Path, separator: str, quoting: int, names: list[str], has_header: bool) -> NumberedRows:
    with _reader(path, separator, quoting) as reader:
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
            yield reader.line_num, parse_cells(cells, f"{path}, line {reader.line_num}")
