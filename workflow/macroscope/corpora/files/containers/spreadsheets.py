"""Rows of spreadsheets: Excel (.xlsx, .xlsb, .xls) and OpenDocument (.ods), one sheet of them."""

import io
import zipfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from macroscope.corpora.compression import LARGEST, read_all
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
    sheets = _sheets_with_cells(_open(path))
    if not sheets:
        return Rows("row", lambda _: iter(()))
    names_known = known_names(named)
    # The rows of people's tables rarely begin in the first one: titles and blanks stand above.
    firsts = {name: next(number for number, row in enumerate(rows) if any(row)) for name, rows in sheets.items()}
    with_texts = [name for name, rows in sheets.items() if has_known_name(rows[firsts[name]], names_known)]
    name = next(iter([*with_texts, *sheets]))
    rows, first = sheets[name], firsts[name]
    columns = find_columns(rows[first : first + SAMPLE_ROWS], names_known, path)
    unread = ", ".join(repr(other) for other in sheets if other != name)
    remarks = (*columns.remarks, *([f"sheet {name!r} is read, and not {unread}"] if unread else []))
    begin = first + columns.has_header
    return Rows("row", lambda _: _numbered(rows, columns.names, begin, path), remarks)


def _open(path: Path) -> "CalamineWorkbook":
    from python_calamine import CalamineError, CalamineWorkbook

    content = io.BytesIO(read_all(path))
    if zipfile.is_zipfile(content):
        with zipfile.ZipFile(content) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > LARGEST:
            raise MacroscopeError(f"{path}: unpacks to more than {LARGEST >> 20:,} MB; give it as CSV")
    content.seek(0)
    try:
        return CalamineWorkbook.from_filelike(content)
    except CalamineError as error:
        raise MacroscopeError(f"{path}: not a readable spreadsheet ({error}); save it again, or as CSV") from None


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
