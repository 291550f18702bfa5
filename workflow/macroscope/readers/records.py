"""Readers of records: lines of text and JSON Lines, plain or compressed; and rows of files of any container.

Readers need bounded memory. Their errors name the file and the line.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from macroscope.errors import MacroscopeError
from macroscope.files import SAVE_AS_UTF8, parse_json
from macroscope.readers.compression import DAMAGE, open_bytes, raise_broken

LONGEST_LINE = 1 << 28
"""Most bytes of a line; a longer one is an error."""
MOST_BLANK = 1_000_000
"""Most blank lines in a row. A compressed file of a few kB may hold any number."""


def read_numbered_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Stream the JSON objects of a file with their line numbers (from 1); blank lines are skipped.

    Raises
    ------
    MacroscopeError
        If a line is not valid JSON or not an object, or the file is unreadable.
    """
    with open_bytes(path) as stream:
        yield from parse_lines(stream, str(path))


def read_numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Stream the lines of a text file with their numbers (from 1), without line ends.

    Raises
    ------
    MacroscopeError
        If a line is not UTF-8, or the file is unreadable.
    """
    number = 0
    with open_bytes(path) as stream:
        try:
            for number, line in enumerate(decode_lines(stream, str(path)), start=1):
                yield number, line
        except DAMAGE as error:
            raise_broken(error, str(path), f" after line {number:,}")


def decode_lines(stream: IO[bytes], name: str) -> Iterator[str]:
    """Decode the lines of a stream, without line ends; errors call the stream `name`."""
    for number, line in enumerate(read_bounded_lines(stream, name), start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise MacroscopeError(
                f"{name}, line {number} is not valid UTF-8 (byte {error.start + 1}); {SAVE_AS_UTF8}"
            ) from None


def parse_lines(stream: IO[bytes], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Parse the lines of a stream, each a JSON object, with their numbers (from 1); errors call the stream `name`."""
    for number, record in parse_values(stream, name):
        if not isinstance(record, dict):
            kind = type(record).__name__
            raise MacroscopeError(
                f"{name}, line {number} is a JSON {kind}, not an object; give one JSON object per line"
            )
        yield number, record


def parse_values(stream: IO[bytes], name: str) -> Iterator[tuple[int, Any]]:
    """Parse the lines of a stream, each a JSON value, with their numbers (from 1); errors call the stream `name`."""
    number = 0
    try:
        for number, line in enumerate(read_bounded_lines(stream, name), start=1):
            if line.strip():
                yield number, parse_json(line, f"{name}, line {number}", "; give one JSON object per line")
    except DAMAGE as error:
        raise_broken(error, name, f" after line {number:,}")


def read_identifier(record: dict[str, Any], key: str, default: str, where: str) -> str:
    """Return the id of a record, a text or a whole number; `default` if it has none.

    Raises
    ------
    MacroscopeError
        If the id is of another type.
    """
    value = record.get(key)
    if value is None or value == "":
        return default
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise MacroscopeError(f"{where}: '{key}' is a {type(value).__name__}; give a string or a whole number")
    return str(value)


def read_bounded_lines(stream: IO[bytes], name: str) -> Iterator[bytes]:
    """Read the lines of a stream, each of at most `LONGEST_LINE` bytes; errors call the stream `name`.

    Raises
    ------
    MacroscopeError
        If a line is longer, or more than `MOST_BLANK` lines in a row are blank.
    """
    number = blank = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        blank = 0 if line.strip() else blank + 1
        if blank > MOST_BLANK:
            raise MacroscopeError(
                f"{name}, line {number:,}: more than {MOST_BLANK:,} blank lines in a row; remove them, or give another"
                " file"
            )
        if len(line) > LONGEST_LINE:
            raise MacroscopeError(
                f"{name}, line {number} is longer than {LONGEST_LINE >> 20:,} MB; give one record per line, or a"
                " shorter text"
            )
        yield line


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
