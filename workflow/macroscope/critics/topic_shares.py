"""Posteriors over topics and their comparison: what the critics `topics` and `languages` have in common."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from macroscope.critics.features import add_score_features
from macroscope.documents import Collection
from macroscope.files import read_json
from macroscope.options import Resampling
from macroscope.phrases import shorten
from macroscope.statistics.categorical import DivergenceOptions, compare_categories
from macroscope.statistics.columns import mean_interval
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_features import MANY, Array, DocumentFeatures, Sample
from macroscope.statistics.p_values import benjamini_hochberg
from macroscope.statistics.permutation_groups import Permutation, build_permutation
from macroscope.statistics.ratio import difference_intervals, ratio_tests
from macroscope.statistics.tidy import UNDEFINED, Estimate, rows_table, shares_table
from macroscope.statistics.vectors import compare_vectors

STATISTICS = (
    Statistic("without_words_share", "share of the system's texts"),
    Statistic("known_words", "mean number of words of the vocabulary in a text of the system"),
)
EXCERPT = 400
WORDS_PER_TOPIC = 3
TOPIC = "topic_"
"""Beginning of the names of topics as features of documents, which end in their numbers."""


@dataclass(frozen=True)
class TopicPosteriors:
    """Posteriors over the topics of a collection's documents; critics add what else they know of each document.

    Attributes
    ----------
    keys
        `id` and `opening` of each document.
    words
        Number of words of the vocabulary in each document.
    mean
        Means of the posteriors (documents x dimensions); NaN without words.
    """

    keys: pd.DataFrame
    words: NDArray[np.int64]
    mean: Array

    def __len__(self) -> int:
        return len(self.keys)

    def subset(self, chosen: NDArray[np.bool_]) -> Self:
        """Return the posteriors of the chosen documents."""
        if chosen.all():
            return self
        return type(self)(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def with_words(self) -> Self:
        """Return the documents with words of the vocabulary; none if there is only one, too few for a comparison."""
        has_words = self.words > 0
        return self.subset(has_words & (has_words.sum() > 1))

    def halves(self) -> tuple[Self, Self]:
        """Return every second document with words, from the first and from the second on."""
        nonempty = self.with_words()
        is_even = np.arange(len(nonempty)) % 2 == 0
        return nonempty.subset(is_even), nonempty.subset(~is_even)

    def features(self, values: Array, latents: Path, scores: Path | None) -> DocumentFeatures:
        """Return `values` of the documents with words (documents x numbers), and the features of their scores."""
        is_finite = np.isfinite(values).all(axis=1)
        names = tuple(f"{TOPIC}{number}" for number in range(values.shape[1]))
        features = DocumentFeatures(self.keys[is_finite].reset_index(drop=True), values[is_finite], names=names)
        return add_score_features(features, latents, scores)


P = TypeVar("P", bound=TopicPosteriors)


def read_vocabulary(inference: Path) -> dict[str, int]:
    """Read the vocabulary of a model: word -> its number."""
    return {word: number for number, word in enumerate(read_json(inference / "vocabulary.json")["words"])}


def label_topics(words: pd.Series) -> list[str]:
    """Return the first words of each topic, as its label."""
    return [" ".join(str(top_words).split()[:WORDS_PER_TOPIC]) for top_words in words]


def read_beginnings(texts: Collection, ids: Mapping[str, Array]) -> dict[str, str]:
    """Read the beginnings of the texts with these ids."""
    return {document.id: shorten(document.text, EXCERPT) for document in texts if document.id in ids}


# ---- comparison ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TopicShares:
    """Shares of topics in the documents of a collection.

    Attributes
    ----------
    keys
        `id` and `opening` of each document.
    shares
        Share of each topic (documents x topics); rows sum to 1.
    """

    keys: pd.DataFrame
    shares: Array


@dataclass(frozen=True)
class Comparison(Generic[P]):
    """Comparison of two collections under one model.

    Attributes
    ----------
    rows
        Statistics, with columns `statistics.tidy.ROWS`.
    sides
        Posteriors of reference and candidate, without texts that have no word of the vocabulary.
    shares
        Shares of topics in the documents of reference and candidate.
    """

    rows: pd.DataFrame
    sides: tuple[P, P]
    shares: tuple[TopicShares, TopicShares]


class ComparisonOptions(Protocol):
    """Options of a comparison; see the options of the critics."""

    @property
    def neighbours(self) -> int: ...
    @property
    def most_vectors(self) -> int: ...
    @property
    def permutations(self) -> int: ...


def describe(texts: TopicPosteriors, resampling: Resampling, further: Mapping[str, int] | None = None) -> pd.DataFrame:
    """Compute the shares of texts without words of the vocabulary and of `further` counts, and words per text."""
    counts = {"without_words_share": int((texts.words == 0).sum()), **(further or {})}
    words = Estimate("known_words", *mean_interval(texts.words.astype(float), resampling))
    shares = shares_table(counts, len(texts), resampling.confidence)
    return pd.concat([shares, rows_table([words], (0, len(texts)), lambda _: "no texts")], ignore_index=True)


def compare_posteriors(
    reference: P,
    candidate: P,
    options: ComparisonOptions,
    resampling: Resampling,
    *,
    vectors: Callable[[Array], Array],
    shares: Callable[[Array], Array],
    further: Callable[[Array, Array, Permutation], list[Estimate]] = lambda *_: [],
) -> Comparison[P]:
    """Compare the means of posteriors as vectors and as shares of topics.

    Parameters
    ----------
    vectors, shares
        Functions from means to the vectors and to the shares that are compared.
    further
        Function from two collections of vectors to further estimates.

    Returns
    -------
    Comparison
        Rows: those of `further`; `mmd_squared`, `energy_distance`, `precision`, `recall` (`statistics.vectors`); the
        divergences of `statistics.categorical` between the shares of topics in all documents, with equal weights. NaN
        if a collection has fewer than two texts with words of the vocabulary.
    """
    sides = reference.with_words(), candidate.with_words()
    rng = np.random.default_rng(resampling.seed)
    chosen = [texts.subset(sample_mask(len(texts), options.most_vectors, rng)) for texts in sides]
    real, generated = (vectors(texts.mean) for texts in chosen)
    permutation = build_permutation(chosen[0].keys, chosen[1].keys)
    estimates = [
        *further(real, generated, permutation),
        *compare_vectors(real, generated, options.neighbours, options.permutations, resampling, permutation),
    ]
    of_reference, of_candidate = (TopicShares(texts.keys, shares(texts.mean)) for texts in sides)
    tables = [
        rows_table(estimates, (len(chosen[0]), len(chosen[1])), lambda _: "too few texts"),
        share_divergences(of_reference, of_candidate, options.permutations, resampling),
    ]
    return Comparison(pd.concat(tables, ignore_index=True), sides, (of_reference, of_candidate))


def share_divergences(
    reference: TopicShares, candidate: TopicShares, permutations: int, resampling: Resampling
) -> pd.DataFrame:
    """Compute divergences between the topic shares of two collections; every document has equal weight.

    Returns
    -------
    data frame
        Columns `statistics.tidy.ROWS`; see `statistics.categorical`.
    """
    sides = (reference.shares, candidate.shares)
    # Hardly any share is 0: for large collections, a sparse matrix would take 1.5 times the memory.
    is_dense = sum(map(len, sides)) > MANY
    of_reference, of_candidate = ([shares if is_dense else sparse.csr_matrix(shares)] for shares in sides)
    permutation = build_permutation(reference.keys, candidate.keys)
    estimates = compare_categories(
        of_reference, of_candidate, DivergenceOptions(permutations=permutations), resampling, permutation
    )
    return rows_table(estimates, (len(reference.keys), len(candidate.keys)), lambda _: "too few texts")


def share_differences(
    reference: TopicShares, candidate: TopicShares, words: Sequence[str], resampling: Resampling
) -> pd.DataFrame:
    """Compare the mean share of each topic in two collections.

    Parameters
    ----------
    words
        Words of each topic, for readers.

    Returns
    -------
    data frame
        topic, words, reference_share, candidate_share, difference, ci_low, ci_high, p_value, p_adjusted (over the
        topics); the largest difference first.
    """
    permutation = build_permutation(reference.keys, candidate.keys)
    differences, lows, highs, p_values = _differences(reference.shares, candidate.shares, permutation, resampling)
    result = pd.DataFrame(
        {
            "topic": range(len(words)),
            "words": list(words),
            "reference_share": _means(reference.shares),
            "candidate_share": _means(candidate.shares),
            "difference": differences,
            "ci_low": lows,
            "ci_high": highs,
            "p_value": p_values,
            "p_adjusted": benjamini_hochberg(p_values),
        }
    )
    return result.sort_values("difference", key=np.abs, ascending=False, kind="stable", ignore_index=True)


def _means(shares: Array) -> Array:
    return shares.mean(axis=0) if len(shares) else np.full(shares.shape[1], UNDEFINED)


def _differences(
    reference: Array, candidate: Array, permutation: Permutation, resampling: Resampling
) -> tuple[Array, Array, Array, Array]:
    """Return differences of the columns' means, their intervals and p-values; NaN if a collection is empty."""
    if not (len(reference) and len(candidate)):
        return (np.full(reference.shape[1], UNDEFINED),) * 4
    reference_means, candidate_means = (_means_of_columns(shares) for shares in (reference, candidate))
    rng = np.random.default_rng(resampling.seed)
    intervals = difference_intervals(
        reference_means, candidate_means, permutation, resampling.confidence, resampling.resamples, rng
    )
    p_values = ratio_tests(reference_means, candidate_means, permutation, resampling.permutations, rng)
    values, lows, highs = np.array(intervals).T
    return values, lows, highs, np.array(p_values)


def _means_of_columns(shares: Array) -> list[Sample]:
    ones = np.ones(len(shares))
    return [(column, ones) for column in shares.T]


def sample_mask(size: int, most: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return a mask (documents) of at most `most` of `size` documents, sampled at random if there are more."""
    is_chosen = np.ones(size, dtype=bool)
    if size > most:
        is_chosen[:] = False
        is_chosen[rng.choice(size, most, replace=False)] = True
    return is_chosen
