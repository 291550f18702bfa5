"""The Kolmogorov-Smirnov distance, D = sup |F - G|, and its tests (meister2021 §4.2, eq. 10).

The textbook null distribution holds for continuous data and a reference that was not fitted to them. But lengths and
shares have ties, and a fitted law depends on its data. Ties therefore get a permutation null, and fitted laws a Monte
Carlo null in which every simulated sample is fitted anew (Wood and Altavela 1978; Lilliefors 1967).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from macroscope.statistics.document_features import MANY, Array
from macroscope.statistics.p_values import TIE, p_value_from_null
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.proportions import wilson_interval

FINEST_SUPPORT = 4096
"""Number of distinct values above which ties hardly matter and the continuous null is used: slightly conservative."""
PLACES = 512
"""Largest number of values at which the difference is evaluated for the interval of a distance."""


def ks_distance(a: ArrayLike, b: ArrayLike) -> float:
    """Compute D between the empirical distributions of two samples, in [0, 1]; NaN if one is empty."""
    return ks_distance_of_counts(*_counts(a, b))


def ks_distance_of_counts(first: ArrayLike, second: ArrayLike) -> float:
    """Compute D between two distributions over the same ordered support, given as counts; NaN if one is empty."""
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not first.sum() or not second.sum():
        return float("nan")
    return float(np.abs(np.cumsum(first) / first.sum() - np.cumsum(second) / second.sum()).max())


def ks_interval(
    a: ArrayLike, b: ArrayLike, confidence: float, resamples: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Compute D between two samples with an interval of the distance of the two populations.

    D is the largest of many differences: if nothing differs, the observed D is too large, and if something does, the
    place of the largest difference is chosen by chance. The lower end accounts for that: it is lower by a quantile of
    the largest resampled deviation over all places that might have the largest difference (intersection bounds;
    Chernozhukov, Lee and Rosen 2013). The upper end is the largest of the upper ends at these places (Newcombe's,
    1998), since the true largest difference is at one of them.

    Returns
    -------
    D, low, high
        In [0, 1]; NaN if a sample is empty.
    """
    counts = _subsampled(*_counts(a, b))
    sizes = [counts_of_sample.sum() for counts_of_sample in counts]
    if not all(sizes):
        return (float("nan"),) * 3
    distance = ks_distance(a, b)
    shares = [np.cumsum(counts_of_sample) / size for counts_of_sample, size in zip(counts, sizes, strict=True)]
    low, high = _newcombe(shares, sizes, confidence)
    # The variance of a resample is (n - 1) / n of that of a sample.
    resampled = [
        (np.cumsum(rng.multinomial(int(size), counts_of_sample / size, resamples), axis=1) / size - share)
        * np.sqrt(size / max(size - 1, 0.5))
        for counts_of_sample, size, share in zip(counts, sizes, shares, strict=True)
    ]
    deviations = np.abs(resampled[0] - resampled[1])
    level = 0.5 + confidence / 2
    everywhere = np.quantile(deviations.max(axis=1), level)
    gaps = np.abs(shares[0] - shares[1])
    near = gaps >= gaps.max() - everywhere
    least = min(distance - np.quantile(deviations[:, near].max(axis=1), level), low[gaps.argmax()])
    return distance, float(max(least, 0.0)), float(min(max(high[near].max(), distance), 1.0))


def ks_test(a: ArrayLike, b: ArrayLike, permutation: Permutation, permutations: int, rng: np.random.Generator) -> float:
    """Compute the p-value of D between two samples.

    With ties, or if documents are paired, the null is that of permutations of documents. If very many documents are
    paired, bundles of documents are permuted, and the distance is evaluated at `PLACES` values. Otherwise, or on a
    support finer than `FINEST_SUPPORT`, the null is the exact or asymptotic one of Kolmogorov and Smirnov.

    Parameters
    ----------
    permutation
        Permutations of the documents of `a` and `b`.

    Returns
    -------
    p
        NaN if a sample is empty; 1 if all values are equal.
    """
    first, second = _counts(a, b)
    n, m = int(first.sum()), int(second.sum())
    if not n or not m:
        return float("nan")
    distance, pooled = ks_distance_of_counts(first, second), (first + second).astype(np.int64)
    if permutation.is_paired:
        values = np.concatenate([np.asarray(a, float), np.asarray(b, float)])
        if permutation.units > MANY and not permutation.is_exact(permutations):
            distance, null = _distances_of_bundles(values, permutation, permutations, rng)
        else:
            null = _permuted_distances(values, permutation, permutations, rng)
    elif pooled.max() == 1 or len(pooled) > FINEST_SUPPORT:
        from scipy.stats import ks_2samp  # slow to import, and most numbers are counts

        return float(ks_2samp(a, b).pvalue)
    else:
        null = _distances_of_random_divisions(pooled, n, permutations, rng)
    return p_value_from_null(distance, null, permutation.is_paired and permutation.is_exact(permutations))


