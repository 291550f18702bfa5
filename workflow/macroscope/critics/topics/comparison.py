"""Every number of the topics critic besides its scores: a candidate's topic strengths against a reference's."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from macroscope.arrays import mapped
from macroscope.critics.topic_shares import Side, at_most, share_divergences
from macroscope.critics.topics.latents import Array, TopicStrengths
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.options import TopicsOptions
from macroscope.statistics.columns import mean_interval
from macroscope.statistics.covariance import covariance_discrepancy
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.latent import Resampling
from macroscope.statistics.permutation_groups import permutation_of
from macroscope.statistics.tidy import UNDEFINED, rows_table, shares_table
from macroscope.statistics.vectors import compare_vectors

STATISTICS = (
    Statistic("without_words_share", "share of the system's texts"),
    Statistic("not_converged_share", "share of the system's texts"),
    Statistic("known_words", "mean number of words of the vocabulary in a text of the system"),
)


def describe(texts: TopicStrengths, resampling: Resampling) -> pd.DataFrame:
    """Texts without any word of the vocabulary, those whose posterior was not found, and known words a text."""
    known = texts.words > 0
    counts = {
        "without_words_share": int((~known).sum()),
        "not_converged_share": int((known & ~texts.converged).sum()),
    }
    words = ("known_words", *mean_interval(texts.words.astype(float), resampling), UNDEFINED)
    shares = shares_table(counts, len(texts), resampling.confidence)
    return pd.concat([shares, rows_table([words], (0, len(texts)), lambda _: "no text")], ignore_index=True)


_ROWS = 1 << 16
"""Documents of a block."""


@dataclass(frozen=True)
class Comparison:
    """Two sides under one topic model.

    Attributes
    ----------
    rows
        Columns `statistics.tidy.ROWS`.
    sides
        Topic strengths of reference and candidate, without texts that have no word of the vocabulary.
    shares
        Of topics in the documents of either side; see `proportions`.
    """

    rows: pd.DataFrame
    sides: tuple[TopicStrengths, TopicStrengths]
    shares: tuple[Side, Side]


def compare(
    reference: TopicStrengths,
    candidate: TopicStrengths,
    model: CorrelatedTopicModel,
    options: TopicsOptions,
    resampling: Resampling,
) -> Comparison:
    """Compare posterior means of topic strengths, relative to each other, and topic proportions.

    Returns
    -------
    Comparison
        Rows: `covariance_discrepancy` (`statistics.covariance`), `mmd_squared`, `energy_distance`, `precision`,
        `recall` (`statistics.vectors`) of `relative_strengths`; the divergences of `statistics.categorical` between the
        shares that topics have of all documents, each document counting alike. NaN where a side has fewer than two
        texts with words of the vocabulary.
    """
    sides = reference.with_words(), candidate.with_words()
    rng = np.random.default_rng(resampling.seed)
    chosen = [side.some(at_most(len(side), options.most_vectors, rng)) for side in sides]
    theirs, ours = (relative_strengths(side.mean, model) for side in chosen)
    permutation = permutation_of(chosen[0].keys, chosen[1].keys)
    on_vectors = [
        covariance_discrepancy(theirs, ours, options.permutations, resampling, permutation),
        *compare_vectors(theirs, ours, options.neighbours, options.permutations, resampling, permutation),
    ]
    first, second = (Side(side.keys, proportions(side.mean, model)) for side in sides)
    tables = [
        rows_table(on_vectors, (len(chosen[0]), len(chosen[1])), lambda _: "too few texts"),
        share_divergences(first, second, options.permutations, resampling),
    ]
    return Comparison(pd.concat(tables, ignore_index=True), sides, (first, second))


def relative_strengths(means: Array, model: CorrelatedTopicModel) -> Array:
    """How strong each topic is relative to all topics, in the prior's standard deviations of that: documents x topics.

    Only differences of strength matter, and a model says them relative to one topic that has been fixed. Relative to
    the mean of all topics (the centred log-ratio of the proportions) no topic is special.
    """
    size = len(model.topics)
    centring = np.eye(size) - 1 / size
    loadings = centring[:, : model.dimensions]
    deviations = np.sqrt(np.einsum("ia,ab,ib->i", loadings, model.covariance.numpy(), loadings))

    def relative(some: Array) -> Array:
        strengths = model.strengths(torch.tensor(some)).numpy()
        return np.asarray((strengths @ centring - loadings @ model.mean.numpy()) / deviations)

    return _by_blocks(relative, means, size)


def proportions(means: Array, model: CorrelatedTopicModel) -> Array:
    """Share of each topic in a document at the mean of its posterior: documents x topics, rows add up to 1."""

    def shares(some: Array) -> Array:
        return torch.softmax(model.strengths(torch.tensor(some)), dim=1).numpy()

    return _by_blocks(shares, means, len(model.topics))


def _by_blocks(function: Callable[[Array], Array], means: Array, width: int) -> Array:
    """What a function of single documents makes of all of them, in a file where they are many."""
    found = mapped((len(means), width))
    for start in range(0, len(means), _ROWS):
        found[start : start + _ROWS] = function(means[start : start + _ROWS])
    return found
