"""Counts of the n-grams of a text, as a trie of sorted arrays.

An n-gram is its context (the n-gram of one word less that it begins with) and its last word. Those of one order are
numbered in the order of (number of the context, last word), so that all continuations of a context stand next to each
other, and finding an n-gram is one binary search an order.

Counting an order takes a range of contexts after the other. What follows them is sorted by itself, so that sorting
needs memory for a range and not for all texts; and as ranges stand in order, their n-grams are numbered one by one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
MISSING = -1
PLACES = 1 << 22
"""Words of the texts that are sorted at a time, unless a single context has more; no count depends on it."""


@dataclass(frozen=True)
class Level:
    """All n-grams of one order.

    Attributes
    ----------
    keys
        Context x size of the vocabulary + last word; sorted. For order 1 the words themselves.
    counts
        How often each occurs.
    suffixes
        Number of the n-gram without its first word, among those of the order below; for order 1 all 0.
    from_beginning
        Whether its first word is the beginning of a text.
    """

    keys: Integers
    counts: Integers
    suffixes: Integers
    from_beginning: NDArray[np.bool_]


@dataclass(frozen=True)
class Trie:
    """N-grams of orders 1 to n.

    Attributes
    ----------
    words
        Size of the vocabulary, the beginning included.
    beginning
        Number of the word that stands before every text, and is never predicted.
    levels
        Order 1 first.
    """

    words: int
    beginning: int
    levels: list[Level]

    @property
    def order(self) -> int:
        """N."""
        return len(self.levels)

    def children(self, order: int, contexts: Integers) -> tuple[Integers, Integers]:
        """First continuation of each context of some order, and the first one that is not; in the order above."""
        keys = self.levels[order].keys
        return (
            np.searchsorted(keys, contexts * self.words),
            np.searchsorted(keys, (contexts + 1) * self.words),
        )

    def extend(self, order: int, contexts: Integers, words: Integers) -> Integers:
        """Numbers of the n-grams that each context of some order and a word make; `MISSING` where there is none.

        Contexts and words may be `MISSING` themselves.
        """
        keys = self.levels[order].keys
        wanted = contexts * self.words + words
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        known = (contexts != MISSING) & (words != MISSING)  # else a key would be another n-gram's
        return np.where(known & (keys[places] == wanted), places, MISSING)


def count_ngrams(
    texts: Sequence[Integers], order: int, words: int, beginning: int, places_at_once: int = PLACES
) -> Trie:
    """Count all n-grams up to an order, none of which reaches over the end of a text.

    Besides texts and result it holds some 16 bytes a word and what sorting a range takes; while its ranges are joined,
    an order is there twice.

    Parameters
    ----------
    texts
        Numbers of the words of each text, with the word that ends it and without the one that begins it.
    words
        Size of the vocabulary.
    beginning
        Number of the word that is put before every text.
    places_at_once
        Words of the texts that are sorted at a time: memory against time, with the same counts.

    Returns
    -------
    Trie
        Of that order, or of the longest n-grams that there are.
    """
    lengths = np.array([len(text) + 1 for text in texts], dtype=np.int64)
    starts, size = np.cumsum(lengths) - lengths, int(lengths.sum())
    # Words and n-grams are numbered below these: half the memory for all but the largest texts.
    narrow = np.int32 if max(size, words) <= np.iinfo(np.int32).max else np.int64
    stream = np.full(size, beginning, dtype=narrow)
    for start, text in zip(starts, texts, strict=True):
        stream[start + 1 : start + 1 + len(text)] = text
    begins = np.zeros(size, dtype=np.bool_)
    begins[starts] = True

    seen = np.bincount(stream)
    keys = np.flatnonzero(seen)
    levels = [Level(keys, seen[keys], np.zeros(len(keys), dtype=np.int64), keys == beginning)]
    numbers = (np.cumsum(seen > 0) - 1).astype(narrow)[stream]  # of the n-gram at each place
    for n in range(2, order + 1):
        contexts, last = numbers[: max(0, size - n + 1)], stream[n - 1 :]
        longer = np.full(size, MISSING, dtype=narrow)
        parts: list[Level] = []
        done = 0
        for low, high in _ranges(levels[-1].counts, places_at_once):
            # The last word is of the same text as the context.
            places = np.flatnonzero((contexts >= low) & (contexts < high) & ~begins[n - 1 :])
            keys, first, inverse, counts = np.unique(
                contexts[places].astype(np.int64) * words + last[places],
                return_index=True,
                return_inverse=True,
                return_counts=True,
            )
            where = places[first]
            parts.append(Level(keys, counts, numbers[where + 1].astype(np.int64), stream[where] == beginning))
            longer[places] = inverse + done
            done += len(keys)
        if not done:  # no text is that long: longer n-grams would add nothing
            break
        levels.append(_joined(parts))
        numbers = longer
    return Trie(words, beginning, levels)


def _ranges(counts: Integers, at_once: int) -> Iterator[tuple[int, int]]:
    """(first, first that is not) of ranges of contexts that occur so many times together at most, or are one."""
    until = np.cumsum(counts)
    low = 0
    while low < len(until):
        before = until[low - 1] if low else 0
        high = max(low + 1, int(np.searchsorted(until, before + at_once, side="right")))
        yield low, high
        low = high


def _joined(parts: Sequence[Level]) -> Level:
    """N-grams of ranges of contexts, one after the other."""
    return Level(
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.counts for part in parts]),
        np.concatenate([part.suffixes for part in parts]),
        np.concatenate([part.from_beginning for part in parts]),
    )
