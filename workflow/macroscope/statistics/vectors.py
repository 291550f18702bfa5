"""Two-sample statistics of vectors (embeddings): maximum mean discrepancy, energy distance, precision and recall.

All are functions of the matrix of distances between all vectors of both samples, which is computed once; a permutation
of vectors only changes which rows and columns belong to which sample.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import ndtri

from macroscope.options import Resampling
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_features import Array, DocumentFeatures
from macroscope.statistics.document_groups import Integers
from macroscope.statistics.joint_test import Comparison
from macroscope.statistics.p_values import agree_with_test, p_value_from_null
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.proportions import share_interval
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
        in a sample; for precision and recall, with fewer than k of other units than a vector's. Vectors of one unit,
        such as a pair's, are not compared: all values are those of independent samples of the two populations.
    """
    n, m = len(reference), len(candidate)
    if min(n, m) < 2:
        return [Estimate(name, UNDEFINED) for name in NAMES]
    distances = cdist(*[np.concatenate([reference, candidate])] * 2)
    rng = np.random.default_rng(resampling.seed)
    permutation = permutation or Permutation((n, m))
    units = permutation.unit_labels
    memberships = list(permutation.memberships(permutations, rng, _AT_ONCE))
    exact = permutation.is_exact(permutations)
    estimates = [
        _discrepancy(name, matrix, n, units, memberships, exact, resampling.confidence)
        for name, matrix in (("mmd_squared", gaussian_kernel(distances)), ("energy_distance", -distances))
    ]
    return estimates + _coverage(distances, n, neighbours, units, memberships, exact, resampling.confidence)


def compare_by_energy(pool: DocumentFeatures) -> Comparison:
    """Return the energy distance between the numbers of documents, a `statistics.joint_test.CollectionStatistic`."""
    return _compare_by(-cdist(pool.numbers, pool.numbers))


def compare_by_kernel(pool: DocumentFeatures) -> Comparison:
    """Return the squared maximum mean discrepancy of the numbers of documents, a `CollectionStatistic`."""
    return _compare_by(gaussian_kernel(cdist(pool.numbers, pool.numbers)))


def _compare_by(matrix: Array) -> Comparison:
    matrix = leave_out_units(matrix, np.arange(len(matrix)))
    return lambda divisions: mean_discrepancy(
        matrix[np.ix_(divisions.documents, divisions.documents)], divisions.inside
    )


def gaussian_kernel(distances: Array) -> Array:
    """Return exp(-d^2 / (2 w^2)), w the median of the distances between different vectors; 1 everywhere if w is 0."""
    width = np.median(distances[np.triu_indices(len(distances), 1)])
    return np.exp(-(distances**2) / (2 * width**2)) if width > 0 else np.ones_like(distances)


def leave_out_units(matrix: Array, units: Integers) -> Array:
    """Return a kernel's matrix with zeros between vectors of one unit, and of each vector with itself."""
    order = np.argsort(units, kind="stable")
    left_out = matrix.copy()
    for members in np.split(order, np.flatnonzero(np.diff(units[order])) + 1):
        left_out[np.ix_(members, members)] = 0.0
    return left_out


def mean_discrepancy(matrix: Array, inside: Array, units: Integers | None = None) -> Array:
    """Compute E k(X, X') + E k(Y, Y') - 2 E k(X, Y) over vectors of different units, for each row of memberships.

    Vectors of different units are independent, so that the means are unbiased, also where the samples are paired: a
    text and its damaged copy, or two texts of a prompt, are more alike than independent texts of the two populations.

    Parameters
    ----------
    matrix
        Kernel between all vectors, as `leave_out_units` returns it.
    inside
        draws x vectors: 1 for vectors of the first sample. All draws have equally many of each unit.
    units
        Unit of each vector, numbered from 0. Default: each vector is one.
    """
    units = np.arange(inside.shape[1]) if units is None else units
    product = inside @ matrix
    first = (product * inside).sum(axis=1)
    across = product.sum(axis=1) - first
    second = matrix.sum() - first - 2 * across
    n, m = _sizes(units, inside[0])
    return first / _pairs(n, n) - 2 * across / _pairs(n, m) + second / _pairs(m, m)


def _sizes(units: Integers, inside: Array) -> tuple[Array, Array]:
    """Return the numbers of vectors of each unit in the first and in the second sample."""
    number = int(units.max(initial=-1)) + 1
    n, m = (np.bincount(units, members, number).astype(float) for members in (inside, 1 - inside))
    return n, m


