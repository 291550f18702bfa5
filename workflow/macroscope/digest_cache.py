"""A cache of what was computed from files' contents, in the user's cache: parsing the modules of a run takes seconds.

Entries are found by the content that they were computed from, so none is out of date.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from macroscope.errors import MacroscopeError
from macroscope.files import atomic, user_cache

MOST_ENTRIES = 3000
"""Largest number of entries that are kept: some five versions of all modules."""


class DigestCache:
    """Entries of a file: hash of contents -> value of JSON. A file that cannot be read or written does no harm.

    Parameters
    ----------
    name
        Name of the file.
    rules
        All that values depend on besides contents, such as the code that computes them.
    """

    def __init__(self, name: str, rules: bytes) -> None:
        self._path = user_cache() / "macroscope" / name
        self._rules = rules
        self._entries = _read(self._path)
        self._is_saved = True

    def get(self, contents: Iterable[bytes], compute: Callable[[], Any]) -> Any:
        """Return the value of contents, computed if it is new."""
        key = _hash([self._rules, *contents])
        if key not in self._entries:
            self._entries[key] = compute()
            self._is_saved = False
        return self._entries[key]

    def save(self) -> None:
        """Write the file if there are new entries, with those that other processes have added; the oldest go."""
        if self._is_saved:
            return
        entries = list((_read(self._path) | self._entries).items())[-MOST_ENTRIES:]
        with suppress(OSError, MacroscopeError), atomic(self._path) as temporary:
            temporary.write_text(json.dumps(dict(entries)), encoding="ascii")
        self._is_saved = True


def _hash(contents: Iterable[bytes]) -> str:
    """Hash contents, each with its length, so that none runs into the next."""
    digest = hashlib.sha256()
    for content in contents:
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()


def _read(path: Path) -> dict[str, Any]:
    try:
        entries = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return entries if isinstance(entries, dict) else {}
