"""Words as critics of topics count them."""

import unicodedata
from collections.abc import Iterator

import regex

_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*")


def lower_case_words(text: str) -> list[str]:
    """Words in lower case, without punctuation and numbers; of scripts without spaces, what stands between these."""
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())


def placed_words(text: str) -> Iterator[tuple[int, int, str]]:
    """Where each of those words stands in a text: (start, end, word)."""
    for found in _WORD.finditer(text):
        yield found.start(), found.end(), unicodedata.normalize("NFC", found.group().lower())


def beginning(text: str, characters: int) -> str:
    """First words of a text on one line, up to so many characters; "…" says that there is more."""
    # Spaces may make up a part of what is cut off, however long the text.
    start = " ".join(text[: 2 * characters].split())
    if len(start) <= characters and len(text) <= 2 * characters:
        return start
    cut = start[: characters + 1]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut else cut[:characters]} …".lstrip()
