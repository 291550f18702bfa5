"""Counts of the n-grams of a text, as a trie of sorted arrays.

An n-gram is its context (the n-gram of one word less that it begins with) and its last word. Those of one order are
numbered in the order of (number of the context, last word), so that all continuations of a context stand next to each
other, and finding an n-gram is one binary search an order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
MISSING = -1


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


def count_ngrams(texts: Sequence[Integers], order: int, words: int, beginning: int) -> Trie:
    """Count all n-grams up to an order, none of which reaches over the end of a text.

    Parameters
    ----------
    texts
        Numbers of the words of each text, with the word that ends it and without the one that begins it.
    words
        Size of the vocabulary.
    beginning
        Number of the word that is put before every text.

    Returns
    -------
    Trie
        Of that order, or of the longest n-grams that there are.
    """
    stream = np.concatenate([part for text in texts for part in (np.array([beginning]), text)]).astype(np.int64)
    lengths = np.array([len(text) + 1 for text in texts], dtype=np.int64)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(stream))  # words of the text from each place on
    numbers = np.zeros(len(stream), dtype=np.int64)
    levels: list[Level] = []
    for n in range(1, order + 1):
        places = np.flatnonzero(left >= n)
        if not len(places):  # no text is that long: longer n-grams would add nothing
            break
        keys, first, inverse, counts = np.unique(
            numbers[places] * words + stream[places + n - 1],
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        where = places[first]
        suffixes = numbers[where + 1] if n > 1 else np.zeros(len(keys), dtype=np.int64)
        levels.append(Level(keys, counts, suffixes, stream[where] == beginning))
        numbers = np.full(len(stream), MISSING, dtype=np.int64)
        numbers[places] = inverse
    return Trie(words, beginning, levels)
