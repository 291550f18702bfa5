"""Tokenization into words for the critics that count words."""

import unicodedata
from collections.abc import Iterator

import regex

_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*")


def lower_case_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation and numbers.

    Scripts without spaces yield one word for each run of letters between these.
    """
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())


def locate_words(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, word) for each word of `lower_case_words`, with offsets in characters."""
    for match in _WORD.finditer(text):
        yield match.start(), match.end(), unicodedata.normalize("NFC", match.group().lower())


def shorten(text: str, characters: int) -> str:
    """Return the first words of a text on one line, at most `characters` long; a final "…" marks a cut."""
    # Taking twice as many characters leaves room for white space that the join removes.
    start = " ".join(text[: 2 * characters].split())
    if len(start) <= characters and len(text) <= 2 * characters:
        return start
    cut = start[: characters + 1]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut else cut[:characters]} …".lstrip()
