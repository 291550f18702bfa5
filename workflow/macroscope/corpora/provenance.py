"""Notes about retrieved files: "<file>.json" beside each file."""

from pathlib import Path
from typing import Any

from macroscope.errors import MacroscopeError
from macroscope.files import read_json

RETRIEVED_AS = "retrieved_as"
"""Key that every note has: the name under which the file was requested."""


def note_path(path: Path) -> Path:
    """Return the path of the note about a file."""
    return path.with_name(path.name + ".json")


def read_origin(path: Path) -> dict[str, Any]:
    """Read the origin, size and sha256 of a retrieved file; empty for a file of the user.

    Beside a user's folder `stories` there may be a `stories.json` that is not a note, or not JSON at all.
    """
    note = note_path(path)
    try:
        origin = read_json(note) if note.is_file() else None
    except MacroscopeError:
        origin = None
    return origin if isinstance(origin, dict) and RETRIEVED_AS in origin else {}
