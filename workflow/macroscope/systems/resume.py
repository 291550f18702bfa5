"""Rows of an unfinished file, kept so that a killed job resumes from them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class PartialFile:
    """Finished rows of a file that is not complete yet: JSON Lines, the first of which is a fingerprint.

    Parameters
    ----------
    output
        File to be written; the rows are kept beside it in `<output>.part.jsonl`.
    fingerprint
        Fingerprint of everything that the rows depend on, in one line. Rows under another fingerprint are dropped, and
        so is a torn last line.
    """

    def __init__(self, output: Path, fingerprint: str) -> None:
        self.path = output.with_name(output.name + ".part.jsonl")
        self._header = (fingerprint + "\n").encode()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self._is_current():
            self._cut_torn_line()
        else:
            self.path.write_bytes(self._header)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows in the order in which they were finished."""
        with self.path.open("rb") as file:
            file.seek(len(self._header))
            for line in file:
                yield json.loads(line)

    def append(self, row: dict[str, Any]) -> None:
        """Append a finished row and write it at once."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def sorted_by(self, key: str) -> Iterator[dict[str, Any]]:
        """Yield the rows sorted by a numeric field; only the rows' positions are kept in memory."""
        with self.path.open("rb") as file:
            file.seek(len(self._header))
            positions, position = [], file.tell()
            for line in file:
                positions.append((json.loads(line)[key], position))
                position += len(line)
            for _, start in sorted(positions):
                file.seek(start)
                yield json.loads(file.readline())

    def remove(self) -> None:
        """Remove the rows once the file is complete."""
        self.path.unlink(missing_ok=True)

    def _is_current(self) -> bool:
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
