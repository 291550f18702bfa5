"""N-gram models in back-off form, as ARPA files have it, and the words of texts as KenLM takes them.

The probability of a word after a context is that of the longest n-gram that the model has, times the back-offs of the
contexts that are longer.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from macroscope.arrays import mapped
from macroscope.systems.ngram.counts import BLOCK, MISSING, Integers, Trie, write_words
from macroscope.systems.ngram.model import NgramModel, Reals

BEGINNING, END, UNKNOWN = "<s>", "</s>", "<unk>"
SYMBOLS = (BEGINNING, END, UNKNOWN)
_SPACE = re.compile("[\0\t\n\r ]+")
_NOTHING = 0.0
_IMPOSSIBLE = -99.0


def words_of(text: str) -> list[str]:
    """Words as KenLM takes them: split at spaces, tabs, line ends and zeros; the model's own symbols are left out."""
    return [word for word in _SPACE.split(text) if word and word not in SYMBOLS]


def write_numbered(texts: Iterable[Sequence[str]], stream: BinaryIO) -> list[str]:
    """Write texts as numbers of their words, each with its end; return the words by number, the marks first.

    What is written `counts.read_words` reads; the marks are `BEGINNING` and `END`.
    """
    vocabulary = {BEGINNING: 0, END: 1}
    numbers = ([*(vocabulary.setdefault(word, len(vocabulary)) for word in text), 1] for text in texts)
    write_words(numbers, 0, stream)
    return list(vocabulary)


@dataclass(frozen=True)
class BackoffModel:
    """An n-gram model as an ARPA file has it.

    Attributes
    ----------
    words
        Word -> number; the beginning is 0.
    trie
        The n-grams; its counts are not known.
    log_probabilities
        log10 P of every n-gram, for each order.
    backoffs
        log10 of the back-off of every n-gram, for each order below the highest.
    unknown
        log10 P of a word that is not in the vocabulary.
    """

    words: dict[str, int]
    trie: Trie
    log_probabilities: list[Reals]
    backoffs: list[Reals]
    unknown: float

    def score(self, texts: Iterable[Sequence[str]]) -> Reals:
        """Natural logarithm of the probability of each text of words, with its end."""
        return np.array([own.sum() for own in self.word_logs(texts)])

    def word_logs(self, texts: Iterable[Sequence[str]]) -> Iterator[Reals]:
        """Natural logarithm of the probability of each word of each text after those before it, and of its end."""
        end = self.words[END]
        numbers = ([0, *(self.words.get(word, MISSING) for word in text), end] for text in texts)
        for some in _together(numbers, BLOCK):
            logs = self._token_logs(np.concatenate(some)) * np.log(10)
            for own in np.split(logs, np.cumsum([len(text) for text in some])[:-1]):
                yield own[1:]  # the beginning is given

    def _token_logs(self, stream: Integers) -> Reals:
        """log10 P of each word of a stream of texts after what stands before it; no n-gram has an end in its midst."""
        ngrams = self.trie.extend(0, np.zeros(len(stream), dtype=np.int64), stream)
        found = np.where(ngrams == MISSING, self.unknown, self.log_probabilities[0][ngrams])
        for length in range(1, self.trie.order):
            contexts = np.concatenate([[MISSING], ngrams[:-1]])
            ngrams = self.trie.extend(length, contexts, stream)
            backoff = np.where(contexts == MISSING, _NOTHING, self.backoffs[length - 1][contexts])
            found = np.where(ngrams == MISSING, found + backoff, self.log_probabilities[length][ngrams])
        return found


def _together(texts: Iterable[Sequence[int]], words: int) -> Iterator[list[Integers]]:
    """Texts in groups of so many words, or of a single text that has more."""
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


def backoff_model(model: NgramModel, words: Sequence[str]) -> BackoffModel:
    """Give an interpolated model the form of an ARPA file.

    Parameters
    ----------
    model
        Estimated with a share for unknown words.
    words
        By number.
    """
    logs: list[Reals] = []
    below: Reals = np.full(1, model.uniform)
    for n, level in enumerate(model.trie.levels):
        found, in_logs = (mapped(len(level.keys), folder=model.folder) for _ in range(2))
        for block in model.trie.blocks(n + 1):
            contexts = level.keys[block] // model.trie.words
            # p(w | h) = d(h w) / c(h) + g(h) p(w | h')
            found[block] = model.shares[n][block] + model.left[n][contexts] * below[level.suffixes[block]]
            with np.errstate(divide="ignore"):
                in_logs[block] = np.log10(found[block])
        below = found
        logs.append(in_logs)
    logs[0][model.trie.beginning] = _IMPOSSIBLE
    backoffs = [np.log10(left) for left in model.left[1:]]
    unknown = float(np.log10(model.left[0][0] * model.uniform))
    return BackoffModel({word: i for i, word in enumerate(words)}, model.trie, logs, backoffs, unknown)
