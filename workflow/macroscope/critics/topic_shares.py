"""What critics have in common whose documents are shared out among topics: points, and shares, of two collections."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from macroscope.statistics.categorical import DivergenceOptions, compare_categories
from macroscope.statistics.document_sums import MANY, Array
from macroscope.statistics.latent import Resampling
from macroscope.statistics.p_values import benjamini_hochberg
from macroscope.statistics.permutation_groups import Permutation, permutation_of
from macroscope.statistics.ratio import Sample, difference_intervals, ratio_tests
from macroscope.statistics.tidy import UNDEFINED, rows_table

EXCERPT = 400


@dataclass(frozen=True)
class Side:
    """One collection.

    Attributes
    ----------
    keys
        `id` and `opening` of each document.
    shares
        Of the topics: documents x topics; rows add up to 1.
    """

    keys: pd.DataFrame
    shares: Array


def share_divergences(reference: Side, candidate: Side, permutations: int, resampling: Resampling) -> pd.DataFrame:
    """Divergences between the shares that topics have of two collections, each document counting alike.

    Columns `statistics.tidy.ROWS`; see `statistics.categorical`.
    """
    sides = (reference.shares, candidate.shares)
    # Hardly any share is 0: of very many documents a sparse matrix would be half again as large.
    first, second = ([side if sum(map(len, sides)) > MANY else sparse.csr_matrix(side)] for side in sides)
    permutation = permutation_of(reference.keys, candidate.keys)
    rows = compare_categories(first, second, DivergenceOptions(permutations=permutations), resampling, permutation)
    return rows_table(rows, (len(reference.keys), len(candidate.keys)), lambda _: "too few texts")


def share_differences(reference: Side, candidate: Side, words: Sequence[str], resampling: Resampling) -> pd.DataFrame:
    """How much of the documents is about each topic, on either side.

    Parameters
    ----------
    words
        Of each topic, for a reader.

    Returns
    -------
    data frame
        topic, words, reference_share, candidate_share, difference, ci_low, ci_high, p_value, p_adjusted (over the
        topics); the largest difference first.
    """
    permutation = permutation_of(reference.keys, candidate.keys)
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
    """Differences of the means of all columns, their intervals and p-values; NaN where a side has no document."""
    if not (len(reference) and len(candidate)):
        return (np.full(reference.shape[1], UNDEFINED),) * 4
    theirs, ours = (_means_of_columns(side) for side in (reference, candidate))
    rng = np.random.default_rng(resampling.seed)
    found = difference_intervals(theirs, ours, permutation, resampling.confidence, resampling.resamples, rng)
    p_values = ratio_tests(theirs, ours, permutation, resampling.permutations, rng)
    values, lows, highs = np.array(found).T
    return values, lows, highs, np.array(p_values)


def _means_of_columns(shares: Array) -> list[Sample]:
    ones = np.ones(len(shares))
    return [(column, ones) for column in shares.T]


def at_most(size: int, most: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which of so many documents are looked at, at random where there are more than `most`."""
    inside = np.ones(size, dtype=bool)
    if size > most:
        inside[:] = False
        inside[rng.choice(size, most, replace=False)] = True
    return inside
