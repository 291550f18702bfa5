"""Columns of tables: their names, in the first row or absent, and cells that hold JSON."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from macroscope.corpora.files.formats import FORMATS
from macroscope.errors import MacroscopeError
from macroscope.files import parse_json

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
    """Return the columns of a table, given its first rows.

    Raises
    ------
    MacroscopeError
        If two columns have one name.
    """
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
