"""Comparison of two collections by their shares of topics, for the critics `topics` and `languages`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from macroscope.options import Resampling
from macroscope.statistics.categorical import DivergenceOptions, compare_categories
from macroscope.statistics.document_features import MANY, Array, Sample
from macroscope.statistics.p_values import benjamini_hochberg
from macroscope.statistics.permutation_groups import Permutation, build_permutation
from macroscope.statistics.ratio import difference_intervals, ratio_tests
from macroscope.statistics.tidy import UNDEFINED, rows_table

EXCERPT = 400


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
