"""Rows of JSON: JSON Lines; lists; objects over several lines; objects that hold all rows; `.eval` files of inspect_ai.

A string among them is a text.

JSON Lines are streamed. All others are read as a whole.
"""

import re
import zipfile
from collections.abc import Collection, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from macroscope.errors import MacroscopeError
from macroscope.files import parse_json, parse_json_values
from macroscope.readers.archives import open_member, open_zip, read_member
from macroscope.readers.compression import open_bytes, read_all
from macroscope.readers.formats import find_records
from macroscope.readers.records import NumberedRows, Rows, parse_values, read_bounded_lines


def open_json(path: Path) -> Rows:
    """Return the rows of a JSON file."""
    if _is_whole(path):
        values = parse_json_values(read_all(path), str(path))
        return Rows("item", lambda _: _numbered(values, path))
    return Rows("line", lambda wanted: _read_lines(path, wanted))


def _is_whole(path: Path) -> bool:
    """Return whether a file is a list, or an object over several lines, and not JSON Lines."""
    with open_bytes(path) as stream:
        lines = (line.removeprefix(b"\xef\xbb\xbf").strip() for line in read_bounded_lines(stream, str(path)))
        first = next((line for line in lines if line), b"")
    return first.startswith(b"[") or first == b"{"


def _read_lines(path: Path, wanted: Collection[str] | None) -> NumberedRows:
    number = 0
    with open_bytes(path) as stream:
        values = parse_values(stream, str(path))
        first = list(islice(values, 2))
        if len(first) == 1 and (by_id := _rows_by_id(first[0][1])) is not None:
            yield from enumerate(by_id, start=1)
            return
        for line, value in chain(first, values):
            records = _unpack(value) if isinstance(value, dict) else None
            if records is None:
                number = line
                yield line, _as_record(value, f"{path}, line {line}")
                continue
            for item in records:
                number += 1
                yield number, _as_record(item, f"{path}, item {number}")


def _numbered(values: list[Any], path: Path) -> NumberedRows:
    for number, item in enumerate(_items(values), start=1):
        yield number, _as_record(item, f"{path}, item {number}")


def _items(values: list[Any]) -> Iterator[Any]:
    """Stream the items of lists, also of lists in lists, and the rows in objects that hold those of a whole file."""
    if len(values) == 1 and (by_id := _rows_by_id(values[0])) is not None:
        yield from by_id
        return
    for value in values:
        if isinstance(value, list):
            yield from _items(value)
        elif isinstance(value, dict) and (records := _unpack(value)) is not None:
            yield from records
        else:
            yield value


def _as_record(item: Any, where: str) -> dict[str, Any]:
    if isinstance(item, str):
        return {"text": item}
    if not isinstance(item, dict):
        raise MacroscopeError(f"{where} is a JSON {type(item).__name__}; give objects, or strings")
    return item


def _unpack(content: dict[str, Any]) -> Iterator[Any] | None:
    """Return the rows in an object that holds those of a whole file; None if it is one row."""
    records = find_records(content)
    if records is not None:
        return iter(records)
    return _rows_of_table(content) or _rows_of_columns(content)


def _rows_of_table(content: dict[str, Any]) -> Iterator[dict[str, Any]] | None:
    """Return the rows of an object with the names of columns beside rows of cells, as pandas and W&B write tables."""
    names, rows = content.get("columns"), content.get("data")
    if not isinstance(names, list) or not isinstance(rows, list) or not all(isinstance(name, str) for name in names):
        return None
    if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        return None
    return (dict(zip(names, row, strict=True)) for row in rows)


def _rows_by_id(content: Any) -> Iterator[dict[str, Any]] | None:
    """Return the rows of the only object of a file, of ids and rows with the same keys; None if it is none."""
    if not isinstance(content, dict) or len(content) < 2 or _unpack(content) is not None:
        return None
    rows = list(content.values())
    if not all(isinstance(row, dict) and row and row.keys() == rows[0].keys() for row in rows):
        return None
    return ({"id": name, **row} for name, row in content.items())


def _rows_of_columns(content: dict[str, Any]) -> Iterator[dict[str, Any]] | None:
    """Return the rows of an object of columns: lists of one length, or objects with the same keys, of plain values."""
    if not content or {"sections", "section_names"} & set(content):
        return None
    columns = [_column(value) for value in content.values()]
    keys = columns[0][0] if columns[0] is not None else None
    if any(column is None or column[0] != keys for column in columns):
        return None
    values = [column[1] for column in columns if column is not None]
    return (dict(zip(content, row, strict=True)) for row in zip(*values, strict=True))


def _column(value: Any) -> tuple[list[Any], list[Any]] | None:
    """Return the keys and the values of a column; None if it is not one."""
    if isinstance(value, Mapping):
        keys, values = list(value), list(value.values())
        if not all(key.isdecimal() for key in keys):
            return None
    elif isinstance(value, list):
        keys, values = list(range(len(value))), value
    else:
        return None
    return (keys, values) if values and not any(isinstance(item, dict | list) for item in values) else None


LOG_SUFFIX, _SAMPLES = ".eval", "samples"
_NUMBER = re.compile(r"\d+")


def is_log(path: Path) -> bool:
    """Return whether a file is a zip with samples of inspect_ai."""
    try:
        with zipfile.ZipFile(path) as archive:
            return any(_is_sample(name) for name in archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError, OSError):
        return False


def open_log(path: Path) -> Rows:
    return Rows("sample", lambda _: _read_log(path))


def _read_log(path: Path) -> NumberedRows:
    with open_zip(path) as archive:
        names = sorted(filter(_is_sample, archive.namelist()), key=_natural)
        for number, name in enumerate(names, start=1):
            with open_member(archive, path, name) as stream:
                sample = parse_json(read_member(stream, f"{path}, {name}"), f"{path}, {name}", "")
            if not isinstance(sample, dict):
                raise MacroscopeError(f"{path}, {name}: is a {type(sample).__name__}, not a sample; write it again")
            yield number, sample


def _is_sample(name: str) -> bool:
    return name.startswith(f"{_SAMPLES}/") and name.endswith(".json")


def _natural(name: str) -> Any:
    """Return a key that sorts "sample 10" after "sample 9"."""
    return [int(number) for number in _NUMBER.findall(name)], name
