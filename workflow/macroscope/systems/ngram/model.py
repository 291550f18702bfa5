"""N-gram models: the probability of each next word, and what is left for shorter contexts.

Both kinds have the same form (Chen and Goodman 1999, eq. 8 ff.). For a context h of at least one word,

    p(w | h) = d(h w) / c(h) + g(h) p(w | h'),        g(h) = 1 - sum_w d(h w) / c(h),

with h' the context without its first word; c(h) is the sum over w of the (adjusted) counts, d the count after its
discount. Without smoothing d is the count itself, and g is 0. A context that never occurred has g = 1.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from macroscope.systems.ngram.counts import MISSING, Integers, Level, Trie

Reals = NDArray[np.float64]
Smoothing = Literal["none", "kneser_ney"]
FALLBACK = (0.5, 1.0, 1.5)
"""Discounts of an order whose counts of counts give none (KenLM's --discount_fallback)."""


@dataclass(frozen=True)
class NgramModel:
    """An n-gram model.

    Attributes
    ----------
    trie
        The n-grams.
    shares
        For each order: d(h w) / c(h) of every n-gram.
    left
        For each order below the highest: g(h) of every n-gram as a context; and for no context at all, first.
    uniform
        Probability that a word has beneath all orders.
    fallback_orders
        Orders whose discounts are `FALLBACK`.
    """

    trie: Trie
    shares: list[Reals]
    left: list[Reals]
    uniform: float
    fallback_orders: tuple[int, ...]

    def probabilities(self, contexts: Integers, words: Integers) -> Reals:
        """P(word | context).

        Parameters
        ----------
        contexts
            rows x (n - 1): the words before, the last one in the last column; `MISSING` where there are fewer.
        words
            The next word of each row; `MISSING` for one that is not in the vocabulary.
        """
        found = np.full(len(words), self.uniform)
        for length in range(self.trie.order):
            context = self.find(contexts[:, contexts.shape[1] - length :])
            ngrams = self.trie.extend(length, context, words) if length else self._unigrams(words)
            share = np.where(ngrams == MISSING, 0.0, self.shares[length][ngrams])
            g = np.where(context == MISSING, 1.0, self.left[length][context])
            found = share + g * found
        return found

    def find(self, words: Integers) -> Integers:
        """Numbers of n-grams, given as rows of their words; `MISSING` where one never occurred; 0 for no words."""
        numbers = np.zeros(len(words), dtype=np.int64)
        for column in range(words.shape[1]):
            known = words[:, column] != MISSING
            if column == 0:
                numbers = np.where(known, self._unigrams(words[:, 0]), MISSING)
            else:
                numbers = np.where(known, self.trie.extend(column, numbers, words[:, column]), MISSING)
        return numbers

    def _unigrams(self, words: Integers) -> Integers:
        return self.trie.extend(0, np.zeros(len(words), dtype=np.int64), words)


def estimate(trie: Trie, smoothing: Smoothing, unknown: bool) -> NgramModel:
    """Estimate a model from counts.

    Parameters
    ----------
    smoothing
        none: relative frequencies (meister2021 eq. 16). kneser_ney: interpolated, with three discounts an order
        (modified Kneser-Ney), as KenLM's lmplz estimates it.
    unknown
        Whether one word outside the vocabulary has a share of the uniform distribution beneath (KenLM's <unk>).
    """
    words = trie.words - 1 + unknown  # the beginning is never predicted
    shares, left, fallback = [], [np.ones(1)], []
    for n, level in enumerate(trie.levels, 1):
        counts = level.counts if smoothing == "none" else adjusted_counts(trie, n)
        predicted = level.keys != trie.beginning if n == 1 else np.ones(len(counts), dtype=bool)
        counts = np.where(predicted, counts, 0)
        discounts, fell_back = (np.zeros(4), False) if smoothing == "none" else _discounts(counts)
        if fell_back:
            fallback.append(n)
        contexts = level.keys // trie.words
        size = 1 if n == 1 else len(trie.levels[n - 2].keys)
        totals = np.bincount(contexts, counts, minlength=size)
        taken = discounts[np.minimum(counts, 3)]
        with np.errstate(invalid="ignore", divide="ignore"):  # a context that nothing follows: the end of a text
            shares.append(np.where(counts > 0, (counts - taken) / totals[contexts], 0.0))
            g = np.where(totals > 0, np.bincount(contexts, taken, minlength=size) / totals, 1.0)
        left[n - 1] = g
        left.append(np.ones(len(level.keys)))
    return NgramModel(trie, shares, left[:-1], 1 / words, tuple(fallback))


def adjusted_counts(trie: Trie, order: int) -> Integers:
    """How many different words stand before each n-gram; of the highest order and at the beginning: the counts."""
    level: Level = trie.levels[order - 1]
    if order == trie.order:
        return level.counts
    before = np.bincount(trie.levels[order].suffixes, minlength=len(level.counts))
    return np.where(level.from_beginning, level.counts, before)


def _discounts(counts: Integers) -> tuple[Reals, bool]:
    """Discounts of counts 0, 1, 2, and 3 or more (Chen and Goodman 1999, eq. 26), and whether they are `FALLBACK`."""
    n = np.bincount(np.minimum(counts, 5), minlength=6)[1:5].astype(float)
    if (n[:3] == 0).any():
        return np.array([0.0, *FALLBACK]), True
    y = n[0] / (n[0] + 2 * n[1])
    found = np.array([j - (j + 1) * y * n[j] / n[j - 1] for j in (1, 2, 3)])
    if (found < 0).any() or (found > [1, 2, 3]).any():
        return np.array([0.0, *FALLBACK]), True
    return np.array([0.0, *found]), False
