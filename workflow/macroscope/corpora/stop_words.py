"""The project's lists of stop words: resources/stop_words/<language>.txt."""

import logging
from functools import cache
from pathlib import Path

from macroscope.files import RESOURCES

log = logging.getLogger("macroscope")


@cache
def stop_words(language: str) -> frozenset[str]:
    """Stop words of a language, in lower case; empty, with a warning, where the project has no list of it."""
    path = stop_words_path(language)
    if not path.exists():
        log.warning("there is no list of stop words for language '%s': none is known", language)
        return frozenset()
    lines = path.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines for word in line.partition("#")[0].split())


def stop_words_path(language: str) -> Path:
    """Where the list of a language is, if the project has one."""
    return RESOURCES / "stop_words" / f"{language}.txt"


@cache
def known_languages() -> tuple[str, ...]:
    """Languages that the project has lists of."""
    return tuple(sorted(path.stem for path in (RESOURCES / "stop_words").glob("*.txt")))
