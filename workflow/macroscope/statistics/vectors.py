"""Two-sample statistics of vectors (embeddings): maximum mean discrepancy, energy distance, precision and recall.

All are functions of the matrix of distances between all vectors of both sides, which is computed once; exchanging
vectors between the sides only changes which of its rows and columns belong to which side.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import ndtri

from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_sums import Array
from macroscope.statistics.latent import Resampling
from macroscope.statistics.p_values import p_value_of
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.proportions import wilson_interval
from macroscope.statistics.tidy import UNDEFINED, Row

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
) -> list[Row]:
    """Every two-sample statistic of this module.

    `mmd_squared`: squared maximum mean discrepancy with a Gaussian kernel whose width is the median distance between
    all vectors (Gretton et al. 2012), unbiased, so that it is about 0, and may be below, where nothing differs.
    `energy_distance`: 2 E|X - Y| - E|X - X'| - E|Y - Y'| (Székely and Rizzo 2013), unbiased likewise. `precision`:
    share of the candidate's vectors within reach of the reference, that is no further from some vector of it than
    that one's k-th neighbour on its own side; `recall`: with the sides exchanged (Kynkäänniemi et al. 2019).

    Parameters
    ----------
    reference, candidate
        Vectors x dimensions.
    neighbours
        k of precision and recall.
    exchange
        Of documents of the reference and the candidate, where some have partners.

    Returns
    -------
    rows
        Intervals: jackknife for the first two, Wilson for the shares, given the other side's vectors. p-values by
        exchanging vectors: of a large distance, and of a small precision or recall. NaN with fewer than two vectors on
        a side, of precision and recall with no more than k.
    """
    n, m = len(reference), len(candidate)
    if min(n, m) < 2:
        return [(name, UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED) for name in NAMES]
    distances = cdist(*[np.concatenate([reference, candidate])] * 2)
    rng = np.random.default_rng(resampling.seed)
    permutation = permutation or Permutation((n, m))
    memberships = list(permutation.memberships(permutations, rng, _AT_ONCE))
    exact = permutation.is_exact(permutations)
    found = [
        _discrepancy(name, matrix, n, memberships, exact, resampling.confidence)
        for name, matrix in (("mmd_squared", gaussian_kernel(distances)), ("energy_distance", -distances))
    ]
    return found + _coverage(distances, n, neighbours, memberships, exact, resampling.confidence)


def gaussian_kernel(distances: Array) -> Array:
    """exp(-d^2 / (2 w^2)), w the median of the distances between different vectors; 1 everywhere if that is 0."""
    width = np.median(distances[np.triu_indices(len(distances), 1)])
    return np.exp(-(distances**2) / (2 * width**2)) if width > 0 else np.ones_like(distances)


def mean_discrepancy(matrix: Array, inside: Array) -> Array:
    """E k(X, X') + E k(Y, Y') - 2 E k(X, Y) over different vectors: unbiased, for each row of memberships.

    Parameters
    ----------
    matrix
        Kernel between all vectors.
    inside
        draws x vectors: 1 where a vector is on the first side.
    """
    diagonal = np.diag(matrix)
    n = inside.sum(axis=1)
    m = inside.shape[1] - n
    product = inside @ matrix
    first = (product * inside).sum(axis=1)
    across = product.sum(axis=1) - first
    second = matrix.sum() - first - 2 * across
    own = inside @ diagonal
    return (first - own) / (n * (n - 1)) + (second - (diagonal.sum() - own)) / (m * (m - 1)) - 2 * across / (n * m)


def _discrepancy(name: str, matrix: Array, n: int, memberships: list[Array], exact: bool, confidence: float) -> Row:
    inside = np.zeros((1, len(matrix)))
    inside[0, :n] = 1
    value = float(mean_discrepancy(matrix, inside)[0])
    null = np.concatenate([mean_discrepancy(matrix, rows) for rows in memberships])
    reached = np.count_nonzero(null >= value - 1e-12)
    p = reached / len(null) if exact else (reached + 1) / (len(null) + 1)
    half = float(ndtri((1 + confidence) / 2)) * _jackknife_error(matrix, n)
    return name, value, value - half, value + half, float(p)


def _jackknife_error(matrix: Array, n: int) -> float:
    """Standard error from leaving out each vector once, from row sums alone."""
    m = len(matrix) - n
    if min(n, m) < 3:
        return UNDEFINED
    diagonal = np.diag(matrix)
    to_first, to_second = matrix[:, :n].sum(axis=1), matrix[:, n:].sum(axis=1)
    within_first = (to_first[:n] - diagonal[:n]).sum()
    within_second = (to_second[n:] - diagonal[n:]).sum()
    across = to_second[:n].sum()
    variance = 0.0
    for own, other, size, others, within, within_other in (
        (to_first[:n] - diagonal[:n], to_second[:n], n, m, within_first, within_second),
        (to_second[n:] - diagonal[n:], to_first[n:], m, n, within_second, within_first),
    ):
        left_out = (
            (within - 2 * own) / ((size - 1) * (size - 2))
            + within_other / (others * (others - 1))
            - 2 * (across - other) / ((size - 1) * others)
        )
        variance += (size - 1) / size * ((left_out - left_out.mean()) ** 2).sum()
    return float(np.sqrt(variance))


def _coverage(distances: Array, n: int, k: int, memberships: list[Array], exact: bool, confidence: float) -> list[Row]:
    total = len(distances)
    if min(n, total - n) <= k:
        return [(name, UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED) for name in NAMES[2:]]
    order = np.argsort(distances, axis=1, kind="stable").astype(np.int32)
    found = []
    for name, is_first in zip(NAMES[2:], (True, False), strict=True):
        side = (np.arange(total) < n) == is_first
        hits, others = covered(distances, order, side, k), int((~side).sum())
        drawn = ((row > 0) == is_first for rows in memberships for row in rows)
        null = np.array([covered(distances, order, some, k) / others for some in drawn])
        low, high = wilson_interval(hits, others, confidence)
        p = p_value_of(1 - hits / others, 1 - null, exact)
        found.append((name, hits / others, float(low), float(high), p))
    return found


@njit(cache=True)
def covered(
    distances: Array, order: NDArray[np.int32], side: NDArray[np.bool_], k: int
) -> int:  # pragma: no cover - compiled
    """How many vectors of the other side are within reach of some vector of this side.

    Parameters
    ----------
    distances
        Between all vectors.
    order
        Vectors by their distance to each vector, the nearest first.
    side
        Which vectors are of this side.
    """
    total = len(side)
    reached = np.zeros(total, np.bool_)
    for i in range(total):
        if not side[i]:
            continue
        seen, radius = 0, np.inf
        for j in order[i]:
            if distances[i, j] > radius:
                break
            if side[j]:
                seen += j != i
                if seen == k and radius == np.inf:
                    radius = distances[i, j]
            else:
                reached[j] = True
    return reached.sum()
