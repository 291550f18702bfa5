"""N-gram models: the probability of each next word, and the same in back-off form, as in ARPA files.

Both kinds have the same form (Chen and Goodman 1999, eq. 8 ff.). For a context h of at least one word,

    p(w | h) = d(h w) / c(h) + g(h) p(w | h'),        g(h) = 1 - sum_w d(h w) / c(h),

with h' the context without its first word; c(h) is the sum over w of the (adjusted) counts, d the count after its
discount. Without smoothing d is the count itself, and g is 0. A context that never occurred has g = 1.

In back-off form, the probability of a word after a context is that of the longest n-gram in the model, times the
back-off weights of the longer contexts.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from macroscope.arrays import mapped
from macroscope.natural_language.words import split_at_spaces
from macroscope.systems.ngram.counts import BLOCK, MISSING, Integers, Trie, write_words

Reals = NDArray[np.float64]
Smoothing = Literal["none", "kneser_ney"]
FALLBACK = (0.5, 1.0, 1.5)
"""Discounts of an order whose counts of counts do not determine them (KenLM's --discount_fallback)."""


@dataclass(frozen=True)
class NgramModel:
    """An n-gram model.

    Attributes
    ----------
    trie
        Trie of the n-grams.
    shares
        For each order, d(h w) / c(h) of every n-gram.
    left
        g(h): first for the empty context, then for every n-gram as a context, for each order below the highest.
    uniform
        Probability of a word below all orders.
    fallback_orders
        Orders whose discounts are `FALLBACK`.
    folder
        Folder of arrays that are as large as the counts; None: in memory.
    """

    trie: Trie
    shares: list[Reals]
    left: list[Reals]
    uniform: float
    fallback_orders: tuple[int, ...]
    folder: Path | None

    def probabilities(self, contexts: Integers, words: Integers) -> Reals:
        """Compute P(word | context) of each row.

        Parameters
        ----------
        contexts
            Preceding words: rows x (n - 1), the last one in the last column; `MISSING` if there are fewer.
        words
            Next word of each row; `MISSING` if it is not in the vocabulary.
        """
        probabilities = np.full(len(words), self.uniform)
        for length in range(self.trie.order):
            context = self.trie.find(contexts[:, contexts.shape[1] - length :])
            ngrams = self.trie.extend(length, context, words)
            share = np.where(ngrams == MISSING, 0.0, self.shares[length][ngrams])
            g = np.where(context == MISSING, 1.0, self.left[length][context])
            probabilities = share + g * probabilities
        return probabilities


def estimate(trie: Trie, smoothing: Smoothing, unknown: bool, folder: Path | None = None) -> NgramModel:
    """Estimate a model from counts, block by block.

    Parameters
    ----------
    smoothing
        none: relative frequencies (meister2021 eq. 16). kneser_ney: interpolated, with three discounts per order
        (modified Kneser-Ney), as in KenLM's lmplz.
    unknown
        Whether a word outside the vocabulary has a share of the uniform distribution below all orders (KenLM's <unk>).
    folder
        Folder of the model's arrays, in files without a name; None: in memory.
    """
    words = trie.words - 1 + unknown  # the beginning is never predicted
    shares, left, fallback = [], [], []
    for n in range(1, trie.order + 1):
        counts = trie.levels[n - 1].counts if smoothing == "none" else adjusted_counts(trie, n, folder)
        if n == 1:
            counts = np.where(trie.levels[0].keys == trie.beginning, 0, counts)
        discounts, fell_back = (
            (np.zeros(4), False) if smoothing == "none" else _estimate_discounts(_count_histogram(counts))
        )
        if fell_back:
            fallback.append(n)
        share, g = _discounted_shares(trie, n, counts, discounts, folder)
        shares.append(share)
        left.append(g)
    return NgramModel(trie, shares, left, 1 / words, tuple(fallback), folder)


def _discounted_shares(
    trie: Trie, n: int, counts: Integers, discounts: Reals, folder: Path | None
) -> tuple[Reals, Reals]:
    """Compute d(h w) / c(h) of the n-grams of an order, and g(h) of their contexts."""
    keys = trie.levels[n - 1].keys
    shares = mapped(len(keys), folder=folder)
    left = mapped(len(trie.levels[n - 2].keys) if n > 1 else 1, folder=folder)
    left[:] = 1.0  # for contexts without continuations, that is, ends of texts
    for block in trie.blocks(n):
        contexts = keys[block] // trie.words
        group, block_counts = contexts - contexts[0], counts[block]
        totals, discounted = np.bincount(group, block_counts), discounts[np.minimum(block_counts, 3)]
        with np.errstate(invalid="ignore", divide="ignore"):
            shares[block] = np.where(block_counts > 0, (block_counts - discounted) / totals[group], 0.0)
            g = np.where(totals > 0, np.bincount(group, discounted) / totals, 1.0)
        left[contexts[0] : contexts[-1] + 1] = g
    return shares, left


def adjusted_counts(trie: Trie, order: int, folder: Path | None) -> Integers:
    """Return the number of distinct words before each n-gram; its count for the highest order or at a beginning."""
    level = trie.levels[order - 1]
    if order == trie.order:
        return level.counts
    adjusted = mapped(len(level.counts), np.int64, folder)
    suffixes = trie.levels[order].suffixes
    for start in range(0, len(suffixes), BLOCK):
        np.add.at(adjusted, suffixes[start : start + BLOCK], 1)
    for start in range(0, len(adjusted), BLOCK):
        block = slice(start, start + BLOCK)
        adjusted[block] = np.where(level.from_beginning[block], level.counts[block], adjusted[block])
    return adjusted


def _count_histogram(counts: Integers) -> Reals:
    """Return how many counts are 1, 2, 3 and 4."""
    histogram = np.zeros(6)
    for start in range(0, len(counts), BLOCK):
        histogram += np.bincount(np.minimum(counts[start : start + BLOCK], 5), minlength=6)
    return histogram[1:5]


def _estimate_discounts(n: Reals) -> tuple[Reals, bool]:
    """Compute the discounts of counts 0, 1, 2, and 3 or more (Chen and Goodman 1999, eq. 26).

    Parameters
    ----------
    n
        Number of n-grams with counts 1, 2, 3 and 4.

    Returns
    -------
    discounts; whether they are `FALLBACK`
    """
    if (n[:3] == 0).any():
        return np.array([0.0, *FALLBACK]), True
    y = n[0] / (n[0] + 2 * n[1])
    discounts = np.array([j - (j + 1) * y * n[j] / n[j - 1] for j in (1, 2, 3)])
    if (discounts < 0).any() or (discounts > [1, 2, 3]).any():
        return np.array([0.0, *FALLBACK]), True
    return np.array([0.0, *discounts]), False


BEGINNING, END, UNKNOWN = "<s>", "</s>", "<unk>"
SYMBOLS = (BEGINNING, END, UNKNOWN)
BETWEEN_SPACES = re.compile("[^\0\t\n\r ]+")
"""What KenLM takes for a word."""
_NOTHING = 0.0
_IMPOSSIBLE = -99.0


def words_of(text: str) -> list[str]:
    """Split a text into words like KenLM: at spaces, tabs, line ends and zeros, without the model's own symbols.

    Scripts without spaces are split by a dictionary.
    """
    return [word for word in split_at_spaces(text, BETWEEN_SPACES) if word not in SYMBOLS]


def write_word_numbers(texts: Iterable[Sequence[str]], stream: BinaryIO) -> list[str]:
    """Write texts as the numbers of their words, each with its end, for `counts.read_words`.

    Returns
    -------
    list of str
        Words by number; the first two are `BEGINNING` and `END`.
    """
    vocabulary = {BEGINNING: 0, END: 1}
    numbers = ([*(vocabulary.setdefault(word, len(vocabulary)) for word in text), 1] for text in texts)
    write_words(numbers, 0, stream)
    return list(vocabulary)


@dataclass(frozen=True)
class BackoffModel:
    """An n-gram model in the form of an ARPA file.

    Attributes
    ----------
    words
        Word -> number; the beginning is 0.
    trie
        Trie of the n-grams; its counts are not used.
    log_probabilities
        log10 P of every n-gram, for each order.
    backoffs
        log10 of the back-off weight of every n-gram, for each order below the highest.
    unknown
        log10 P of a word outside the vocabulary.
    """

    words: dict[str, int]
    trie: Trie
    log_probabilities: list[Reals]
    backoffs: list[Reals]
    unknown: float

    def score(self, texts: Iterable[Sequence[str]]) -> Reals:
        """Compute the natural logarithm of the probability of each text of words, including its end."""
        return np.array([logs.sum() for logs in self.word_logs(texts)])

    def word_logs(self, texts: Iterable[Sequence[str]]) -> Iterator[Reals]:
        """Yield, for each text, the natural logarithms of P(word | words before it) of each word and of the end."""
        end = self.words[END]
        return self.number_logs([0, *(self.words.get(word, MISSING) for word in text), end] for text in texts)

    def number_logs(self, texts: Iterable[Sequence[int] | Integers]) -> Iterator[Reals]:
        """Yield the same for texts as numbers of their words, with the beginning and the end."""
        for group in _group_by_size(texts, BLOCK):
            logs = self._token_logs(np.concatenate(group)) * np.log(10)
            for text_logs in np.split(logs, np.cumsum([len(text) for text in group])[:-1]):
                yield text_logs[1:]  # the beginning is given

    def _token_logs(self, stream: Integers) -> Reals:
        """Compute log10 P of each word of a stream of texts, given those before it; no n-gram crosses an end."""
        ngrams = self.trie.extend(0, np.zeros(len(stream), dtype=np.int64), stream)
        logs = np.where(ngrams == MISSING, self.unknown, self.log_probabilities[0][ngrams])
        for length in range(1, self.trie.order):
            contexts = np.concatenate([[MISSING], ngrams[:-1]])
            ngrams = self.trie.extend(length, contexts, stream)
            backoff = np.where(contexts == MISSING, _NOTHING, self.backoffs[length - 1][contexts])
            logs = np.where(ngrams == MISSING, logs + backoff, self.log_probabilities[length][ngrams])
        return logs


def _group_by_size(texts: Iterable[Sequence[int] | Integers], words: int) -> Iterator[list[Integers]]:
    """Group texts up to a number of words; a longer text is a group by itself."""
    group: list[Integers] = []
    size = 0
    for text in texts:
        if group and size + len(text) > words:
            yield group
            group, size = [], 0
        group.append(np.array(text, dtype=np.int64))
        size += len(text)
    if group:
        yield group


def to_backoff_model(model: NgramModel, words: Sequence[str]) -> BackoffModel:
    """Convert an interpolated model to back-off form.

    Parameters
    ----------
    model
        Interpolated model, estimated with a share for unknown words.
    words
        Words by number.
    """
    logs: list[Reals] = []
    lower: Reals = np.full(1, model.uniform)
    for n, level in enumerate(model.trie.levels):
        probabilities, in_logs = (mapped(len(level.keys), folder=model.folder) for _ in range(2))
        for block in model.trie.blocks(n + 1):
            contexts = level.keys[block] // model.trie.words
            # p(w | h) = d(h w) / c(h) + g(h) p(w | h')
            probabilities[block] = model.shares[n][block] + model.left[n][contexts] * lower[level.suffixes[block]]
            with np.errstate(divide="ignore"):
                in_logs[block] = np.log10(probabilities[block])
        lower = probabilities
        logs.append(in_logs)
    logs[0][model.trie.beginning] = _IMPOSSIBLE
    backoffs = [np.log10(left) for left in model.left[1:]]
    unknown = float(np.log10(model.left[0][0] * model.uniform))
    return BackoffModel({word: i for i, word in enumerate(words)}, model.trie, logs, backoffs, unknown)