def _pairs(n: Array, m: Array) -> float:
    """Return the number of pairs of vectors of different units, from numbers per unit; NaN without one."""
    return float(n.sum() * m.sum() - n @ m) or UNDEFINED


def _discrepancy(
    name: str, matrix: Array, n: int, units: Integers, memberships: list[Array], exact: bool, confidence: float
) -> Estimate:
    inside = np.zeros((1, len(matrix)))
    inside[0, :n] = 1
    matrix = leave_out_units(matrix, units)
    value = float(mean_discrepancy(matrix, inside, units)[0])
    null = np.concatenate([mean_discrepancy(matrix, rows, units) for rows in memberships])
    reached = np.count_nonzero(null >= value - 1e-12)
    p = reached / len(null) if exact else (reached + 1) / (len(null) + 1)
    half = float(ndtri((1 + confidence) / 2)) * _jackknife_error(matrix, inside[0], units)
    return agree_with_test(Estimate(name, value, value - half, value + half, float(p)), confidence)


def _jackknife_error(matrix: Array, inside: Array, units: Integers) -> float:
    """Compute the standard error by leaving out each unit once, from row sums alone.

    Units of the first sample, of the second, and of both are samples of three populations, whose variances add up.
    """
    n, m = _sizes(units, inside)
    to_first, to_second = matrix @ inside, matrix @ (1 - inside)

    def of_unit(sums: Array, members: Array) -> Array:
        return np.bincount(units, sums * members, len(n)).astype(float)

    within_first, within_second = (to_first * inside).sum(), (to_second * (1 - inside)).sum()
    across = (to_second * inside).sum()
    others, other_others = n.sum() - n, m.sum() - m
    with np.errstate(divide="ignore", invalid="ignore"):  # NaN if one unit is all of a sample
        left_out = (
            (within_first - 2 * of_unit(to_first, inside)) / (_squares(n) - 2 * n * others)
            + (within_second - 2 * of_unit(to_second, 1 - inside)) / (_squares(m) - 2 * m * other_others)
            - 2
            * (across - of_unit(to_second, inside) - of_unit(to_first, 1 - inside))
            / (n.sum() * m.sum() - n @ m - n * other_others - m * others)
        )
    variance = 0.0
    for is_in in ((n > 0) & (m == 0), (n == 0) & (m > 0), (n > 0) & (m > 0)):
        values = left_out[is_in]
        if len(values):
            variance += (len(values) - 1) / len(values) * ((values - values.mean()) ** 2).sum()
    return float(np.sqrt(variance))


def _squares(n: Array) -> float:
    return float(n.sum() ** 2 - n @ n)


def _coverage(
    distances: Array, n: int, k: int, units: Integers, memberships: list[Array], exact: bool, confidence: float
) -> list[Estimate]:
    inside = np.arange(len(distances)) < n
    if any(members.sum() - np.bincount(units, members).max() < k for members in (inside, ~inside)):
        return [Estimate(name, UNDEFINED) for name in NAMES[2:]]
    distances = np.where(units[:, None] == units, np.inf, distances)
    order = np.argsort(distances, axis=1, kind="stable").astype(np.int32)
    estimates = []
    for name, is_first in zip(NAMES[2:], (True, False), strict=True):
        in_sample = inside == is_first
        reached = find_covered(distances, order, in_sample, k)
        permutations = ((row > 0) == is_first for batch in memberships for row in batch)
        null = np.array([find_covered(distances, order, permuted, k).sum() for permuted in permutations])
        successes, trials = (np.bincount(units, members) for members in (reached, ~in_sample))
        share, low, high = share_interval(successes, trials, confidence)
        p = p_value_from_null(1 - share, 1 - null / (~in_sample).sum(), exact)
        estimates.append(Estimate(name, share, low, high, p))
    return estimates


@njit(cache=True)
def find_covered(
    distances: Array, order: NDArray[np.int32], in_sample: NDArray[np.bool_], k: int
) -> NDArray[np.bool_]:  # pragma: no cover - compiled
    """Return the mask of the vectors of the other sample within reach of some vector of this sample.

    Parameters
    ----------
    distances
        Distances between all vectors; infinite within a unit.
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
            if distances[i, j] > radius or distances[i, j] == np.inf:
                break
            if in_sample[j]:
                seen += 1
                if seen == k and radius == np.inf:
                    radius = distances[i, j]
            else:
                reached[j] = True
    return reached
