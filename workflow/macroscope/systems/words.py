"""Splitting of texts into words for models over words, and joining of words into texts.

A word has the same form wherever it occurs. A word that follows the previous one without a space carries a joiner (the
convention of OpenNMT): "a (b)." is `a`, `(`, `￭b`, `￭).`. White space other than line breaks becomes one space.
"""

import re
from collections.abc import Iterable

JOINER = "￭"
_WORD = re.compile(r"\n+|[ \t\r\f\v]+|\w+|[^\w\s]+|\s")


def split_words(text: str) -> list[str]:
    """Split a text into words, runs of other characters, and line breaks."""
    words: list[str] = []
    free = True  # preceded by white space or by the beginning of the text
    for word in _WORD.findall(text):
        if word[0] == "\n":
            words.append(word)
        elif not word.isspace():
            words.append(word if free else JOINER + word)
        free = word.isspace()
    return words


def join_words(words: Iterable[str]) -> str:
    """Join words into a text: the inverse of `split_words`, except for white space."""
    spaced = " ".join(words).replace(f" {JOINER}", "")
    return re.sub(r" *(\n+) *", r"\1", spaced)
