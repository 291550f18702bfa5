"""Lines of text and JSON Lines, plain or gzipped, read with errors that name file and line."""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import Any, cast

from macroscope.errors import MacroscopeError


def numbered_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Stream the JSON objects of a file with their line numbers (from 1); blank lines are passed over.

    Raises
    ------
    MacroscopeError
        Where a line is not valid JSON or no object, or the file is unreadable.
    """
    with _open(path) as stream:
        yield from parse_lines(stream, str(path))


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Stream the lines of a file of text with their numbers (from 1), without their ends.

    Raises
    ------
    MacroscopeError
        Where a line is not UTF-8, or the file is unreadable.
    """
    number = 0
    with _open(path) as stream:
        try:
            for number, line in enumerate(stream, start=1):
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise MacroscopeError(
                f"{path}, line {number} is not valid UTF-8 (byte {error.start + 1}); save the file as UTF-8"
            ) from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise MacroscopeError(
                f"{path}: the compressed data are broken after line {number:,} ({error}); make or download it again"
            ) from None


def parse_lines(lines: Iterable[bytes], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Parse lines of JSON; `name` says in errors what they are lines of."""
    number = 0
    try:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, _record(line, f"{name}, line {number}")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise MacroscopeError(
            f"{name}: the compressed data are broken after line {number:,} ({error}); make or download the file again"
        ) from None


def _record(line: bytes, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise MacroscopeError(f"{where} is not valid UTF-8 (byte {error.start + 1}); save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        raise MacroscopeError(
            f"{where} is not valid JSON ({error.msg} at column {error.colno}); give one JSON object a line"
        ) from None
    except RecursionError:
        raise MacroscopeError(f"{where} is not usable JSON (nested too deep); give one JSON object a line") from None
    if not isinstance(record, dict):
        raise MacroscopeError(f"{where} is a JSON {type(record).__name__}, not an object; give one JSON object a line")
    return record


def _open(path: Path) -> BufferedIOBase:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file") from None
    if file.read(2) == b"\x1f\x8b":
        file.close()
        return gzip.open(path)
    file.seek(0)
    return cast(BufferedIOBase, file)
