"""Words of texts, also in scripts without spaces between words.

Chinese, Japanese, Thai, Lao, Khmer and Burmese words are those of ICU's dictionaries, which are the same for all
languages. Whether they are needed is seen from the characters, so that texts of several languages need no choice.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import TypeAlias

import regex
from icu4py.breakers import WordBreaker

Pattern: TypeAlias = re.Pattern[str] | regex.Pattern[str]

_LETTERS = regex.compile(r"[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*")
_BETWEEN_SPACES = regex.compile(r"\S+")
_WITHOUT_SPACES = regex.compile(
    r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}"
    r"\p{Script=Myanmar}]"
)
_NEUTRAL = "en"
"""Locale of the breaker: of these scripts, its rules are the same in all."""


def lower_case_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation and numbers."""
    lowered = unicodedata.normalize("NFC", text).lower()
    if not needs_dictionary(lowered):
        return _LETTERS.findall(lowered)
    return [lowered[start:end] for start, end in locate_pieces(lowered, _LETTERS) if _LETTERS.match(lowered, start)]


def locate_words(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, word) for each word of `lower_case_words`, with offsets in characters."""
    for start, end in locate_pieces(text, _LETTERS):
        yield start, end, unicodedata.normalize("NFC", text[start:end].lower())


def split_at_spaces(text: str, is_between: Pattern = _BETWEEN_SPACES) -> list[str]:
    """Return the words of a text with the punctuation on them: what spaces, or a dictionary, separate.

    Parameters
    ----------
    is_between
        Pattern of what is between two spaces.
    """
    if not needs_dictionary(text):
        return is_between.findall(text)
    return [text[start:end] for start, end in locate_pieces(text, is_between)]


def count_words(text: str) -> int:
    """Return the number of words of a text; see `split_at_spaces`."""
    return len(split_at_spaces(text))


def cut_after_words(text: str, words: int) -> str:
    """Return the beginning of a text that ends with its `words`-th word; the whole text if it has fewer."""
    ends = [end for _, end in islice(locate_pieces(text, _BETWEEN_SPACES), words)]
    return text[: ends[-1]] if len(ends) == words else text


def locate_pieces(text: str, pattern: Pattern) -> Iterator[tuple[int, int]]:
    """Yield the places of a pattern's matches; those in a script without spaces are cut into words."""
    locate = _locate_words_in if needs_dictionary(text) else _locate_whole
    for match in pattern.finditer(text):
        yield from locate(match.group(), match.start())


def needs_dictionary(text: str) -> bool:
    """Return whether a text has characters of a script without spaces."""
    return not text.isascii() and _WITHOUT_SPACES.search(text) is not None


def _locate_whole(piece: str, offset: int) -> Iterator[tuple[int, int]]:
    yield offset, offset + len(piece)


def _locate_words_in(piece: str, offset: int) -> Iterator[tuple[int, int]]:
    if not needs_dictionary(piece):
        yield offset, offset + len(piece)
        return
    for word in WordBreaker(piece, _NEUTRAL):  # its `segments` count UTF-16 units, not characters
        yield offset, offset + len(word)
        offset += len(word)
