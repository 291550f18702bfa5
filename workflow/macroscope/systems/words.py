"""Words of a text for models over words, and the text that words make.

Each word stands for itself wherever it is; one that follows the one before it without a space carries a joiner (the
convention of OpenNMT): "a (b)." is `a`, `(`, `￭b`, `￭).`. White space but for line breaks becomes one space.
"""

import re
from collections.abc import Iterable

JOINER = "￭"
_WORD = re.compile(r"\n+|[ \t\r\f\v]+|\w+|[^\w\s]+|\s")


def split_words(text: str) -> list[str]:
    """Cut a text into words, runs of other characters, and line breaks."""
    found: list[str] = []
    free = True  # nothing but white space, or nothing at all, stands before
    for word in _WORD.findall(text):
        if word[0] == "\n":
            found.append(word)
        elif not word.isspace():
            found.append(word if free else JOINER + word)
        free = word.isspace()
    return found


def join_words(words: Iterable[str]) -> str:
    """Put words together: the inverse of `split_words`, but for white space."""
    spaced = " ".join(words).replace(f" {JOINER}", "")
    return re.sub(r" *(\n+) *", r"\1", spaced)
