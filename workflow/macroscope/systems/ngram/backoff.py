"""N-gram models in back-off form, as in ARPA files, and the splitting of texts into words as in KenLM.

The probability of a word after a context is that of the longest n-gram in the model, times the back-off weights of the
longer contexts.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from macroscope.arrays import mapped
from macroscope.natural_language.words import split_at_spaces
from macroscope.systems.ngram.counts import BLOCK, MISSING, Integers, Trie, write_words
from macroscope.systems.ngram.model import NgramModel, Reals

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
