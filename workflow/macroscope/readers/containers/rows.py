"""Rows of a file, whatever its container: a JSON object, or a row of a table, with its number."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

NumberedRows = Iterator[tuple[int, dict[str, Any]]]


@dataclass(frozen=True)
class Rows:
    """Rows of a file.

    Attributes
    ----------
    unit
        Name of the unit that the numbers count: "line", "row", "item"; empty if the file is a single text.
    read
        Function that streams the rows with their numbers, from 1, given the names of the fields that are wanted, or
        None for all that a text may be in. Rows may have further fields.
    remarks
        Facts about the container that were inferred, for the user.
    """

    unit: str
    read: Callable[[Collection[str] | None], NumberedRows]
    remarks: tuple[str, ...] = ()
