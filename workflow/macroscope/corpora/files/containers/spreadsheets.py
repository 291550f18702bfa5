"""Rows of spreadsheets: Excel (.xlsx, .xlsb, .xls) and OpenDocument (.ods), one sheet of them."""

import io
import re
import zipfile
import zlib
from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import IO, TYPE_CHECKING

from macroscope.corpora.compression import read_all, require_modest
from macroscope.corpora.files.containers.columns import (
    SAMPLE_ROWS,
    find_columns,
    has_known_name,
    known_names,
    parse_cells,
)
from macroscope.corpora.files.containers.rows import NumberedRows, Rows
from macroscope.errors import MacroscopeError

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

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

    Raises
    ------
    MacroscopeError
        If the file is no spreadsheet, unpacks to too much, or two columns have one name.
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
    return Rows("row", lambda _: _numbered(rows, columns.names, begin, path), remarks)


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
    """Check the places of the cells of Excel's sheets: a sheet is read as a whole, with all empty cells between them.

    Raises
    ------
    MacroscopeError
        If a place is none of a sheet, or cells are so far from each other that nearly all between them are empty.
    """
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


def _numbered(rows: Sequence[Sequence[str]], names: list[str], begin: int, path: Path) -> NumberedRows:
    for number, row in enumerate(rows[begin:], start=begin + 1):
        if any(row):
            yield number, parse_cells(dict(zip(names, row, strict=True)), f"{path}, row {number}")
