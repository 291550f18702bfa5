"""Two-sample statistics of vectors (embeddings): maximum mean discrepancy, energy distance, precision and recall.

All are functions of the matrix of distances between all vectors of both samples, which is computed once; a permutation
of vectors only changes which rows and columns belong to which sample.
"""

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import ndtri

from macroscope.resampling import Resampling
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_groups import Integers
from macroscope.statistics.document_sums import Array
from macroscope.statistics.p_values import p_value_from_null
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.proportions import wilson_interval
from macroscope.statistics.test_based_intervals import agree_with_test
from macroscope.statistics.tidy import UNDEFINED, Estimate

NAMES = ("mmd_squared", "energy_distance", "precision", "recall")
_NULL = "the same distribution of vectors on both sides"
STATISTICS = (
    Statistic("mmd_squared", "squared maximum mean discrepancy of the two populations", _NULL),
    Statistic("energy_distance", "energy distance of the two populations", _NULL),
    Statistic("precision", "share of the system's population within reach of these vectors of real text", _NULL),
    Statistic(
        "recall", "share of real text's population within reach of these vectors of the system", _NULL, sized=True
    ),
)
_AT_ONCE = 128


def compare_vectors(
    reference: Array,
    candidate: Array,
    neighbours: int,
    permutations: int,
    resampling: Resampling,
    permutation: Permutation | None = None,
) -> list[Estimate]:
    """Compute every two-sample statistic of this module.

    `mmd_squared` is the squared maximum mean discrepancy with a Gaussian kernel whose width is the median distance
    between all vectors (Gretton et al. 2012). It is unbiased, so it is about 0 if nothing differs, and may be negative.
    `energy_distance` is 2 E|X - Y| - E|X - X'| - E|Y - Y'| (Székely and Rizzo 2013), unbiased as well. `precision` is
    the share of the candidate's vectors within reach of the reference: no further from some vector of it than that
    vector's k-th neighbour in its own sample. `recall` is the same with the samples swapped (Kynkäänniemi et al. 2019).

    Parameters
    ----------
    reference, candidate
        Vectors x dimensions.
    neighbours
        k of precision and recall.
    permutations
        Number of permutations of the p-values.
    resampling
        Level and seed.
    permutation
        Permutations of documents between the samples. Default: no document is paired.

    Returns
    -------
    list of estimates
        Intervals: jackknife for the first two, Wilson for the shares, given the other sample's vectors. P-values by
        permutation of vectors: of a large distance, and of a small precision or recall. NaN with fewer than two vectors
        in a sample; for precision and recall, with at most k.
    """
    n, m = len(reference), len(candidate)
    if min(n, m) < 2:
        return [Estimate(name, UNDEFINED) for name in NAMES]
    distances = cdist(*[np.concatenate([reference, candidate])] * 2)
    rng = np.random.default_rng(resampling.seed)
    permutation = permutation or Permutation((n, m))
    memberships = list(permutation.memberships(permutations, rng, _AT_ONCE))
    exact = permutation.is_exact(permutations)
    estimates = [
        _discrepancy(name, matrix, n, memberships, exact, resampling.confidence)
        for name, matrix in (("mmd_squared", gaussian_kernel(distances)), ("energy_distance", -distances))
    ]
    return estimates + _coverage(distances, n, neighbours, memberships, exact, resampling.confidence)


def compare_by_energy(vectors: Array) -> Callable[[Integers, Array], Array]:
    """Return the energy distance as a `statistics.power.CollectionStatistic` of these vectors."""
    return _compare_by(-cdist(vectors, vectors))


def compare_by_kernel(vectors: Array) -> Callable[[Integers, Array], Array]:
    """Return the squared maximum mean discrepancy as a `statistics.power.CollectionStatistic` of these vectors."""
    return _compare_by(gaussian_kernel(cdist(vectors, vectors)))


def _compare_by(matrix: Array) -> Callable[[Integers, Array], Array]:
    return lambda numbers, inside: mean_discrepancy(matrix[np.ix_(numbers, numbers)], inside)


def gaussian_kernel(distances: Array) -> Array:
    """Return exp(-d^2 / (2 w^2)), w the median of the distances between different vectors; 1 everywhere if w is 0."""
    width = np.median(distances[np.triu_indices(len(distances), 1)])
    return np.exp(-(distances**2) / (2 * width**2)) if width > 0 else np.ones_like(distances)


