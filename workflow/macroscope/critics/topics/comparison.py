"""Statistics of the critic `topics`, except those of its scores: comparison of topic strengths."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from macroscope.arrays import mapped
from macroscope.critics.topic_shares import TopicShares, sample_mask, share_divergences
from macroscope.critics.topics.latents import Array, TopicStrengths
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.options import TopicsOptions
from macroscope.resampling import Resampling
from macroscope.statistics.columns import mean_interval
from macroscope.statistics.covariance import covariance_discrepancy
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.permutation_groups import build_permutation
from macroscope.statistics.tidy import Estimate, rows_table, shares_table
from macroscope.statistics.vectors import compare_vectors

STATISTICS = (
    Statistic("without_words_share", "share of the system's texts"),
    Statistic("not_converged_share", "share of the system's texts"),
    Statistic("known_words", "mean number of words of the vocabulary in a text of the system"),
)


def describe(texts: TopicStrengths, resampling: Resampling) -> pd.DataFrame:
    """Compute the shares of texts without words of the vocabulary and of unconverged texts, and words per text."""
    has_words = texts.words > 0
    counts = {
        "without_words_share": int((~has_words).sum()),
        "not_converged_share": int((has_words & ~texts.converged).sum()),
    }
    words = Estimate("known_words", *mean_interval(texts.words.astype(float), resampling))
    shares = shares_table(counts, len(texts), resampling.confidence)
    return pd.concat([shares, rows_table([words], (0, len(texts)), lambda _: "no text")], ignore_index=True)


_ROWS = 1 << 16
"""Number of documents per block."""


@dataclass(frozen=True)
class Comparison:
    """Comparison of two collections under one topic model.

    Attributes
    ----------
    rows
        Statistics, with columns `statistics.tidy.ROWS`.
    sides
        Topic strengths of reference and candidate, without texts that have no word of the vocabulary.
    shares
        Shares of topics in the documents of reference and candidate; see `compute_proportions`.
    """

    rows: pd.DataFrame
    sides: tuple[TopicStrengths, TopicStrengths]
    shares: tuple[TopicShares, TopicShares]


def compare(
    reference: TopicStrengths,
    candidate: TopicStrengths,
    model: CorrelatedTopicModel,
    options: TopicsOptions,
    resampling: Resampling,
) -> Comparison:
    """Compare posterior means of relative topic strengths, and topic proportions.

    Returns
    -------
    Comparison
        Rows: `covariance_discrepancy` (`statistics.covariance`), `mmd_squared`, `energy_distance`, `precision`,
        `recall` (`statistics.vectors`) of `compute_relative_strengths`; the divergences of `statistics.categorical`
        between the shares of topics in all documents, with equal weights. NaN if a collection has fewer than two texts
        with words of the vocabulary.
    """
    sides = reference.with_words(), candidate.with_words()
    rng = np.random.default_rng(resampling.seed)
    chosen = [strengths.subset(sample_mask(len(strengths), options.most_vectors, rng)) for strengths in sides]
    real, generated = (compute_relative_strengths(strengths.mean, model) for strengths in chosen)
    permutation = build_permutation(chosen[0].keys, chosen[1].keys)
    of_vectors = [
        covariance_discrepancy(real, generated, options.permutations, resampling, permutation),
        *compare_vectors(real, generated, options.neighbours, options.permutations, resampling, permutation),
    ]
    first, second = (TopicShares(strengths.keys, compute_proportions(strengths.mean, model)) for strengths in sides)
    tables = [
        rows_table(of_vectors, (len(chosen[0]), len(chosen[1])), lambda _: "too few texts"),
        share_divergences(first, second, options.permutations, resampling),
    ]
    return Comparison(pd.concat(tables, ignore_index=True), sides, (first, second))


def compute_relative_strengths(means: Array, model: CorrelatedTopicModel) -> Array:
    """Compute the strength of each topic relative to the mean of all topics, in the prior's standard deviations.

    Only differences of strengths matter, and a pinned model gives them relative to the fixed topic. Relative to the
    mean of all topics (the centred log-ratio of the proportions), no topic is special.

    Returns
    -------
    array
        Documents x topics.
    """
    size = len(model.topics)
    centring = np.eye(size) - 1 / size
    loadings = centring[:, : model.dimensions]
    deviations = np.sqrt(np.einsum("ia,ab,ib->i", loadings, model.covariance.numpy(), loadings))

    def relative(block: Array) -> Array:
        strengths = model.strengths(torch.tensor(block)).numpy()
        return np.asarray((strengths @ centring - loadings @ model.mean.numpy()) / deviations)

    return _apply_by_blocks(relative, means, size)


def compute_proportions(means: Array, model: CorrelatedTopicModel) -> Array:
    """Compute each document's topic proportions at its posterior mean (documents x topics); rows sum to 1."""

    def shares(block: Array) -> Array:
        return torch.softmax(model.strengths(torch.tensor(block)), dim=1).numpy()

    return _apply_by_blocks(shares, means, len(model.topics))


def _apply_by_blocks(function: Callable[[Array], Array], means: Array, width: int) -> Array:
    """Apply a function of single documents block by block; large results are memory-mapped (`macroscope.arrays`)."""
    result = mapped((len(means), width))
    for start in range(0, len(means), _ROWS):
        result[start : start + _ROWS] = function(means[start : start + _ROWS])
    return result