def monte_carlo_p_value(
    observed: float, simulate: Callable[[np.random.Generator], float], simulations: int, rng: np.random.Generator
) -> float:
    """Return the share of simulated distances that reach the observed one, (c + 1) / (n + 1); NaN if it is undefined.

    Parameters
    ----------
    simulate
        Function of a generator that samples from the law and returns the sample's distance. If the observed distance is
        to a law that was fitted to the sample, it fits the law anew.
    """
    if not np.isfinite(observed):
        return float("nan")
    distances = np.array([simulate(rng) for _ in range(simulations)])
    reached = np.count_nonzero(distances >= observed * (1 - TIE))
    return float((reached + 1) / (np.count_nonzero(~np.isnan(distances)) + 1))


def _counts(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
    """Return counts of two samples over their common support."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    support, codes = np.unique(np.concatenate([a, b]), return_inverse=True)
    samples = (codes[: len(a)], codes[len(a) :])
    first, second = (np.bincount(sample, minlength=len(support)).astype(float) for sample in samples)
    return first, second


def _subsampled(first: Array, second: Array) -> tuple[Array, Array]:
    """Return counts of both samples over a support of at most `PLACES` values, each about as frequent."""
    if len(first) <= PLACES:
        return first, second
    cells = _cells(first + second)
    subsampled = [np.bincount(cells, counts, PLACES).astype(float) for counts in (first, second)]
    return subsampled[0], subsampled[1]


def _cells(counts: ArrayLike) -> NDArray[np.int64]:
    """Return the cell of each value of a support: one of at most `PLACES`, each about as frequent."""
    pooled = np.cumsum(counts)
    if len(pooled) <= PLACES:
        return np.arange(len(pooled))
    return np.minimum((pooled / pooled[-1] * PLACES).astype(np.int64), PLACES - 1)


def _newcombe(shares: list[Array], sizes: list[float], confidence: float) -> tuple[Array, Array]:
    """Compute intervals of |difference| of two shares, elementwise, from Wilson's (Newcombe 1998, method 10)."""
    first, second = shares
    larger = first >= second
    p, q = np.where(larger, first, second), np.where(larger, second, first)
    n, m = np.where(larger, sizes[0], sizes[1]), np.where(larger, sizes[1], sizes[0])
    low_p, high_p = wilson_interval(np.minimum(p, 1.0) * n, n, confidence)
    low_q, high_q = wilson_interval(np.minimum(q, 1.0) * m, m, confidence)
    return p - q - np.hypot(p - low_p, high_q - q), p - q + np.hypot(high_p - p, q - low_q)


def _distances_of_random_divisions(pooled: np.ndarray, n: int, permutations: int, rng: np.random.Generator) -> Array:
    """Compute D of `permutations` random divisions of pooled counts into n and the rest."""
    m = int(pooled.sum()) - n
    distances = np.empty(permutations)
    at_once = max(1, (1 << 23) // len(pooled))
    for start in range(0, permutations, at_once):
        size = min(at_once, permutations - start)
        first = np.cumsum(rng.multivariate_hypergeometric(pooled, n, size=size, method="marginals"), axis=1)
        second = np.cumsum(pooled) - first
        distances[start : start + size] = np.abs(first / n - second / m).max(axis=1)
    return distances


def _permuted_distances(values: Array, permutation: Permutation, permutations: int, rng: np.random.Generator) -> Array:
    """Compute D after each permutation of documents between the two samples."""
    if not permutation.is_exact(permutations):
        from macroscope.statistics.compiled_permutations import permuted_ks_distances  # compiled code: slow to import

        return permuted_ks_distances(values, permutation.sizes[0], permutation.pairs_and_groups(), permutations, rng)
    order = np.argsort(values, kind="stable")
    last = np.append(values[order][1:] != values[order][:-1], True)  # ends of runs of equal values
    distances = []
    for inside in permutation.memberships(permutations, rng):
        first = np.cumsum(inside[:, order], axis=1)[:, last] / permutation.sizes[0]
        second = np.cumsum(1 - inside[:, order], axis=1)[:, last] / permutation.sizes[1]
        distances.append(np.abs(first - second).max(axis=1))
    return np.concatenate(distances)


def _distances_of_bundles(
    values: Array, permutation: Permutation, permutations: int, rng: np.random.Generator
) -> tuple[float, Array]:
    """Compute D at at most `PLACES` values, observed and after each permutation of bundles of documents."""
    bundles, bundle = permutation.bundles
    _, codes, pooled = np.unique(values, return_inverse=True, return_counts=True)
    cells = _cells(pooled)
    places = int(cells[-1]) + 1
    counts = np.bincount(bundle * places + cells[codes], minlength=bundles.units * places).reshape(-1, places)
    n = bundles.sizes[0]
    permuted = bundles.permuted_sums(counts[:n], counts[n:], permutations, rng)
    first, second = (
        np.cumsum(counts_of_sample, axis=1) / size
        for counts_of_sample, size in zip(permuted, permutation.sizes, strict=True)
    )
    return ks_distance_of_counts(counts[:n].sum(axis=0), counts[n:].sum(axis=0)), np.abs(first - second).max(axis=1)
