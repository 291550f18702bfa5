"""Rank-frequency: Zipf's law (meister2021 §3.1, §5.1, App. A).

    p(k) = k^-s / zeta(s),  k = 1, 2, ...

over all ranks: the paper's numbers are those of infinite support (with its s = 1.1997, p(1) = 0.18, compared with 0.06
in English, which explains its D of 0.15). The likelihood depends on the counts only through the mean log rank.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import zeta

from macroscope.statistics.document_features import Array

Gaps = tuple[float, float]
"""Largest differences of two distribution functions, upwards and downwards."""
_STEEPEST, _FLATTEST = 60.0, 1.0 + 1e-4
_DIRECT_TERMS = 1000


def rank_counts(counts: ArrayLike) -> Array:
    """Return the counts of the types that occur, the most frequent first."""
    counts = np.asarray(counts, dtype=float)
    if len(counts) and counts[-1] > 0 and (counts[:-1] >= counts[1:]).all():  # cheaper than sorting again
        return counts
    return np.sort(counts[counts > 0])[::-1]


def fit_zipf(counts: ArrayLike) -> float:
    """Fit the maximum-likelihood exponent s of ranked counts, as in the paper.

    `zipf.zipf_exponent` estimates the exponent of the law that the counts come from.

    Returns
    -------
    float > 1; NaN with fewer than two types, because the exponent is undefined.
    """
    frequencies = rank_counts(counts)
    if len(frequencies) < 2:
        return float("nan")
    ranks = np.arange(1, len(frequencies) + 1)
    mean_log_rank = float(frequencies @ np.log(ranks) / frequencies.sum())
    return _solve(mean_log_rank)


def zipf_law(s: float, ranks: ArrayLike) -> Array:
    return np.asarray(ranks, dtype=float) ** -s / zeta(s)


def zipf_cdf(s: float, ranks: int) -> Array:
    return np.cumsum(zipf_law(s, np.arange(1, ranks + 1)))


def distance_to_zipf(counts: ArrayLike, s: float, ranks: int) -> float:
    """Return the KS distance D between a rank distribution and Zipf's law with exponent s.

    D is the maximum over the first `ranks` ranks; NaN without types.
    """
    return max(gaps_to_zipf(counts, s, ranks))


def gaps_to_zipf(counts: ArrayLike, s: float, ranks: int) -> Gaps:
    """Return the largest differences of a rank distribution from Zipf's law, upwards and downwards; see `Gaps`."""
    frequencies = rank_counts(counts)
    if not len(frequencies) or not np.isfinite(s):
        return (float("nan"),) * 2
    return _gaps(_empirical_cdf(frequencies, ranks) - zipf_cdf(s, ranks))


def distance_between_ranks(a: ArrayLike, b: ArrayLike, ranks: int) -> float:
    """Return the KS distance D between two rank distributions, each with its own ranking.

    D is the maximum over the first `ranks` ranks; NaN without types.
    """
    return max(gaps_between_ranks(a, b, ranks))


def gaps_between_ranks(a: ArrayLike, b: ArrayLike, ranks: int) -> Gaps:
    """Return the largest differences of the first rank distribution from the second, upwards and downwards."""
    first, second = rank_counts(a), rank_counts(b)
    if not len(first) or not len(second):
        return (float("nan"),) * 2
    ranks = min(ranks, max(len(first), len(second)))
    return _gaps(_empirical_cdf(first, ranks) - _empirical_cdf(second, ranks))


def _gaps(difference: Array) -> Gaps:
    return max(float(difference.max()), 0.0), max(float(-difference.min()), 0.0)


def _empirical_cdf(frequencies: Array, ranks: int) -> Array:
    """Return the share of tokens in the first k ranks, for k = 1 ... ranks."""
    shares = np.cumsum(frequencies[:ranks]) / frequencies.sum()
    return np.concatenate([shares, np.full(ranks - len(shares), 1.0)])


def _solve(mean_log_rank: float) -> float:
    if mean_log_rank >= _minus_log_zeta_slope(_FLATTEST):
        return float("nan")
    if mean_log_rank <= _minus_log_zeta_slope(_STEEPEST):
        return _STEEPEST
    return float(brentq(lambda s: _minus_log_zeta_slope(s) - mean_log_rank, _FLATTEST, _STEEPEST, xtol=1e-12))


def _minus_log_zeta_slope(s: float) -> float:
    """Return -zeta'(s) / zeta(s) = E[log k] by a direct sum and Euler-Maclaurin for the tail (error below 1e-12)."""
    k = np.arange(1, _DIRECT_TERMS, dtype=float)
    direct = float(np.log(k) @ k**-s)
    n, log_n = float(_DIRECT_TERMS), np.log(_DIRECT_TERMS)
    integral = n ** (1 - s) * (log_n / (s - 1) + 1 / (s - 1) ** 2)
    value = log_n * n**-s
    slope = n ** (-s - 1) * (1 - s * log_n)
    return float((direct + integral + value / 2 - slope / 12) / zeta(s))
