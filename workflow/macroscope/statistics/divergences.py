"""Divergences and distances between two categorical distributions (pimentel2022 §2.2, meister2021 §4.2).

p is the reference, q the candidate, r_w = w p + (1 - w) q their mixture. All functions take counts or probabilities of
the same categories along the last axis and return one value per row, so that thousands of resamples are one call.
Divergences are in nats. Larger means more different, except for `mauve`. If p has probability where q has none, forward
KL is infinite; smooth the counts first to prevent that (`smooth_counts`).

The paper calls the supremum over single types the total variation distance; by its usual definition that distance is
the supremum over *sets* of types, half the L1 distance. This module has both, under names of their own.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import rel_entr

from macroscope.statistics.document_features import Array
from macroscope.statistics.p_values import p_value_from_null
from macroscope.statistics.permutation_groups import Permutation

EDGE = 1e-6
"""Smallest mixture weight of a frontier; the largest is 1 minus it, as in the published code."""
_ELEMENTS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Frontier:
    """Options of the divergence frontier.

    Attributes
    ----------
    scale
        s of eq. 9, > 0 (paper: 5 for clusters).
    weights
        Number of mixture weights, evenly spaced (published code: 25).
    """

    scale: float = 5.0
    weights: int = 25

    @property
    def grid(self) -> Array:
        """Return the mixture weights, ascending."""
        return np.linspace(EDGE, 1 - EDGE, self.weights)


FRONTIER = Frontier()


def smooth_counts(counts: ArrayLike, alpha: float) -> Array:
    """Return probabilities (c + alpha) / (n + alpha K): Laplace smoothing over all K categories (paper: alpha = 1)."""
    counts = np.asarray(counts, dtype=float) + alpha
    with np.errstate(invalid="ignore"):  # nothing counted and nothing added: undefined
        return counts / counts.sum(axis=-1, keepdims=True)


def forward_kl(p: ArrayLike, q: ArrayLike) -> Array:
    """Compute KL(p || q) >= 0 (eq. 5); probability of p that q does not cover weighs most."""
    # Rounding may make the KL of identical distributions slightly negative.
    return np.maximum(rel_entr(smooth_counts(p, 0), smooth_counts(q, 0)).sum(axis=-1), 0.0)


def backward_kl(p: ArrayLike, q: ArrayLike) -> Array:
    """Compute KL(q || p) >= 0 (eq. 6); probability of q that p does not cover weighs most."""
    return forward_kl(q, p)


def exponentiated_kl(p: ArrayLike, q: ArrayLike) -> Array:
    """Compute exp KL(p || q) >= 1 (eq. 7): the perplexity up to a factor."""
    with np.errstate(over="ignore"):
        return np.exp(forward_kl(p, q))


def jensen_shannon(p: ArrayLike, q: ArrayLike) -> Array:
    """Compute the mean of KL(p || r) and KL(q || r) with r halfway (eq. 8), in [0, log 2]."""
    p, q = smooth_counts(p, 0), smooth_counts(q, 0)
    middle = (p + q) / 2
    return 0.5 * np.maximum(rel_entr(p, middle).sum(axis=-1) + rel_entr(q, middle).sum(axis=-1), 0.0)


def frontier_divergences(p: ArrayLike, q: ArrayLike, grid: Array) -> tuple[Array, Array]:
    """Compute KL(p || r_w) and KL(q || r_w) for each mixture weight w: ... x weights."""
    p, q = np.broadcast_arrays(smooth_counts(p, 0), smooth_counts(q, 0))
    shape, categories = p.shape[:-1], p.shape[-1]
    rows_p, rows_q = p.reshape(-1, categories), q.reshape(-1, categories)
    kl = np.empty((2, len(rows_p), len(grid)))
    at_once = max(1, _ELEMENTS_AT_ONCE // max(1, categories * len(grid)))
    for start in range(0, len(rows_p), at_once):
        a, b = rows_p[start : start + at_once], rows_q[start : start + at_once]
        mixtures = grid[:, None] * a[:, None, :] + (1 - grid[:, None]) * b[:, None, :]
        with np.errstate(divide="ignore"):
            logs = np.log(mixtures)
        logs[np.isneginf(logs)] = 0.0  # a category of neither distribution
        for index, distribution in enumerate((a, b)):
            negative_entropy = rel_entr(distribution, 1.0).sum(axis=-1, keepdims=True)  # sum p log p
            kl[index, start : start + at_once] = negative_entropy - np.einsum("rwc,rc->rw", logs, distribution)
    # Rounding may make the KL of identical distributions slightly negative.
    kl_p, kl_q = (np.maximum(values, 0.0).reshape(*shape, len(grid)) for values in kl)
    return kl_p, kl_q


def area_under_frontier(kl_p: ArrayLike, kl_q: ArrayLike, scale: float) -> Array:
    """Compute the area under the curve of exp(-s KL(p || r_w)), exp(-s KL(q || r_w)) from w = 0 to 1, in (0, 1].

    The curve is integrated in the order of the weights, so that equal coordinates cannot be misordered; for distinct
    ones this is the mean of the two areas for which the published code sorts. It is closed by (0, 1), (1, 0).

    Parameters
    ----------
    kl_p, kl_q
        ... x weights, weights ascending, as from `frontier_divergences`.
    """
    x, y = (np.exp(-scale * np.asarray(kl, dtype=float)) for kl in (kl_p, kl_q))
    ends = np.zeros((*x.shape[:-1], 1))
    x = np.concatenate([ends, x, ends + 1], axis=-1)
    y = np.concatenate([ends + 1, y, ends], axis=-1)
    return np.trapezoid(y, x, axis=-1)


def mauve(p: ArrayLike, q: ArrayLike, frontier: Frontier = FRONTIER) -> Array:
    """Compute the area under the divergence frontier (Pillutla et al. 2021), in (0, 1]; *smaller* is more different."""
    return area_under_frontier(*frontier_divergences(p, q, frontier.grid), frontier.scale)


def auc_divergence(p: ArrayLike, q: ArrayLike, frontier: Frontier = FRONTIER) -> Array:
    """Compute 1 - area under the divergence frontier (eq. 9), in [0, 1)."""
    return 1 - mauve(p, q, frontier)


def frontier_integral(p: ArrayLike, q: ArrayLike) -> Array:
    """Compute the frontier integral (Liu et al. 2021), in [0, 1].

    It is twice the integral of w KL(p || r_w) + (1 - w) KL(q || r_w) over w in [0, 1]. In closed form it is sum (p + q)
    / 2 - p q (log p - log q) / (p - q). A term is (p + q) / 2 if one of them is 0, and 0 if they are equal.
    """
    return np.maximum(_frontier_terms(smooth_counts(p, 0), smooth_counts(q, 0)).sum(axis=-1), 0.0)


def _frontier_terms(p: Array, q: Array) -> Array:
    mean, gap = (p + q) / 2, p - q
    with np.errstate(divide="ignore", invalid="ignore"):
        # The logarithmic mean of p and q, or its series if they are nearly equal, for numerical stability.
        logarithmic = np.where(np.abs(gap) > 1e-5 * mean, gap / (np.log(p) - np.log(q)), mean - gap**2 / (12 * mean))
        terms = mean - p * q / logarithmic
    return np.where(mean == 0, 0.0, np.where((p == 0) | (q == 0), mean, terms))


def divergences(frontier: Frontier) -> dict[str, Callable[[Array, Array], Array]]:
    """Return every divergence by its name in tables; arguments (p, q) as above."""
    return {
        "forward_kl": forward_kl,
        "backward_kl": backward_kl,
        "exponentiated_kl": exponentiated_kl,
        "jensen_shannon": jensen_shannon,
        "auc_divergence": lambda p, q: auc_divergence(p, q, frontier),
        "mauve": lambda p, q: mauve(p, q, frontier),
        "frontier_integral": frontier_integral,
    }


def contributions(p: ArrayLike, q: ArrayLike, frontier: Frontier = FRONTIER) -> dict[str, Array]:
    """Compute the contribution of each category to each divergence; contributions add up to it.

    Returns
    -------
    name -> array of categories
        For `exponentiated_kl`, contributions to its exponent. For `auc_divergence` and `mauve`, contributions to the
        mean over the frontier of KL(p || r_w) + KL(q || r_w), whose growth reduces the area.
    """
    p, q = smooth_counts(p, 0), smooth_counts(q, 0)
    middle = (p + q) / 2
    forward = rel_entr(p, q)
    mixtures = frontier.grid[:, None] * p + (1 - frontier.grid[:, None]) * q
    along = (rel_entr(p, mixtures) + rel_entr(q, mixtures)).mean(axis=0)
    return {
        "forward_kl": forward,
        "backward_kl": rel_entr(q, p),
        "exponentiated_kl": forward,
        "jensen_shannon": 0.5 * (rel_entr(p, middle) + rel_entr(q, middle)),
        "auc_divergence": along,
        "mauve": along,
        "frontier_integral": _frontier_terms(p, q),
    }


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
