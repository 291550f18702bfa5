"""Rows that are kept while a file is being made, so that a killed job goes on from there."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Unfinished:
    """What is finished of a file that is not whole yet: JSON Lines, the first of which says what they belong to.

    Parameters
    ----------
    output
        The file to be; the rows stand in `<output>.part.jsonl` beside it.
    fingerprint
        Of everything that the rows depend on, one line: rows of another one are dropped, and so is a torn last line.
    """

    def __init__(self, output: Path, fingerprint: str) -> None:
        self.path = output.with_name(output.name + ".part.jsonl")
        self._header = (fingerprint + "\n").encode()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self._is_ours():
            self._cut_torn_line()
        else:
            self.path.write_bytes(self._header)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows, in the order in which they were finished."""
        with self.path.open("rb") as file:
            file.seek(len(self._header))
            for line in file:
                yield json.loads(line)

    def append(self, row: dict[str, Any]) -> None:
        """Add a finished row, at once."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def in_order(self, key: str) -> Iterator[dict[str, Any]]:
        """The rows by a number that each has; only where they stand is kept in memory."""
        with self.path.open("rb") as file:
            file.seek(len(self._header))
            places, at = [], file.tell()
            for line in file:
                places.append((json.loads(line)[key], at))
                at += len(line)
            for _, place in sorted(places):
                file.seek(place)
                yield json.loads(file.readline())

    def remove(self) -> None:
        """Remove the rows: the file is whole."""
        self.path.unlink(missing_ok=True)

    def _is_ours(self) -> bool:
        if not self.path.exists():
            return False
        with self.path.open("rb") as file:
            return file.read(len(self._header)) == self._header

    def _cut_torn_line(self) -> None:
        whole = 0
        with self.path.open("r+b") as file:
            for line in file:
                whole += len(line) if line.endswith(b"\n") else 0
            file.truncate(whole)