def mean_discrepancy(matrix: Array, inside: Array) -> Array:
    """Compute E k(X, X') + E k(Y, Y') - 2 E k(X, Y) over different vectors: unbiased, for each row of memberships.

    Parameters
    ----------
    matrix
        Kernel between all vectors.
    inside
        draws x vectors: 1 for vectors of the first sample.
    """
    diagonal = np.diag(matrix)
    n = inside.sum(axis=1)
    m = inside.shape[1] - n
    product = inside @ matrix
    first = (product * inside).sum(axis=1)
    across = product.sum(axis=1) - first
    second = matrix.sum() - first - 2 * across
    own_diagonal = inside @ diagonal
    return (
        (first - own_diagonal) / (n * (n - 1))
        + (second - (diagonal.sum() - own_diagonal)) / (m * (m - 1))
        - 2 * across / (n * m)
    )


def _discrepancy(
    name: str, matrix: Array, n: int, memberships: list[Array], exact: bool, confidence: float
) -> Estimate:
    inside = np.zeros((1, len(matrix)))
    inside[0, :n] = 1
    value = float(mean_discrepancy(matrix, inside)[0])
    null = np.concatenate([mean_discrepancy(matrix, rows) for rows in memberships])
    reached = np.count_nonzero(null >= value - 1e-12)
    p = reached / len(null) if exact else (reached + 1) / (len(null) + 1)
    half = float(ndtri((1 + confidence) / 2)) * _jackknife_error(matrix, n)
    return agree_with_test(Estimate(name, value, value - half, value + half, float(p)), confidence)


def _jackknife_error(matrix: Array, n: int) -> float:
    """Compute the standard error by leaving out each vector once, from row sums alone."""
    m = len(matrix) - n
    if min(n, m) < 3:
        return UNDEFINED
    diagonal = np.diag(matrix)
    to_first, to_second = matrix[:, :n].sum(axis=1), matrix[:, n:].sum(axis=1)
    within_first = (to_first[:n] - diagonal[:n]).sum()
    within_second = (to_second[n:] - diagonal[n:]).sum()
    across = to_second[:n].sum()
    variance = 0.0
    for to_own, to_other, size, other_size, within, within_other in (
        (to_first[:n] - diagonal[:n], to_second[:n], n, m, within_first, within_second),
        (to_second[n:] - diagonal[n:], to_first[n:], m, n, within_second, within_first),
    ):
        left_out = (
            (within - 2 * to_own) / ((size - 1) * (size - 2))
            + within_other / (other_size * (other_size - 1))
            - 2 * (across - to_other) / ((size - 1) * other_size)
        )
        variance += (size - 1) / size * ((left_out - left_out.mean()) ** 2).sum()
    return float(np.sqrt(variance))


def _coverage(
    distances: Array, n: int, k: int, memberships: list[Array], exact: bool, confidence: float
) -> list[Estimate]:
    total = len(distances)
    if min(n, total - n) <= k:
        return [Estimate(name, UNDEFINED) for name in NAMES[2:]]
    order = np.argsort(distances, axis=1, kind="stable").astype(np.int32)
    estimates = []
    for name, is_first in zip(NAMES[2:], (True, False), strict=True):
        in_sample = (np.arange(total) < n) == is_first
        hits, other_size = count_covered(distances, order, in_sample, k), int((~in_sample).sum())
        permutations = ((row > 0) == is_first for batch in memberships for row in batch)
        null = np.array([count_covered(distances, order, permuted, k) / other_size for permuted in permutations])
        low, high = wilson_interval(hits, other_size, confidence)
        p = p_value_from_null(1 - hits / other_size, 1 - null, exact)
        estimates.append(Estimate(name, hits / other_size, float(low), float(high), p))
    return estimates


@njit(cache=True)
def count_covered(
    distances: Array, order: NDArray[np.int32], in_sample: NDArray[np.bool_], k: int
) -> int:  # pragma: no cover - compiled
    """Count the vectors of the other sample within reach of some vector of this sample.

    Parameters
    ----------
    distances
        Distances between all vectors.
    order
        Vectors by their distance to each vector, the nearest first.
    in_sample
        Mask of the vectors of this sample.
    k
        Number of the neighbour in the own sample whose distance is the reach.
    """
    total = len(in_sample)
    reached = np.zeros(total, np.bool_)
    for i in range(total):
        if not in_sample[i]:
            continue
        seen, radius = 0, np.inf
        for j in order[i]:
            if distances[i, j] > radius:
                break
            if in_sample[j]:
                seen += j != i
                if seen == k and radius == np.inf:
                    radius = distances[i, j]
            else:
                reached[j] = True
    return reached.sum()
