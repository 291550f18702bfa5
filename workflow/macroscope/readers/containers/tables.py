"""Rows of tables: CSV, TSV, and spreadsheets (.xlsx, .xlsb, .xls, .ods), and the names of their columns."""

import csv
import io
import re
import sys
import zipfile
import zlib
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from macroscope.errors import MacroscopeError
from macroscope.files import SAVE_AS_UTF8, parse_json
from macroscope.readers.compression import DAMAGE, open_bytes, raise_broken, read_all, require_modest
from macroscope.readers.formats import FORMATS
from macroscope.readers.records import NumberedRows, Rows

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

SAMPLE_ROWS = 100
"""Rows by which the column of the text is chosen, in a table without names."""
_LONGEST_NAME = 60
"""Characters of the longest cell that is the name of a column; a longer one is a text."""
_OF_JSON = ("sections", "section_names", "messages", "conversations", "choices", "outputs")
"""Fields that are lists, which tables lack: they are JSON in a cell."""


@dataclass(frozen=True)
class Columns:
    """Columns of a table.

    Attributes
    ----------
    names
        Their names; without a row of names, their numbers, and "text" for the column with the longest texts.
    has_header
        Whether the first row holds the names.
    remarks
        What was inferred, for the user.
    """

    names: list[str]
    has_header: bool
    remarks: tuple[str, ...] = ()


def known_names(named: Collection[str]) -> dict[str, str]:
    """Return the names of all formats' fields, and those that the user gave, by their lower case."""
    return {name.casefold(): name for name in (*(name for fmt in FORMATS for name in fmt.top_fields), *named)}


def has_known_name(row: Sequence[str], names_known: Collection[str]) -> bool:
    """Return whether a cell of a row is the name of a known field, in any case and with blanks around it."""
    return any(name.strip().casefold() in names_known for name in row)


def find_columns(rows: Sequence[Sequence[str]], names_known: Mapping[str, str], path: Path) -> Columns:
    """Return the columns of a table, given its first rows."""
    first = rows[0] if rows else []
    if not has_known_name(first, names_known) and any(len(name.strip()) > _LONGEST_NAME for name in first):
        return _nameless(rows)
    names = [names_known.get(name.strip().casefold(), name.strip()) for name in first]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise MacroscopeError(f"{path}: two columns are called {repeated!r}; rename one")
    return Columns(names, True)


def _nameless(rows: Sequence[Sequence[str]]) -> Columns:
    width = max(map(len, rows))
    lengths = [sum(len(row[column]) for row in rows if column < len(row)) for column in range(width)]
    text = lengths.index(max(lengths))
    names = ["text" if column == text else str(column + 1) for column in range(width)]
    return Columns(names, False, (f"no line of names, so that column {text + 1} of {width} is taken for the text",))


def parse_cells(cells: Mapping[str, str], where: str) -> dict[str, Any]:
    """Parse lists from JSON in a cell; drop empty cells, but for those of the text."""
    fields: dict[str, Any] = {name: value for name, value in cells.items() if value or name == "text"}
    for name in _OF_JSON:
        if name in fields:
            try:
                fields[name] = parse_json(
                    fields[name].encode(), f"{where}: '{name}'", "; in a table, give 'text', or a JSON list"
                )
            except UnicodeEncodeError:
                raise MacroscopeError(f"{where}: '{name}' is not valid Unicode; write it again") from None
    return fields


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


SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_MOST_ROWS, _MOST_COLUMNS = 1 << 20, 1 << 14
"""Largest number of rows and of columns of a sheet in Excel."""
_ALWAYS_READ, _MOST_EMPTY = 4_000_000, 20
"""Cells, most of them empty, that any sheet may span, and cells per cell with content that a larger one may."""
_SHEET = re.compile(r"(?i).*worksheets/[^/]*\.xml")
_PLACE = re.compile(rb'(?:\w+:)?(?:c|row)\s[^>]*?\br="([A-Z]*)(\d+)"')
"""Member of a sheet, and the place in the tag of a row or a cell."""
_BLOCK = 1 << 20


