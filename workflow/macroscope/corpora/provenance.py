"""What is known about a retrieved file, in "<file>.json" beside it."""

from pathlib import Path
from typing import Any

from macroscope.errors import MacroscopeError
from macroscope.files import read_json

RETRIEVED_AS = "retrieved_as"
"""What every note has: the name by which the file was asked for."""


def note_of(path: Path) -> Path:
    """Where it is noted what a file is."""
    return path.with_name(path.name + ".json")


def origin_of(path: Path) -> dict[str, Any]:
    """Where a retrieved file came from, its size and sha256; empty for a file of the user's.

    Beside the user's folder `stories` may well be a `stories.json` that is no note of ours, nor JSON.
    """
    note = note_of(path)
    try:
        found = read_json(note) if note.is_file() else None
    except MacroscopeError:
        found = None
    return found if isinstance(found, dict) and RETRIEVED_AS in found else {}
