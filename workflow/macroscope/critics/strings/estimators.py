"""Estimates of the unknown distributions over strings p and q, from texts (pimentel2022 §3.2.2)."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from macroscope.critics.strings.options import StringsOptions
from macroscope.statistics.document_features import Array
from macroscope.systems.ngram.counts import MISSING, Integers, Words, count_ngrams
from macroscope.systems.ngram.model import BEGINNING, END, BackoffModel, estimate, to_backoff_model, words_of

_SMALL_CHARACTERS = 10_000_000
MIN_BACKOFF = -3.0
"""log10 of the backoff weight of contexts whose counts would give 0."""


class Distribution(Protocol):
    """An estimated distribution over texts."""

    def log_probabilities(self, texts: Sequence[str]) -> Array:
        """Return the natural logarithm of the probability of each text, including its end."""


class Estimator(Protocol):
    """An estimator of the distributions of reference and candidate."""

    name: str

    def fit(self, reference: Sequence[str], candidate: Sequence[str], seed: int) -> tuple[Distribution, Distribution]:
        """Estimate both distributions from their texts."""


@dataclass(frozen=True)
class NgramDistribution:
    """A Kneser-Ney model over words.

    Attributes
    ----------
    vocabulary, numbers
        Numbers of words for all estimates -> those of this model; `MISSING` outside its vocabulary.
    fallback_orders
        Orders whose counts do not determine the discounts, as with few texts, and which use fixed ones; and orders with
        a discount of 0, in which contexts that would leave no probability to other words back off with `MIN_BACKOFF`.
    """

    model: BackoffModel
    vocabulary: "Vocabulary"
    numbers: Integers
    fallback_orders: tuple[int, ...]

    @classmethod
    def of(
        cls, model: BackoffModel, vocabulary: "Vocabulary", numbers: Integers, fallback_orders: Sequence[int]
    ) -> "NgramDistribution":
        """Create the distribution, with backoff weights that give every text a probability above 0."""
        closed = [n for n, weights in enumerate(model.backoffs, 2) if np.isneginf(weights).any()]
        backoffs = [np.where(np.isneginf(weights), MIN_BACKOFF, weights) for weights in model.backoffs]
        orders = tuple(sorted({*fallback_orders, *closed}))
        return cls(replace(model, backoffs=backoffs), vocabulary, numbers, orders)

    def log_probabilities(self, texts: Sequence[str]) -> Array:
        """Return log-probabilities; see `Distribution`."""
        words = [self.vocabulary.numbers_of(text) for text in texts]
        new = len(self.vocabulary.words) - len(self.numbers)  # words that were seen only after the estimate
        numbers = np.append(self.numbers, np.full(new, MISSING))
        return np.array([logs.sum() for logs in self.model.number_logs(numbers[each] for each in words)])


class Vocabulary:
    """Numbers of the words of texts, the same for all estimates: cross-fitting reads each text a dozen times.

    Attributes
    ----------
    words
        Words by number; the first two are `BEGINNING` and `END`.
    """

    def __init__(self) -> None:
        self.words = [BEGINNING, END]
        self._numbers = {BEGINNING: 0, END: 1}
        self._texts: dict[str, Words] = {}

    def numbers_of(self, text: str) -> Words:
        """Return the numbers of the words of a text, with the beginning and the end."""
        numbers = self._texts.get(text)
        if numbers is None:
            words = words_of(text)
            for word in words:
                if word not in self._numbers:
                    self._numbers[word] = len(self.words)
                    self.words.append(word)
            numbers = np.array([0, *(self._numbers[word] for word in words), 1], dtype=np.int32)
            self._texts[text] = numbers
        return numbers


class NgramEstimator:
    """Kneser-Ney with three discounts per order: KenLM's model, with its `--vocab_pad` if the vocabulary is shared.

    Counts and probabilities of more than 10 MB of text are in memory-mapped files, in the folder of temporary files
    (TMPDIR).

    Parameters
    ----------
    shared
        Whether reference and candidate share one vocabulary, the words of all their texts. The uniform distribution
        below the unigrams is over it, so all words unseen by one estimate have the same unigram probability there, and
        words unseen by both are the same unknown word to both. Otherwise each estimate has the vocabulary of its own
        texts: the fewer words it has, the more probability it gives to unknown ones.
    """

    def __init__(self, order: int, shared: bool = True) -> None:
        self.order, self.shared = order, shared
        self.name = f"{order}-gram"
        self._vocabulary = Vocabulary()

    def fit(
        self, reference: Sequence[str], candidate: Sequence[str], seed: int
    ) -> tuple[NgramDistribution, NgramDistribution]:
        """Estimate both distributions, deterministically; see `Estimator`."""
        with _folder_for(reference, candidate) as folder:
            sides = [
                _Numbered.of(texts, self._vocabulary, folder and folder / name)
                for texts, name in ((reference, "reference"), (candidate, "other"))
            ]
            size = len(np.union1d(*(numbered.words for numbered in sides))) if self.shared else 0
            of_reference, of_candidate = (self._estimate(numbered, size) for numbered in sides)
            return of_reference, of_candidate

    def _estimate(self, numbered: "_Numbered", size: int) -> NgramDistribution:
        """Estimate one distribution, over a vocabulary of at least `size` words."""
        trie = count_ngrams(numbered.places, self.order, max(len(numbered.words), size), 0, numbered.folder)
        model = estimate(trie, "kneser_ney", unknown=True, folder=numbered.folder)
        words = [self._vocabulary.words[number] for number in numbered.words]
        with np.errstate(divide="ignore"):  # a context may leave nothing
            in_backoff_form = to_backoff_model(model, words)
        return NgramDistribution.of(in_backoff_form, self._vocabulary, numbered.numbers, model.fallback_orders)


@dataclass(frozen=True)
class _Numbered:
    """Texts as numbers of their words, in the order in which these first occur.

    Attributes
    ----------
    places
        Numbers of the words of all texts; see `counts.read_words`.
    words, numbers
        Numbers in the vocabulary of all estimates, by number here, and the reverse; `MISSING` if a word does not occur.
    folder
        Folder for counts; None: in memory.
    """

    places: Words
    words: Integers
    numbers: Integers
    folder: Path | None

    @classmethod
    def of(cls, texts: Sequence[str], vocabulary: Vocabulary, folder: Path | None) -> "_Numbered":
        """Number the words of texts."""
        stream = np.concatenate([vocabulary.numbers_of(text) for text in texts] or [np.empty(0, dtype=np.int32)])
        first = np.full(len(vocabulary.words), len(stream))
        first[stream[::-1]] = np.arange(len(stream))[::-1]  # of equal indices, the last is assigned
        first[:2] = -2, -1  # beginning and end, even without texts
        words = np.argsort(first)[: np.count_nonzero(first < len(stream))]
        numbers = np.full(len(first), MISSING, dtype=np.int64)
        numbers[words] = np.arange(len(words))
        if folder is not None:
            folder.mkdir()
        return cls(numbers[stream].astype(np.int32), words, numbers, folder)


@contextmanager
def _folder_for(*collections: Sequence[str]) -> Iterator[Path | None]:
    """Yield a temporary folder for the memory-mapped files of large texts; None for small ones."""
    if sum(len(text) for texts in collections for text in texts) <= _SMALL_CHARACTERS:
        yield None
    else:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)


def make_estimator(options: StringsOptions, texts: Sequence[str], folder: Path, fits: Sequence[Path] = ()) -> Estimator:
    """Create the estimator that the options specify.

    Parameters
    ----------
    texts
        Texts of the reference, on which the tokenizer of both sides is trained.
    folder
        Folder in which an interrupted estimator leaves what it has learned.
    fits
        Folders with finished trainings, of stage `fit`.
    """
    if options.estimator == "ngram":
        return NgramEstimator(options.order, options.shared_vocabulary and options.convention == "definition")
    from macroscope.critics.strings.lstm import LstmEstimator

    return LstmEstimator(options.lstm, texts, folder, fits)
