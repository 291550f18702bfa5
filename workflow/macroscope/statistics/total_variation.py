"""Distances between two categorical distributions, and their permutation test (meister2021 §4.2, eq. 11).

The paper calls the supremum over single types the total variation distance; by its usual definition that distance is
the supremum over *sets* of types, half the L1 distance. This module has both, under names of their own.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from macroscope.statistics.document_sums import Array
from macroscope.statistics.p_values import p_value_from_null
from macroscope.statistics.permutation_groups import Permutation


def largest_difference(p: ArrayLike, q: ArrayLike) -> Array:
    """Compute the supremum over types of |p - q|, in [0, 1]: the paper's "tvd". Last axis: counts or probabilities."""
    return np.abs(_normalised(p) - _normalised(q)).max(axis=-1)


def total_variation(p: ArrayLike, q: ArrayLike) -> Array:
    """Compute half the L1 distance of p and q, in [0, 1]. Last axis: counts or probabilities."""
    return 0.5 * np.abs(_normalised(p) - _normalised(q)).sum(axis=-1)


DISTANCES = {"tvd_sup": largest_difference, "tvd_half_l1": total_variation}


def permuted_distances(
    a: sparse.csr_matrix, b: sparse.csr_matrix, permutation: Permutation, permutations: int, rng: np.random.Generator
) -> dict[str, Array]:
    """Compute both distances after permutations of units between two collections.

    Parameters
    ----------
    a, b
        Counts, units x types. A unit is a document, or a block of equally many documents in both collections.

    Returns
    -------
    name of the distance -> array of `permutations` values
    """
    units = sparse.vstack([a, b]).tocsr().astype(float)
    total = np.asarray(units.sum(axis=0)).ravel()
    transposed = units.T.tocsr()
    at_once = max(1, (1 << 24) // max(1, *units.shape))
    distances: dict[str, list[Array]] = {name: [] for name in DISTANCES}
    for inside in permutation.memberships(permutations, rng, at_once):
        first = (transposed @ inside.T).T
        for name, distance in DISTANCES.items():
            distances[name].append(distance(first, total - first))
    return {name: np.concatenate(values) for name, values in distances.items()}


def total_variation_test(
    a: sparse.csr_matrix, b: sparse.csr_matrix, permutation: Permutation, permutations: int, rng: np.random.Generator
) -> dict[str, tuple[float, float]]:
    """Compute both distances of two collections of counts, each with its p-value.

    Returns
    -------
    name -> (distance, p)
        NaN if a collection has no unit or no token.
    """
    sums = [np.asarray(counts.sum(axis=0)).ravel() for counts in (a, b)]
    if not all(totals.sum() for totals in sums):
        return dict.fromkeys(DISTANCES, (float("nan"), float("nan")))
    null = permuted_distances(a, b, permutation, permutations, rng)
    exact = permutation.is_exact(permutations)
    observed = {name: float(distance(*sums)) for name, distance in DISTANCES.items()}
    return {name: (value, p_value_from_null(value, null[name], exact)) for name, value in observed.items()}


def _normalised(counts: ArrayLike) -> Array:
    counts = np.asarray(counts, dtype=float)
    return counts / counts.sum(axis=-1, keepdims=True)
