"""Rows of an unfinished file, kept so that a killed job resumes from them."""

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

log = logging.getLogger("macroscope")
R = TypeVar("R")


class PartialFile(Generic[R]):
    """Finished rows of a file that is not complete yet: JSON Lines, the first of which is a fingerprint.

    Parameters
    ----------
    output
        File to be written; the rows are kept beside it in `<output>.part.jsonl`.
    fingerprint
        Fingerprint of everything that the rows depend on, in one line. Rows under another fingerprint are dropped, and
        so are lines that are not rows: a torn last one, and whatever else a crash may leave.
    row
        Dataclass of a row; its annotations are the schema.
    """

    def __init__(self, output: Path, fingerprint: str, row: type[R]) -> None:
        self.path = output.with_name(output.name + ".part.jsonl")
        self._header = (fingerprint + "\n").encode()
        self._row: TypeAdapter[R] = TypeAdapter(row)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self._is_current():
            self._keep_rows()
        else:
            self.path.write_bytes(self._header)

    def __iter__(self) -> Iterator[R]:
        """Iterate over the rows in the order in which they were finished."""
        yield from (self._row.validate_json(line, strict=True) for line in self._lines())

    def append(self, row: R) -> None:
        """Append a finished row and write it at once."""
        fields: dict[str, Any] = asdict(row)  # type: ignore[call-overload]
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(fields, ensure_ascii=False) + "\n")

    def sorted_by(self, key: str) -> Iterator[R]:
        """Yield the rows sorted by a numeric field; only the rows' positions are kept in memory."""
        positions, position = [], len(self._header)
        for line in self._lines():
            positions.append((getattr(self._row.validate_json(line, strict=True), key), position))
            position += len(line)
        with self.path.open("rb") as file:
            for _, start in sorted(positions):
                file.seek(start)
                yield self._row.validate_json(file.readline(), strict=True)

    def remove(self) -> None:
        """Remove the rows once the file is complete."""
        self.path.unlink(missing_ok=True)

    def _is_current(self) -> bool:
        if not self.path.exists():
            return False
        with self.path.open("rb") as file:
            return file.read(len(self._header)) == self._header

    def _lines(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            file.seek(len(self._header))
            yield from file

    def _keep_rows(self) -> None:
        """Remove the lines that are not rows; the file is replaced as a whole."""
        kept = self.path.with_name(self.path.name + ".kept")
        dropped = 0
        with kept.open("wb") as file:
            file.write(self._header)
            for line in self._lines():
                if self._is_row(line):
                    file.write(line)
                else:
                    dropped += 1
        if dropped:
            log.info("%s: %d lines are not finished rows; these are made again", self.path, dropped)
            os.replace(kept, self.path)
        else:
            kept.unlink()

    def _is_row(self, line: bytes) -> bool:
        try:
            self._row.validate_json(line, strict=True)
        except ValidationError:
            return False
        return line.endswith(b"\n")
