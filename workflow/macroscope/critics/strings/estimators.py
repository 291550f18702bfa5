"""Estimates of the unknown distributions over strings p and q, from texts (pimentel2022 §3.2.2)."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Protocol

import numpy as np

from macroscope.critics.strings.options import StringsOptions
from macroscope.statistics.document_sums import Array
from macroscope.systems.ngram.backoff import BackoffModel, to_backoff_model, words_of, write_word_numbers
from macroscope.systems.ngram.counts import Words, count_ngrams, read_words
from macroscope.systems.ngram.model import estimate

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
    fallback_orders
        Orders whose counts do not determine the discounts, as with few texts, and which use fixed ones; and orders with
        a discount of 0, in which contexts that would leave no probability to other words back off with `MIN_BACKOFF`.
    """

    model: BackoffModel
    fallback_orders: tuple[int, ...]

    @classmethod
    def of(cls, model: BackoffModel, fallback_orders: Sequence[int]) -> "NgramDistribution":
        """Create the distribution, with backoff weights that give every text a probability above 0."""
        closed = [n for n, weights in enumerate(model.backoffs, 2) if np.isneginf(weights).any()]
        backoffs = [np.where(np.isneginf(weights), MIN_BACKOFF, weights) for weights in model.backoffs]
        return cls(replace(model, backoffs=backoffs), tuple(sorted({*fallback_orders, *closed})))

    def log_probabilities(self, texts: Sequence[str]) -> Array:
        """Return log-probabilities; see `Distribution`."""
        return self.model.score(map(words_of, texts))


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

    def fit(
        self, reference: Sequence[str], candidate: Sequence[str], seed: int
    ) -> tuple[NgramDistribution, NgramDistribution]:
        """Estimate both distributions, deterministically; see `Estimator`."""
        with _folder_for(reference, candidate) as folder:
            sides = [
                _number_words(numbered, folder, name)
                for numbered, name in ((reference, "reference"), (candidate, "other"))
            ]
            size = len({word for numbered in sides for word in numbered.words}) if self.shared else 0
            first, second = (self._estimate(numbered, size) for numbered in sides)
            return first, second

    def _estimate(self, numbered: "_Numbered", size: int) -> NgramDistribution:
        """Estimate one distribution, over a vocabulary of at least `size` words."""
        trie = count_ngrams(numbered.places, self.order, max(len(numbered.words), size), 0, numbered.folder)
        model = estimate(trie, "kneser_ney", unknown=True, folder=numbered.folder)
        with np.errstate(divide="ignore"):  # a context may leave nothing
            return NgramDistribution.of(to_backoff_model(model, numbered.words), model.fallback_orders)


@dataclass(frozen=True)
class _Numbered:
    """Texts as numbers of their words, the words by number, and the folder for counts."""

    places: Words
    words: list[str]
    folder: Path | None


@contextmanager
def _folder_for(*collections: Sequence[str]) -> Iterator[Path | None]:
    """Yield a temporary folder for the memory-mapped files of large texts; None for small ones."""
    if sum(len(text) for texts in collections for text in texts) <= _SMALL_CHARACTERS:
        yield None
    else:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)


def _number_words(texts: Sequence[str], folder: Path | None, name: str) -> _Numbered:
    if folder is None:
        memory = BytesIO()
        words = write_word_numbers(map(words_of, texts), memory)
        return _Numbered(read_words(memory), words, None)
    side_folder = folder / name
    side_folder.mkdir()
    with (side_folder / "stream").open("wb") as file:
        words = write_word_numbers(map(words_of, texts), file)
    return _Numbered(read_words(side_folder / "stream"), words, side_folder)


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
