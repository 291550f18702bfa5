"""ARPA files: n-gram models as text, which KenLM and others read and write.

A line is `log10 P <tab> words <tab> log10 back-off`. The probability of a word after a context is that of the longest
n-gram that the file has, times the back-offs of the contexts that are longer.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.systems.ngram.counts import MISSING, Integers, Level, Trie, count_ngrams
from macroscope.systems.ngram.model import NgramModel, Reals

BEGINNING, END, UNKNOWN = "<s>", "</s>", "<unk>"
SYMBOLS = (BEGINNING, END, UNKNOWN)
_SPACE = re.compile("[\0\t\n\r ]+")
_NOTHING = 0.0
_IMPOSSIBLE = -99.0


def words_of(text: str) -> list[str]:
    """Words as KenLM takes them: split at spaces, tabs, line ends and zeros; the model's own symbols are left out."""
    return [word for word in _SPACE.split(text) if word and word not in SYMBOLS]


def numbered(texts: Iterable[Sequence[str]]) -> tuple[list[Integers], list[str]]:
    """Texts as numbers of their words, each with its end; and the words by number, the beginning and the end first."""
    vocabulary = {BEGINNING: 0, END: 1}
    found = [
        np.array([*(vocabulary.setdefault(w, len(vocabulary)) for w in text), 1], dtype=np.int64) for text in texts
    ]
    return found, list(vocabulary)


def count_words(texts: Iterable[Sequence[str]], order: int) -> tuple[Trie, list[str]]:
    """Count the n-grams of texts of words; returns the counts and the words by number."""
    texts_of_numbers, words = numbered(texts)
    return count_ngrams(texts_of_numbers, order, len(words), 0), words


@dataclass(frozen=True)
class BackoffModel:
    """An n-gram model as an ARPA file has it.

    Attributes
    ----------
    words
        Word -> number; the beginning is 0. With "<unk>" among them, a word that is not in the vocabulary is that one.
    trie
        The n-grams; its counts are not known.
    log_probabilities
        log10 P of every n-gram, for each order.
    backoffs
        log10 of the back-off of every n-gram, for each order below the highest.
    unknown
        log10 P of a word that is not in the vocabulary, where "<unk>" is not either.
    """

    words: dict[str, int]
    trie: Trie
    log_probabilities: list[Reals]
    backoffs: list[Reals]
    unknown: float

    def score(self, texts: Sequence[Sequence[str]]) -> Reals:
        """Natural logarithm of the probability of each text of words, with its end."""
        if not texts:
            return np.empty(0)
        logs, starts = self._logs_of(texts)
        logs[starts] = 0.0  # the beginning is given
        return np.add.reduceat(logs, starts) * np.log(10)

    def word_logs(self, texts: Sequence[Sequence[str]]) -> list[Reals]:
        """Natural logarithm of the probability of each word of each text after those before it, and of its end."""
        logs, starts = self._logs_of(texts)
        return [own[1:] * np.log(10) for own in np.split(logs, starts[1:])]

    def _logs_of(self, texts: Sequence[Sequence[str]]) -> tuple[Reals, Integers]:
        """log10 P of the words of texts, each with its beginning and its end; and where each text begins."""
        end, other = self.words[END], self.words.get(UNKNOWN, MISSING)
        lengths = np.array([len(text) + 1 for text in texts])
        numbers = (n for text in texts for n in (0, *(self.words.get(word, other) for word in text), end))
        return self._token_logs(np.fromiter(numbers, dtype=np.int64)), np.cumsum(lengths + 1) - lengths - 1

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


def backoff_model(model: NgramModel, words: Sequence[str]) -> BackoffModel:
    """Give an interpolated model the form of an ARPA file.

    Parameters
    ----------
    model
        Estimated with a share for unknown words.
    words
        By number.
    """
    logs, below = [], np.full(1, model.uniform)
    for n, level in enumerate(model.trie.levels):
        contexts = level.keys // model.trie.words
        # p(w | h) = d(h w) / c(h) + g(h) p(w | h')
        below = model.shares[n] + model.left[n][contexts] * below[level.suffixes]
        with np.errstate(divide="ignore"):
            logs.append(np.log10(below))
        if n == 0:
            logs[0][model.trie.beginning] = _IMPOSSIBLE
    backoffs = [np.log10(left) for left in model.left[1:]]
    unknown = float(np.log10(model.left[0][0] * model.uniform))
    return BackoffModel({word: i for i, word in enumerate(words)}, model.trie, logs, backoffs, unknown)


