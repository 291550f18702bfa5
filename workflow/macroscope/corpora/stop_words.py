"""Lists of stop words: resources/stop_words/<language>.txt."""

import logging
from functools import cache
from pathlib import Path

from macroscope.files import RESOURCES

log = logging.getLogger("macroscope")


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language, in lower case; empty, with a warning, if there is no list."""
    path = stop_words_path(language)
    if not path.exists():
        log.warning(
            "language '%s': no list of stop words, so no word counts as one; add it to resources/stop_words/", language
        )
        return frozenset()
    lines = path.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines for word in line.partition("#")[0].split())


def stop_words_path(language: str) -> Path:
    """Return the path of a language's list, which may not exist."""
    return RESOURCES / "stop_words" / f"{language}.txt"


@cache
def list_languages() -> tuple[str, ...]:
    """List the languages that have a list of stop words."""
    return tuple(sorted(path.stem for path in (RESOURCES / "stop_words").glob("*.txt")))