def open_spreadsheet(path: Path, named: Collection[str]) -> Rows:
    """Return the rows of the first sheet that has a column with a known name; without one, of the first with cells.

    Parameters
    ----------
    named
        Further names of columns that the user gave.
    """
    sheets = _read_sheets(path)
    if not sheets:
        return Rows("row", lambda _: iter(()))
    names_known = known_names(named)
    # The rows of people's tables rarely begin in the first one: titles and blanks stand above.
    firsts = {name: next(number for number, row in enumerate(rows) if any(row)) for name, rows in sheets.items()}
    with_texts = [name for name, rows in sheets.items() if has_known_name(rows[firsts[name]], names_known)]
    name = next(iter([*with_texts, *sheets]))
    rows, first = sheets[name], firsts[name]
    columns = find_columns(rows[first : first + SAMPLE_ROWS], names_known, path)
    unread = ", ".join(repr(sheet) for sheet in sheets if sheet != name)
    remarks = (*columns.remarks, *([f"sheet {name!r} is read, and not {unread}"] if unread else []))
    begin = first + columns.has_header
    return Rows("row", lambda _: _numbered_rows(rows, columns.names, begin, path), remarks)


def _read_sheets(path: Path) -> dict[str, list[list[str]]]:
    from python_calamine import CalamineError, CalamineWorkbook

    content = io.BytesIO(read_all(path))
    try:
        if zipfile.is_zipfile(content):
            with zipfile.ZipFile(content) as archive:
                require_modest(sum(member.file_size for member in archive.infolist()), path, "give it as CSV")
                _require_near_cells(archive, path)
        content.seek(0)
        return _sheets_with_cells(CalamineWorkbook.from_filelike(content))
    except (CalamineError, zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, EOFError) as error:
        raise MacroscopeError(f"{path}: not a readable spreadsheet ({error}); save it again, or as CSV") from None


def _require_near_cells(archive: zipfile.ZipFile, path: Path) -> None:
    """Check the places of the cells of Excel's sheets: a sheet is read whole, with all empty cells between them."""
    for member in filter(_SHEET.fullmatch, archive.namelist()):
        number = last_row = last_column = 0
        with archive.open(member) as stream:
            for letters, digits in _places(stream):
                row = int(digits[:9])
                column = reduce(lambda total, letter: 26 * total + letter - 64, letters[:4], 0)
                if row > _MOST_ROWS or column > _MOST_COLUMNS:
                    raise MacroscopeError(
                        f"{path}: a cell is at {(letters + digits)[:30].decode()}, outside of any sheet; save it again,"
                        " or as CSV"
                    )
                number, last_row, last_column = number + 1, max(last_row, row), max(last_column, column)
        if last_row * last_column > max(_ALWAYS_READ, _MOST_EMPTY * number):
            raise MacroscopeError(
                f"{path}: few cells, and the last of them in row {last_row:,} and column {last_column:,}; delete those"
                " far from the others, or save it as CSV"
            )


def _places(stream: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Stream the letters and the numbers of the places of a sheet's rows and cells."""
    rest = b""
    while block := stream.read(_BLOCK):
        *tags, rest = (rest + block).split(b"<")
        yield from ((place[1], place[2]) for place in map(_PLACE.match, tags) if place)


def _sheets_with_cells(workbook: "CalamineWorkbook") -> dict[str, list[list[str]]]:
    sheets = {
        name: [[_as_text(cell) for cell in row] for row in workbook.get_sheet_by_name(name).to_python()]
        for name in workbook.sheet_names
    }
    return {name: rows for name, rows in sheets.items() if any(map(any, rows))}


def _as_text(cell: object) -> str:
    """Return a cell as a person reads it: whole numbers, which spreadsheets keep as decimals, without a point."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _numbered_rows(rows: Sequence[Sequence[str]], names: list[str], begin: int, path: Path) -> NumberedRows:
    for number, row in enumerate(rows[begin:], start=begin + 1):
        if any(row):
            yield number, parse_cells(dict(zip(names, row, strict=True)), f"{path}, row {number}")
