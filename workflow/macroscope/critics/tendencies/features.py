"""What the tendencies critic sees of a text: counts of its tokens, and how much of it is said twice.

A batch of texts is one array of token numbers, and everything is counted for all of its texts at once.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Integers = NDArray[np.int64]
REPEATED_NGRAMS = (2, 4)


@dataclass(frozen=True)
class Batch:
    """Tokens of some texts.

    Attributes
    ----------
    types
        Distinct tokens of the batch.
    ids
        Index into `types` of every token, text after text.
    lengths
        Tokens of each text.
    """

    types: list[str]
    ids: Integers
    lengths: Integers

    @property
    def texts(self) -> Integers:
        """Index of the text of each token."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


def batch_of(texts: Sequence[Sequence[str]]) -> Batch:
    """Number the tokens of some texts."""
    numbers: dict[str, int] = {}
    ids = [numbers.setdefault(token, len(numbers)) for tokens in texts for token in tokens]
    lengths = np.array([len(tokens) for tokens in texts], dtype=np.int64)
    return Batch(list(numbers), np.array(ids, dtype=np.int64), lengths)


def is_symbol(token: str) -> bool:
    """Tell whether a token holds no letter: punctuation, numbers, signs (meister2021 §5.4)."""
    return not any(map(str.isalpha, token))


def features(batch: Batch, stop_words: frozenset[str]) -> dict[str, NDArray[np.generic]]:
    """Per text: tokens, types, bigram_types, stop_words, symbols, duplicate_<n>grams, longest_repeat.

    `duplicate_<n>grams` is the share of n-grams that occurred before in the text, 1 - distinct / all (NaN without any
    n-gram); `longest_repeat` is the length in tokens of the longest n-gram that occurs twice, overlaps included.
    """
    texts, count = batch.texts, len(batch.lengths)
    flags = {
        "stop_words": np.array([token in stop_words for token in batch.types], dtype=float),
        "symbols": np.array([is_symbol(token) for token in batch.types], dtype=float),
    }
    found: dict[str, NDArray[np.generic]] = {"tokens": batch.lengths.astype(np.int32)}
    grams = {1: batch.ids}
    starts = {n: _starts(batch.lengths, n) for n in (1, 2, 4)}
    grams[2] = _joined(batch.ids, batch.ids, 1, starts[2])
    grams[4] = _joined(grams[2], grams[2], 2, starts[4])
    distinct = {n: _distinct(grams[n][starts[n]], texts[starts[n]], count) for n in grams}
    found["types"], found["bigram_types"] = distinct[1].astype(np.int32), distinct[2].astype(np.int32)
    for name, flag in flags.items():
        weights = flag[batch.ids] if len(batch.ids) else np.empty(0)
        found[name] = np.bincount(texts, weights, minlength=count).astype(np.int32)
    for n in REPEATED_NGRAMS:
        total = np.maximum(batch.lengths - n + 1, 0)
        share = np.divide(distinct[n], total, out=np.full(count, np.nan), where=total > 0)
        found[f"duplicate_{n}grams"] = 1 - share
    found["longest_repeat"] = longest_repeats(batch).astype(np.int32)
    return found


def compression_ratio(text: str) -> float:
    """Bytes of a text over its bytes after DEFLATE (zlib, level 6): the higher, the more it repeats; NaN for none."""
    raw = text.encode("utf-8", "surrogatepass")
    return len(raw) / len(zlib.compress(raw, 6)) if raw else float("nan")


def longest_repeats(batch: Batch) -> Integers:
    """Length in tokens of the longest n-gram that occurs twice in each text, overlaps included; 0 for none.

    By doubling: n-grams of length 2^k are numbered as pairs of those of half the length, as long as any text repeats
    one; then each text's longest repeat is put together from powers of two, the largest first.
    """
    count, texts = len(batch.lengths), batch.texts
    ends = np.cumsum(batch.lengths)[texts]
    position = np.arange(len(batch.ids))
    ranks = [_ranked(texts, batch.ids)]
    while True:
        power = 1 << (len(ranks) - 1)
        if not _repeats(ranks[-1], position + power <= ends, texts, count).any():
            break
        inside = position + 2 * power <= ends
        ranks.append(_joined(ranks[-1], ranks[-1], power, np.flatnonzero(inside)))
    length = np.zeros(count, dtype=np.int64)
    current = texts.copy()  # numbers of the n-grams of each text's present length: the empty one
    for exponent in range(len(ranks) - 2, -1, -1):
        longer = length[texts] + (1 << exponent)
        inside = position + longer <= ends
        where = np.flatnonzero(inside)
        pairs = np.full(len(position), -1, dtype=np.int64)
        pairs[where] = _ranked(current[where], ranks[exponent][where + length[texts[where]]])
        repeated = _repeats(pairs, inside, texts, count)
        current = np.where(repeated[texts], pairs, current)
        length += repeated * (1 << exponent)
    return length


def _starts(lengths: Integers, n: int) -> Integers:
    """Positions at which an n-gram begins that ends in the same text."""
    ends = np.repeat(np.cumsum(lengths), lengths)
    return np.flatnonzero(np.arange(len(ends)) + n <= ends)


def _joined(first: Integers, second: Integers, shift: int, starts: Integers) -> Integers:
    """Numbers of the n-grams at `starts`, each made of one of `first` and one of `second`, `shift` further on."""
    joined = np.full(len(first), -1, dtype=np.int64)
    joined[starts] = _ranked(first[starts], second[starts + shift])
    return joined


def _ranked(first: Integers, second: Integers) -> Integers:
    """Number the distinct pairs."""
    if not len(first):
        return np.empty(0, dtype=np.int64)
    # Hashing, not sorting: the order of the numbers does not matter.
    return pd.factorize(first * (int(second.max()) + 1) + second)[0]


def _distinct(grams: Integers, texts: Integers, count: int) -> Integers:
    """Distinct n-grams of each text."""
    if not len(grams):
        return np.zeros(count, dtype=np.int64)
    width = int(grams.max()) + 1
    return np.bincount(pd.unique(texts * width + grams) // width, minlength=count)


def _repeats(ranks: Integers, inside: NDArray[np.bool_], texts: Integers, count: int) -> NDArray[np.bool_]:
    """Tell which texts hold one of the numbered n-grams twice; numbers differ between texts."""
    where = np.flatnonzero(inside)
    if not len(where):
        return np.zeros(count, dtype=bool)
    often = np.bincount(ranks[where])[ranks[where]] > 1
    return np.bincount(texts[where], often, minlength=count) > 0
