"""Stop words: lists in resources/stop_words/<language>.txt, and those of stopwords-iso."""

import logging
from functools import cache
from pathlib import Path

from stopwordsiso import has_lang, stopwords

from macroscope.files import RESOURCES

log = logging.getLogger("macroscope")


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language, in lower case; empty, with a warning, if there is no list."""
    path = stop_words_path(language)
    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines()
        return frozenset(word for line in lines for word in line.partition("#")[0].split())
    if not has_lang(language):
        log.warning(
            "language '%s': no list of stop words, so no word counts as one; add it to resources/stop_words/", language
        )
        return frozenset()
    # Its lists have signs and numbers as well, which are counted as symbols.
    return frozenset(word.lower() for word in stopwords(language) if any(map(str.isalpha, word)))


def has_stop_words(language: str) -> bool:
    """Return whether there is a list of stop words for a language."""
    return stop_words_path(language).exists() or has_lang(language)


def stop_words_path(language: str) -> Path:
    """Return the path of a language's list in this project, which may not exist."""
    return RESOURCES / "stop_words" / f"{language}.txt"
