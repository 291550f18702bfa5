"""Features of texts: counts of tokens, and measures of repetition.

A batch of texts is one array of token numbers; each feature is computed for all texts of a batch at once.
"""

import zlib

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope.natural_language.tokens import Batch, Integers

REPEATED_NGRAMS = {2: 1, 4: 2}
"""Lengths of n-grams whose duplicates are counted -> exponent of 2."""
Repeated = tuple[Integers, Integers]
"""(positions, numbers) of the n-grams that occur more than once in their text; numbers differ between texts."""


def is_symbol(token: str) -> bool:
    """Return whether a token has no letter: punctuation, numbers, signs (meister2021 §5.4)."""
    return not (token.isalpha() or any(map(str.isalpha, token)))


def count_features(batch: Batch, stop_words: frozenset[str]) -> dict[str, NDArray[np.generic]]:
    """Count tokens, types, bigram_types, stop_words, symbols, duplicate_<n>grams and longest_repeat of each text.

    `duplicate_<n>grams` is the share of n-grams that occurred before in the text, 1 - distinct / all (NaN without any
    n-gram); `longest_repeat` is the length in tokens of the longest n-gram that occurs twice, overlaps included.
    """
    texts, count = batch.texts, len(batch.lengths)
    repeated = find_repeated_ngrams(batch)
    duplicates = [_duplicates(level, texts, count) for level in repeated]
    duplicates += [np.zeros(count)] * (3 - len(duplicates))
    columns: dict[str, NDArray[np.generic]] = {
        "tokens": batch.lengths.astype(np.int32),
        "types": (batch.lengths - duplicates[0]).astype(np.int32),
        "bigram_types": (np.maximum(batch.lengths - 1, 0) - duplicates[1]).astype(np.int32),
    }
    for name, flags in (
        ("stop_words", [token in stop_words for token in batch.types]),
        ("symbols", [is_symbol(token) for token in batch.types]),
    ):
        weights = np.array(flags, dtype=float)[batch.ids] if len(batch.ids) else np.empty(0)
        columns[name] = np.bincount(texts, weights, minlength=count).astype(np.int32)
    for n, exponent in REPEATED_NGRAMS.items():
        total = np.maximum(batch.lengths - n + 1, 0)
        columns[f"duplicate_{n}grams"] = np.divide(
            duplicates[exponent], total, out=np.full(count, np.nan), where=total > 0
        )
    columns["longest_repeat"] = compute_longest_repeats(batch, repeated).astype(np.int32)
    return columns


def compression_ratio(text: str) -> float:
    """Return the bytes of a text over its bytes after DEFLATE (zlib, level 6).

    More repetitive texts have larger ratios. White space counts as one space: line breaks between sentences change
    nothing. NaN for a text without words.
    """
    raw = " ".join(text.split()).encode("utf-8", "surrogatepass")
    return len(raw) / len(zlib.compress(raw, 6)) if raw else float("nan")


def find_repeated_ngrams(batch: Batch) -> list[Repeated]:
    """Find the repeated n-grams of lengths 1, 2, 4, ..., up to the longest length that any text repeats.

    An n-gram can only occur twice if both of its halves do, so each step has fewer candidates.
    """
    texts = batch.texts
    levels: list[Repeated] = []
    ends = np.cumsum(batch.lengths)[texts]
    positions, numbers = np.arange(len(batch.ids)), number_pairs(texts, batch.ids)
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
        numbers = number_pairs(at[positions], at[positions + power])


def compute_longest_repeats(batch: Batch, repeated: list[Repeated]) -> Integers:
    """Compute the length in tokens of the longest n-gram that occurs twice in each text, overlaps included; 0 if none.

    The length is composed of powers of two, the largest first: repeated n-grams of the current length are extended by a
    repeated n-gram that follows them.
    """
    texts, count = batch.texts, len(batch.lengths)
    length = np.zeros(count, dtype=np.int64)
    current = texts.copy()  # numbers of the repeated n-grams of each text's current length; initially the empty one
    at = np.empty(len(texts), dtype=np.int64)
    for exponent in reversed(range(len(repeated))):
        at[:] = -1
        at[repeated[exponent][0]] = repeated[exponent][1]
        follow = repeated[exponent][0]
        starts = follow - length[texts[follow]]
        same_text = (starts >= 0) & (texts[starts] == texts[follow])
        starts, follow = starts[same_text], follow[same_text]
        is_repeated = current[starts] >= 0
        starts, follow = starts[is_repeated], follow[is_repeated]
        numbers = number_pairs(current[starts], at[follow])
        often = _occur_again(numbers)
        longer = np.zeros(count, dtype=bool)
        longer[texts[starts[often]]] = True
        current[longer[texts]] = -1
        current[starts[often]] = numbers[often]
        length += longer * (1 << exponent)
    return length


def number_pairs(first: Integers, second: Integers) -> Integers:
    """Number the distinct pairs."""
    if not len(first):
        return np.empty(0, dtype=np.int64)
    # Hashing is faster than sorting, and the order of the numbers does not matter.
    return pd.factorize(first * (int(second.max()) + 1) + second)[0]


def _occur_again(numbers: Integers) -> NDArray[np.bool_]:
    return np.bincount(numbers)[numbers] > 1 if len(numbers) else np.zeros(0, dtype=bool)


def _duplicates(repeated: Repeated, texts: Integers, count: int) -> NDArray[np.float64]:
    """Count the n-grams of each text that occurred before in it: all but one occurrence of each repeated n-gram."""
    positions, numbers = repeated
    share = 1 - 1 / np.bincount(numbers)[numbers]
    return np.rint(np.bincount(texts[positions], share, minlength=count))
