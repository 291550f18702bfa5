"""What the tendencies critic sees of a text: counts of its tokens, and how much of it is said twice.

A batch of texts is one array of token numbers, and everything is counted for all of its texts at once.
"""

import zlib

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope.critics.tendencies.tokens import Batch, Integers

REPEATED_NGRAMS = {2: 1, 4: 2}
"""Lengths of n-grams whose duplicates are counted -> exponent of 2."""
Repeated = tuple[Integers, Integers]
"""N-grams that occur again in their text: where they begin, and their numbers, which differ between texts."""


def is_symbol(token: str) -> bool:
    """Tell whether a token holds no letter: punctuation, numbers, signs (meister2021 §5.4)."""
    return not (token.isalpha() or any(map(str.isalpha, token)))


def features(batch: Batch, stop_words: frozenset[str]) -> dict[str, NDArray[np.generic]]:
    """Per text: tokens, types, bigram_types, stop_words, symbols, duplicate_<n>grams, longest_repeat.

    `duplicate_<n>grams` is the share of n-grams that occurred before in the text, 1 - distinct / all (NaN without any
    n-gram); `longest_repeat` is the length in tokens of the longest n-gram that occurs twice, overlaps included.
    """
    texts, count = batch.texts, len(batch.lengths)
    repeated = repeated_ngrams(batch)
    duplicates = [_duplicates(level, texts, count) for level in repeated]
    duplicates += [np.zeros(count)] * (3 - len(duplicates))
    found: dict[str, NDArray[np.generic]] = {
        "tokens": batch.lengths.astype(np.int32),
        "types": (batch.lengths - duplicates[0]).astype(np.int32),
        "bigram_types": (np.maximum(batch.lengths - 1, 0) - duplicates[1]).astype(np.int32),
    }
    for name, flags in (
        ("stop_words", [token in stop_words for token in batch.types]),
        ("symbols", [is_symbol(token) for token in batch.types]),
    ):
        weights = np.array(flags, dtype=float)[batch.ids] if len(batch.ids) else np.empty(0)
        found[name] = np.bincount(texts, weights, minlength=count).astype(np.int32)
    for n, exponent in REPEATED_NGRAMS.items():
        total = np.maximum(batch.lengths - n + 1, 0)
        found[f"duplicate_{n}grams"] = np.divide(
            duplicates[exponent], total, out=np.full(count, np.nan), where=total > 0
        )
    found["longest_repeat"] = longest_repeats(batch, repeated).astype(np.int32)
    return found


def compression_ratio(text: str) -> float:
    """Bytes of a text over its bytes after DEFLATE (zlib, level 6): the higher, the more it repeats; NaN for none."""
    raw = text.encode("utf-8", "surrogatepass")
    return len(raw) / len(zlib.compress(raw, 6)) if raw else float("nan")


def repeated_ngrams(batch: Batch) -> list[Repeated]:
    """Repeated n-grams of lengths 1, 2, 4 ..., up to the last that any text repeats.

    An n-gram can only occur twice if both of its halves do, so that there are fewer to look at each time.
    """
    texts = batch.texts
    levels: list[Repeated] = []
    ends = np.cumsum(batch.lengths)[texts]
    positions, numbers = np.arange(len(batch.ids)), _numbered(texts, batch.ids)
    while True:
        often = _occur_again(numbers)
        positions, numbers = positions[often], numbers[often]
        if not len(positions):
            return levels
        levels.append((positions, numbers))
        power = 1 << (len(levels) - 1)
        at = np.full(len(texts), -1, dtype=np.int64)
        at[positions] = numbers
        positions = positions[positions + 2 * power <= ends[positions]]
        positions = positions[at[positions + power] >= 0]
        numbers = _numbered(at[positions], at[positions + power])


def longest_repeats(batch: Batch, repeated: list[Repeated]) -> Integers:
    """Length in tokens of the longest n-gram that occurs twice in each text, overlaps included; 0 for none.

    Put together from powers of two, the largest first: n-grams of the length so far that are followed by one.
    """
    texts, count = batch.texts, len(batch.lengths)
    length = np.zeros(count, dtype=np.int64)
    current = texts.copy()  # numbers of the repeated n-grams of each text's length so far: the empty one, everywhere
    at = np.empty(len(texts), dtype=np.int64)
    for exponent in reversed(range(len(repeated))):
        at[:] = -1
        at[repeated[exponent][0]] = repeated[exponent][1]
        follow = repeated[exponent][0]
        where = follow - length[texts[follow]]
        same_text = (where >= 0) & (texts[where] == texts[follow])
        where, follow = where[same_text], follow[same_text]
        known = current[where] >= 0
        where, follow = where[known], follow[known]
        numbers = _numbered(current[where], at[follow])
        often = _occur_again(numbers)
        longer = np.zeros(count, dtype=bool)
        longer[texts[where[often]]] = True
        current[longer[texts]] = -1
        current[where[often]] = numbers[often]
        length += longer * (1 << exponent)
    return length


def _numbered(first: Integers, second: Integers) -> Integers:
    """Number the distinct pairs."""
    if not len(first):
        return np.empty(0, dtype=np.int64)
    # Hashing, not sorting: the order of the numbers does not matter.
    return pd.factorize(first * (int(second.max()) + 1) + second)[0]


def _occur_again(numbers: Integers) -> NDArray[np.bool_]:
    """Tell which numbers are there more than once."""
    return np.bincount(numbers)[numbers] > 1 if len(numbers) else np.zeros(0, dtype=bool)


def _duplicates(repeated: Repeated, texts: Integers, count: int) -> NDArray[np.float64]:
    """N-grams of each text that occurred before in it: all but one of each repeated one."""
    positions, numbers = repeated
    share = 1 - 1 / np.bincount(numbers)[numbers]
    return np.rint(np.bincount(texts[positions], share, minlength=count))
