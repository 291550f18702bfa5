"""N-grams that documents share with other documents of their collection: copies, and phrases that a system repeats.

With A the set of n-grams of a document, and d the number of documents of both samples that have an n-gram g, two
documents share

    k(i, j) = sum over g in A_i and A_j of 1 / (d_g - 1), over sqrt(|A_i| |A_j|),

which is 1 for two copies of a text without a third. What a document shares with all others adds up to the share of its
n-grams that occur in another document (for equally long documents), as self-repetition counts them (Salkar et al.
2022). The weight divides an n-gram among the documents that have it, so that stock phrases do not outweigh copies.

The mean of k over the pairs of different documents of a sample is a U-statistic: it does not grow with the number of
documents. The difference of the two means is the statistic, times the number of other documents in the smaller sample:
a difference of shares of n-grams. Weights depend on the documents of both samples, not on which sample each is of, so a
permutation test is exact. Paired documents share nothing: n-grams that only they have do not count, and they are in
different samples in every permutation.

Sums of sparse vectors give the means: time and memory grow with the number of words, not with that of pairs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_features import Array, DocumentFeatures
from macroscope.statistics.document_groups import Integers
from macroscope.statistics.joint_test import Comparison, Divisions, permute
from macroscope.statistics.p_values import p_value_from_null
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.tidy import Estimate

NAME = "shared_ngrams_difference"
STATISTICS = (
    Statistic(NAME, null="documents of the system share as many n-grams with each other as real ones do", sized=True),
)
LENGTH = 4
"""Length of the n-grams in words, as in Salkar et al. (2022): longer than most idioms, shorter than a clause."""
_CELLS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class NgramSets:
    """Sets of n-grams of documents.

    Attributes
    ----------
    sets
        Documents x n-grams that at least two documents have: 1 if a document has the n-gram.
    sizes
        Number of different n-grams of each document, with those that no other document has.
    """

    sets: sparse.csr_matrix
    sizes: Integers


def find_ngrams(texts: Sequence[Sequence[str]], length: int = LENGTH) -> NgramSets:
    """Find the n-grams of documents, from their words in order."""
    counts = np.array([len(words) for words in texts], dtype=np.int64)
    codes = pd.factorize(np.array([word for words in texts for word in words], dtype=object))[0].astype(np.int64)
    ends = np.repeat(np.cumsum(counts), counts)
    rows = np.repeat(np.arange(len(texts)), counts)
    starts = np.arange(len(codes))
    numbers = codes
    for step in range(1, length):  # numbers of n-grams from those of their beginnings: exact, without hash collisions
        kept = starts + step < ends[starts]
        starts, numbers = starts[kept], numbers[kept]
        numbers = pd.factorize(numbers * (codes.max(initial=0) + 1) + codes[starts + step])[0].astype(np.int64)
    shape = (len(texts), int(numbers.max(initial=-1)) + 1)
    sets = sparse.csr_matrix((np.ones(len(numbers)), (rows[starts], numbers)), shape=shape)
    sets.data[:] = 1  # `csr_matrix` has added up repetitions within a document
    sizes = np.diff(sets.indptr).astype(np.int64)
    return NgramSets(_keep_columns(sets, _count_rows(sets) > 1), sizes)


def compare_by_shared_ngrams(pool: DocumentFeatures) -> Comparison:
    """Return the difference of both sides, in either direction, as a `statistics.joint_test.CollectionStatistic`.

    The first of the documents' bags has their words, in order.
    """
    differences = compare_signed(find_ngrams(pool.bags[0]))
    return lambda divisions: np.abs(differences(divisions))


def compare_signed(ngrams: NgramSets) -> Comparison:
    """Return the function that computes the candidate's share less the reference's; see the module.

    A share is the mean of k over the pairs of a sample, times the number of other documents in the smaller sample.
    """

    def compare(divisions: Divisions) -> Array:
        vectors = _weigh(ngrams, divisions)
        n_reference = int(divisions.inside[0].sum())
        n_candidate = len(divisions.documents) - n_reference
        if min(n_reference, n_candidate) < 2:
            return np.zeros(len(divisions.inside))
        squares = np.bincount(_rows_of(vectors), vectors.data**2, minlength=vectors.shape[0])
        of_reference = divisions.inside @ squares
        sums = np.concatenate([*_squared_norms(vectors, divisions.inside)], axis=1)
        means = [
            (sums[0] - of_reference) / (n_reference * (n_reference - 1)),
            (sums[1] - (squares.sum() - of_reference)) / (n_candidate * (n_candidate - 1)),
        ]
        return np.asarray((means[1] - means[0]) * (min(n_reference, n_candidate) - 1))

    return compare


def _weigh(ngrams: NgramSets, divisions: Divisions) -> sparse.csr_matrix:
    """Return vectors of the documents whose inner products are k."""
    sets, sizes = ngrams.sets[divisions.documents], ngrams.sizes[divisions.documents]
    holders = _count_rows(_join_paired(sets, divisions.groups))
    shared = _keep_columns(sets, holders > 1)
    # The data of the matrix at once: products with diagonal matrices take longer than all else for few documents.
    shared.data = 1 / np.sqrt((holders[holders > 1] - 1)[shared.indices] * sizes[_rows_of(shared)])
    return shared


def _join_paired(sets: sparse.csr_matrix, groups: Integers) -> sparse.csr_matrix:
    """Return the sets of groups of paired documents, and those of the other documents."""
    if not groups.any():
        return sets
    units = np.unique(np.where(groups > 0, groups, -1 - np.arange(len(groups))), return_inverse=True)[1]
    return (sparse.csr_matrix((np.ones(len(units)), (units, np.arange(len(units))))) @ sets).tocsr()


def _squared_norms(vectors: sparse.csr_matrix, inside: Array) -> Iterator[Array]:
    """Yield the squared norms of the sums of vectors over each side, for batches of divisions: 2 x divisions."""
    transposed, total = vectors.T, np.bincount(vectors.indices, vectors.data, minlength=vectors.shape[1])
    at_once = max(1, _CELLS_AT_ONCE // max(1, vectors.shape[1]))
    for start in range(0, len(inside), at_once):
        sums = transposed @ inside[start : start + at_once].T
        of_first = np.einsum("fd,fd->d", sums, sums)
        yield np.stack([of_first, of_first - 2 * (total @ sums) + total @ total])


def _rows_of(matrix: sparse.csr_matrix) -> Integers:
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def _count_rows(matrix: sparse.csr_matrix) -> Integers:
    return np.bincount(matrix.indices, minlength=matrix.shape[1]).astype(np.int64)


def _keep_columns(matrix: sparse.csr_matrix, kept: NDArray[np.bool_]) -> sparse.csr_matrix:
    """Return some of the columns; faster than indexing by columns."""
    numbers = np.cumsum(kept) - 1
    flags = kept[matrix.indices]
    ends = np.concatenate([[0], np.cumsum(flags)])[matrix.indptr]
    return sparse.csr_matrix((matrix.data[flags], numbers[matrix.indices[flags]], ends), (matrix.shape[0], kept.sum()))


def estimate_shared_ngrams(
    texts: tuple[Sequence[Sequence[str]], Sequence[Sequence[str]]],
    permutation: Permutation,
    permutations: int,
    seed: int,
) -> Estimate:
    """Estimate how much more documents of the candidate share with each other than those of the reference.

    Parameters
    ----------
    texts
        Words of the documents of both samples, in order.
    permutation
        Permutations of documents between the samples.

    Returns
    -------
    Estimate
        The value is the difference of the mean shares of a document's n-grams that are in other documents of its
        sample, if both had as many documents as the smaller one. Each n-gram counts in equal parts for the documents of
        both samples that have it. There is no interval: copies are few pairs of documents, whose number is far from
        normal.
    """
    comparison = compare_signed(find_ngrams([*texts[0], *texts[1]]))
    values = permute([comparison], permutation, permutations, np.random.default_rng(seed))[:, 0]
    p_value = p_value_from_null(float(values[0]), values[1:], permutation.is_exact(permutations))
    return Estimate(NAME, float(values[0]), p_value=p_value)