def write_arpa(model: BackoffModel, path: Path) -> None:
    """Write a model as an ARPA file."""
    names, listed = list(model.words), UNKNOWN in model.words
    spelled = [[names[key] for key in model.trie.levels[0].keys.tolist()]]
    for n, level in enumerate(model.trie.levels[1:], 1):
        contexts, lasts = np.divmod(level.keys, model.trie.words)
        some = zip(contexts.tolist(), lasts.tolist(), strict=True)
        spelled.append([f"{spelled[n - 1][context]} {names[last]}" for context, last in some])
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        sizes = [len(level.keys) + (n == 0 and not listed) for n, level in enumerate(model.trie.levels)]
        stream.write("\\data\\\n" + "".join(f"ngram {n}={size}\n" for n, size in enumerate(sizes, 1)))
        for n, ngrams in enumerate(spelled):
            stream.write(f"\n\\{n + 1}-grams:\n")
            if n == 0 and not listed:
                stream.write(f"{model.unknown:.9g}\t{UNKNOWN}\t0\n")
            backoffs = model.backoffs[n] if n < len(model.backoffs) else None
            for i, (ngram, log) in enumerate(zip(ngrams, model.log_probabilities[n].tolist(), strict=True)):
                stream.write(f"{log:.9g}\t{ngram}" + (f"\t{backoffs[i]:.9g}\n" if backoffs is not None else "\n"))
        stream.write("\n\\end\\\n")


def read_arpa(path: Path) -> BackoffModel:
    """Read an ARPA file.

    Raises
    ------
    MacroscopeError
        Where a line is not what its section should have.
    """
    words: dict[str, int] = {BEGINNING: 0}
    rows: list[list[tuple[list[int], float, float]]] = []
    with path.open(encoding="utf-8", newline="\n") as stream:
        for number, line in enumerate(stream, 1):
            line = line.rstrip("\n")
            if re.fullmatch(r"\\\d+-grams:", line):
                rows.append([])
            elif rows and line and not line.startswith("\\"):
                log, ngram, backoff = _fields(line, f"{path}, line {number}")
                rows[-1].append(([words.setdefault(word, len(words)) for word in ngram], log, backoff))
    if not rows or not all(rows):
        raise MacroscopeError(f"{path}: not an ARPA file, or one without n-grams of some order")
    levels: list[Level] = []
    logs, backoffs = [], []
    for n, some in enumerate(rows):
        grams = np.array([ngram for ngram, _, _ in some], dtype=np.int64)
        contexts = _numbers(grams[:, :-1], levels, len(words)) if n else np.zeros(len(grams), dtype=np.int64)
        if (contexts == MISSING).any():
            lost = some[int(np.argmax(contexts == MISSING))][0]
            known = list(words)
            raise MacroscopeError(
                f"{path}: '{' '.join(known[w] for w in lost)}' without the n-gram that it begins with"
            )
        keys = contexts * len(words) + grams[:, -1]
        order = np.argsort(keys, kind="stable")
        nothing = np.zeros(len(keys), dtype=np.int64)
        levels.append(Level(keys[order], nothing, nothing, grams[order, 0] == 0))
        logs.append(np.array([log for _, log, _ in some])[order])
        backoffs.append(np.array([backoff for _, _, backoff in some])[order])
    return BackoffModel(words, Trie(len(words), 0, levels), logs, backoffs[:-1], _IMPOSSIBLE)


def _numbers(grams: Integers, levels: list[Level], words: int) -> Integers:
    """Numbers of the n-grams that rows of words are."""
    trie = Trie(words, 0, levels)
    numbers = np.zeros(len(grams), dtype=np.int64)
    for column in range(grams.shape[1]):
        numbers = trie.extend(column, numbers, grams[:, column])
    return numbers


def _fields(line: str, where: str) -> tuple[float, list[str], float]:
    parts = line.split("\t")
    try:
        return float(parts[0]), parts[1].split(" "), float(parts[2]) if len(parts) > 2 else _NOTHING
    except (ValueError, IndexError):
        raise MacroscopeError(f"{where}: not 'log10 P <tab> words <tab> back-off'") from None
