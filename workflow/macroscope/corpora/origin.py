"""What is known about a retrieved file, in "<file>.json" beside it."""

from pathlib import Path
from typing import Any

from macroscope.files import read_json


def note_of(path: Path) -> Path:
    """Where it is noted what a file is."""
    return path.with_name(path.name + ".json")


def origin_of(path: Path) -> dict[str, Any]:
    """Where a retrieved file came from, its size and sha256; empty for a file of the user's."""
    note = note_of(path)
    return read_json(note) if note.is_file() else {}
