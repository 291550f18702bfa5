"""The Kolmogorov-Smirnov distance, D = sup |F - G|, and its tests (meister2021 §4.2, eq. 10).

The textbook null distribution holds for continuous data and a reference that was not fitted to them. Lengths and
shares have ties, and a fitted law follows its data: here ties get a permutation null, and fitted laws a Monte Carlo
null in which every simulated sample is fitted anew (Wood and Altavela 1978; Lilliefors 1967).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import ks_2samp

from macroscope.statistics.bootstrap import Array
from macroscope.statistics.permutation import TIE

FINEST_SUPPORT = 4096
"""With more distinct values than this, ties hardly matter, and the continuous null is used: slightly conservative."""


def ks_distance(a: ArrayLike, b: ArrayLike) -> float:
    """Return D between the empirical distributions of two samples, in [0, 1]; NaN where one is empty."""
    return ks_of_counts(*_counts(a, b))


def ks_of_counts(first: ArrayLike, second: ArrayLike) -> float:
    """Return D between two distributions over the same ordered support, given as counts; NaN where one is empty."""
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not first.sum() or not second.sum():
        return float("nan")
    return float(np.abs(np.cumsum(first) / first.sum() - np.cumsum(second) / second.sum()).max())


def ks_interval(a: ArrayLike, b: ArrayLike, confidence: float) -> tuple[float, float, float]:
    """Return D between two samples with its large-sample interval.

    Where the distributions differ, D is asymptotically normal, with the variance of the difference of the two
    empirical distributions at the point where it is largest (Raghavachari 1973). Where they do not differ, the lower
    end reaches 0, and D itself is biased upwards: the p-value tells.

    Returns
    -------
    D, low, high
        In [0, 1]; NaN where a sample is empty.
    """
    counts = _counts(a, b)
    n, m = (side.sum() for side in counts)
    if not n or not m:
        return (float("nan"),) * 3
    first, second = (np.cumsum(side) / side.sum() for side in counts)
    at = int(np.abs(first - second).argmax())
    distance = abs(first[at] - second[at])
    variance = first[at] * (1 - first[at]) / n + second[at] * (1 - second[at]) / m
    half = ndtri(0.5 + confidence / 2) * np.sqrt(variance)
    return float(distance), float(max(distance - half, 0.0)), float(min(distance + half, 1.0))


def ks_to_cdf(counts: ArrayLike, cdf: ArrayLike) -> float:
    """Return D between a sample on the integers and a distribution on them.

    Parameters
    ----------
    counts, cdf
        Counts and F at consecutive integers, which begin where the distribution begins. Beyond the last of them the
        empirical distribution is 1, and D cannot grow.

    Returns
    -------
    D in [0, 1]; NaN for an empty sample.
    """
    counts = np.asarray(counts, dtype=float)
    if not counts.sum():
        return float("nan")
    return float(np.abs(np.cumsum(counts) / counts.sum() - np.asarray(cdf)).max())


def ks_to_continuous_cdf(sample: ArrayLike, cdf: Callable[[Array], Array]) -> float:
    """Return D between a sample of real numbers and a continuous distribution; NaN for an empty sample."""
    values = np.sort(np.asarray(sample, dtype=float))
    n = len(values)
    if not n:
        return float("nan")
    steps, expected = np.arange(n + 1) / n, cdf(values)
    return float(max((steps[1:] - expected).max(), (expected - steps[:-1]).max()))


def ks_test(a: ArrayLike, b: ArrayLike, permutations: int, rng: np.random.Generator) -> tuple[float, float]:
    """D between two samples, and its p-value.

    With ties, the null is that of exchanging the labels of the pooled sample: `permutations` draws, (c + 1) / (n + 1).
    Without, or on a support finer than `FINEST_SUPPORT`, it is the exact or asymptotic one of Kolmogorov and Smirnov.

    Returns
    -------
    D, p
        NaN where a sample is empty; p = 1 where all values are equal.
    """
    first, second = _counts(a, b)
    distance = ks_of_counts(first, second)
    n, m = int(first.sum()), int(second.sum())
    if not n or not m:
        return distance, float("nan")
    pooled = (first + second).astype(np.int64)
    if pooled.max() == 1 or len(pooled) > FINEST_SUPPORT:
        return distance, float(ks_2samp(a, b).pvalue)
    reached = np.count_nonzero(_permuted_distances(pooled, n, permutations, rng) >= distance * (1 - TIE))
    return distance, float((reached + 1) / (permutations + 1))


def monte_carlo_p_value(
    observed: float, simulate: Callable[[np.random.Generator], float], simulations: int, rng: np.random.Generator
) -> float:
    """Share of simulated distances that reach the observed one, (c + 1) / (n + 1); NaN where it is undefined.

    `simulate` draws a sample from the law in question and returns its distance, fitted anew where the observed
    distance is to a law that was fitted to the sample.
    """
    if not np.isfinite(observed):
        return float("nan")
    reached = sum(simulate(rng) >= observed * (1 - TIE) for _ in range(simulations))
    return float((reached + 1) / (simulations + 1))


def _counts(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
    """Counts of two samples over their common support."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    support, where = np.unique(np.concatenate([a, b]), return_inverse=True)
    sides = (where[: len(a)], where[len(a) :])
    first, second = (np.bincount(side, minlength=len(support)).astype(float) for side in sides)
    return first, second


def _permuted_distances(pooled: np.ndarray, n: int, permutations: int, rng: np.random.Generator) -> Array:
    """Return D of each of `permutations` random divisions of pooled counts into n and the rest."""
    m = int(pooled.sum()) - n
    distances = np.empty(permutations)
    at_once = max(1, (1 << 23) // len(pooled))
    for start in range(0, permutations, at_once):
        size = min(at_once, permutations - start)
        first = np.cumsum(rng.multivariate_hypergeometric(pooled, n, size=size, method="marginals"), axis=1)
        second = np.cumsum(pooled) - first
        distances[start : start + size] = np.abs(first / n - second / m).max(axis=1)
    return distances
