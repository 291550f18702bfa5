"""N-grams of words as 64-bit hashes, which are the same in every process; collections need not be held in memory.

The hash of an n-gram is a polynomial of its words' SipHash values, modulo 2^64. Two different n-grams have one hash
with a probability below 2^-58: of a million n-grams that are searched in a billion, none is wrong with 99 %.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
NO_HASHES: Hashes = np.empty(0, dtype=np.uint64)
COPY = 13
"""Length of the n-grams that show copies, as in GPT-3 (Brown et al. 2020, appendix C)."""
HALF, WHOLE = 0.45, 0.95
"""Shares of a text's words in n-grams of other texts from which on it is a half, and a whole, copy of them."""
_BASE = np.uint64(0x9E3779B97F4A7C15)
"""An odd number, 5 modulo 8: its powers repeat as late as possible."""


def hash_words(words: Sequence[str]) -> Hashes:
    """Return the hash of each word."""
    return np.asarray(pd.util.hash_array(np.array(words, dtype=object), categorize=False), dtype=np.uint64)


def hash_ngrams(words: Hashes, length: int) -> Hashes:
    """Return the hash of the n-gram that begins at each word, from the words' hashes; the last words begin none."""
    number = max(0, len(words) - length + 1)
    hashes = words[:number].copy()
    for step in range(1, length):
        hashes *= _BASE
        hashes += words[step : step + number]
    return hashes


def cover_words(starts: NDArray[np.int64], length: int, number: int) -> NDArray[np.bool_]:
    """Return which of `number` words are in an n-gram that begins at one of `starts`."""
    steps = np.bincount(starts, minlength=number + 1) - np.bincount(starts + length, minlength=number + 1)
    return np.asarray(np.cumsum(steps[:number]) > 0)


def share_beginning(words: Sequence[str], original: Sequence[str]) -> float:
    """Return the share of a text's words up to the first that differs from another text; 0 below `COPY` words."""
    pairs = enumerate(zip(words, original, strict=False))
    number = next((place for place, (first, second) in pairs if first != second), min(len(words), len(original)))
    return number / len(words) if number >= COPY else 0.0
