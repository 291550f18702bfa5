"""Distributions over strings, estimated from texts: what stands in for p and q, which nobody knows (§3.2.2)."""

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
from macroscope.systems.ngram.backoff import BackoffModel, backoff_model, words_of, write_numbered
from macroscope.systems.ngram.counts import Words, count_ngrams, read_words
from macroscope.systems.ngram.model import estimate

_SMALL_CHARACTERS = 10_000_000
LEAST_LEFT = -3.0
"""log10 of what a context leaves to words that never followed it, where its counts say nothing."""


class Distribution(Protocol):
    """An estimated distribution over texts."""

    def log_probabilities(self, texts: Sequence[str]) -> Array:
        """Natural logarithm of the probability of each text, with its end."""


class Estimator(Protocol):
    """Estimates the distributions of two sides."""

    name: str

    def fit(self, reference: Sequence[str], candidate: Sequence[str], seed: int) -> tuple[Distribution, Distribution]:
        """Estimate from texts of either side."""


@dataclass(frozen=True)
class NgramDistribution:
    """A Kneser-Ney model over words.

    Attributes
    ----------
    fallback_orders
        Orders whose counts give no discounts, as those of few texts do: they have fixed ones; and orders of which a
        discount is 0, so that some contexts would leave nothing to other words: they leave `LEAST_LEFT`.
    """

    model: BackoffModel
    fallback_orders: tuple[int, ...]

    @classmethod
    def of(cls, model: BackoffModel, fallback_orders: Sequence[int]) -> "NgramDistribution":
        """Give every text a probability above 0."""
        closed = [n for n, some in enumerate(model.backoffs, 2) if np.isneginf(some).any()]
        backoffs = [np.where(np.isneginf(some), LEAST_LEFT, some) for some in model.backoffs]
        return cls(replace(model, backoffs=backoffs), tuple(sorted({*fallback_orders, *closed})))

    def log_probabilities(self, texts: Sequence[str]) -> Array:
        """See `Distribution`."""
        return self.model.score(map(words_of, texts))


class NgramEstimator:
    """Kneser-Ney with three discounts an order: KenLM's model, with its `--vocab_pad` where the vocabulary is shared.

    Counts and probabilities of more than 10 MB of text stand in files that are mapped into memory, in the folder of
    temporary files (TMPDIR).

    Parameters
    ----------
    shared
        Whether both sides have one vocabulary: the words of either side's texts. The uniform distribution beneath the
        unigrams is over it, so that a word that one side alone has costs the other as much as any word that it has not
        seen, and a word that neither has is the same unknown word to both. Otherwise each side's is over its own
        words: the fewer words a side has, the likelier it finds those that it does not know.
    """

    def __init__(self, order: int, shared: bool = True) -> None:
        self.order, self.shared = order, shared
        self.name = f"{order}-gram"

    def fit(
        self, reference: Sequence[str], candidate: Sequence[str], seed: int
    ) -> tuple[NgramDistribution, NgramDistribution]:
        """See `Estimator`; nothing is random."""
        with _folder_for(reference, candidate) as folder:
            sides = [_numbered(side, folder, name) for side, name in ((reference, "reference"), (candidate, "other"))]
            size = len({word for side in sides for word in side.words}) if self.shared else 0
            first, second = (self._estimate(side, size) for side in sides)
            return first, second

    def _estimate(self, side: "_Numbered", size: int) -> NgramDistribution:
        """Estimate from a side's texts, over at least so many different words."""
        trie = count_ngrams(side.places, self.order, max(len(side.words), size), 0, side.folder)
        model = estimate(trie, "kneser_ney", unknown=True, folder=side.folder)
        with np.errstate(divide="ignore"):  # a context may leave nothing
            return NgramDistribution.of(backoff_model(model, side.words), model.fallback_orders)


@dataclass(frozen=True)
class _Numbered:
    """Texts of a side as numbers of their words, the words by number, and where its counts are kept."""

    places: Words
    words: list[str]
    folder: Path | None


@contextmanager
def _folder_for(*sides: Sequence[str]) -> Iterator[Path | None]:
    """A folder for what is mapped of large texts, which stays while something maps it; None for small ones."""
    if sum(len(text) for side in sides for text in side) <= _SMALL_CHARACTERS:
        yield None
    else:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)


def _numbered(texts: Sequence[str], folder: Path | None, name: str) -> _Numbered:
    if folder is None:
        memory = BytesIO()
        words = write_numbered(map(words_of, texts), memory)
        return _Numbered(read_words(memory), words, None)
    own = folder / name
    own.mkdir()
    with (own / "stream").open("wb") as file:
        words = write_numbered(map(words_of, texts), file)
    return _Numbered(read_words(own / "stream"), words, own)


def estimator(options: StringsOptions, texts: Sequence[str]) -> Estimator:
    """Return the estimator that is asked for.

    Parameters
    ----------
    texts
        Of both sides: what a tokenizer that both share is made from.
    """
    if options.estimator == "ngram":
        return NgramEstimator(options.order, options.shared_vocabulary and options.convention == "definition")
    from macroscope.critics.strings.lstm import LstmEstimator

    return LstmEstimator(options.lstm, texts)
