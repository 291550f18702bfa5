"""Exponent of the Zipf's law that a sample comes from, corrected for the bias of ranking by the sample's own counts.

A sample is ranked by its counts, not by the law's ranks: types that happen to be frequent come first, types that do not
occur have no rank. So the mean log rank of N tokens is below the law's E[log k], and the maximum-likelihood exponent of
a ranked sample is above the law's: for s = 1.3 and 10,000 tokens it is 1.339, a bias of eleven standard errors. The
estimate is the exponent whose samples of N tokens have the observed mean log rank (indirect inference, Gourieroux et
al. 1993); the mean log rank of samples is available in closed form.

Let R(c) be the number of types with c tokens or more. Then the sum of log rank over all tokens is sum_c log R(c)!, and
(Karlin 1967)

    E R(c) = x(c) - 1/2,        x(c) = (N / zeta(s))^(1/s) Gamma(c - 1/s) / Gamma(c),

except for the first ranks, where the sample's ranking agrees with the law's.
"""

from functools import cache, lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import gammaln, zeta

from macroscope.critics.tendencies.rank_frequency import rank_counts
from macroscope.statistics.document_sums import Array

_MAX_HEAD_RANKS = 20
_SURE = 3.0
"""Standard deviations between expected counts of neighbouring ranks beyond which the sample keeps the law's ranking."""
_DIRECT_COUNTS = 50
_HARMONICS = np.arange(1, 4)[:, None]
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_STEEPEST, _FLATTEST = 60.0, 1.0 + 1e-4
_HIGHEST, _LOWEST = (float(np.log(s - 1)) for s in (_STEEPEST, _FLATTEST))
_NEAR = 0.03
"""First distance from a rough root, in log(s - 1), at which the root is looked for."""


def zipf_exponent(counts: ArrayLike) -> float:
    """Estimate the exponent s of the law whose samples of equal size have the mean log rank of these counts.

    Returns
    -------
    float > 1; NaN with fewer than two types, or if hardly any type occurs twice, because no law is that flat.
    """
    frequencies = rank_counts(counts)
    if len(frequencies) < 2:
        return float("nan")
    tokens = float(frequencies.sum())
    observed = float(frequencies @ np.log(np.arange(1, len(frequencies) + 1)) / tokens)
    rough = _rough_root(round(observed, 2), round(float(np.log(tokens)), 1))
    return _solve(observed, tokens, rough, accuracy=1e-6)


@lru_cache(maxsize=4096)
def _rough_root(observed: float, log_tokens: float) -> float:
    """Return log(s - 1) for rounded numbers: permutations and samples of one law share it, and begin near their own."""
    s = _solve(observed, float(np.exp(log_tokens)), 0.0, accuracy=_NEAR)
    return float(np.log(s - 1)) if np.isfinite(s) else _LOWEST


def _solve(observed: float, tokens: float, start: float, accuracy: float) -> float:
    """Return the exponent whose expected mean log rank is the observed one; see `zipf_exponent`.

    Parameters
    ----------
    start, accuracy
        Of log(s - 1): where the search begins, and the largest error.
    """

    @cache
    def excess(log_slope: float) -> float:
        return expected_mean_log_rank(1 + np.exp(log_slope), tokens) - observed

    step, low, high = _NEAR, max(start - _NEAR, _LOWEST), min(start + _NEAR, _HIGHEST)
    while excess(low) <= 0:  # it falls with the exponent
        if low == _LOWEST:
            return float("nan")
        step, low, high = 4 * step, max(low - 4 * step, _LOWEST), low
    while excess(high) >= 0:
        if high == _HIGHEST:
            return _STEEPEST
        step, low, high = 4 * step, high, min(high + 4 * step, _HIGHEST)
    return float(1 + np.exp(brentq(excess, low, high, xtol=accuracy)))


def expected_mean_log_rank(s: float, tokens: float) -> float:
    """Return the expected mean log rank of `tokens` tokens of Zipf's law, ranked by their own counts.

    Within 0.15 standard deviations of simulations, for 300 tokens or more and s from 1.02 to 3.5.
    """
    first = tokens / zeta(s)  # expected tokens of the first rank
    ranks = np.arange(1, _MAX_HEAD_RANKS + 2)
    expected = first * ranks**-s
    apart = expected[:-1] - expected[1:] > _SURE * np.sqrt(expected[:-1] + expected[1:])
    head = max(1, _MAX_HEAD_RANKS if apart.all() else int(apart.argmin()))
    most = max(1.0, np.round(first * (head + 0.5) ** -s))  # types with more tokens belong to the head
    total = float(np.maximum(expected[:head] - most, 0) @ np.log(ranks[:head]))
    direct = int(min(most, _DIRECT_COUNTS))
    c, weights = np.arange(1, direct + 1, dtype=float), np.ones(direct)
    if most > direct:  # the midpoint rule, backwards, on a logarithmic scale
        low, high = np.log(direct + 0.5), np.log(most + 0.5)
        nodes = np.exp((high - low) / 2 * _NODES + (high + low) / 2)
        c, weights = np.append(c, nodes), np.append(weights, _WEIGHTS * nodes * (high - low) / 2)
    total += float(weights @ _log_factorial_of_types(c, first, s))
    return total / tokens


def _log_factorial_of_types(c: Array, first: float, s: float) -> Array:
    """Return E log R(c)!, to second order in R's standard deviation.

    The variance has two parts. Types with an expected count near c are among the R(c) types by chance. If expected
    counts are further apart than that, R(c) is a staircase around the smooth x(c) - 1/2 (variance 1/12).
    """
    types = np.exp(np.log(first) / s + gammaln(c - 1 / s) - gammaln(c))
    width = types / (s * np.sqrt(c))  # ranks within a standard deviation of a count of c
    stairs = np.exp(-((2 * np.pi * _HARMONICS * width) ** 2)) / (2 * (np.pi * _HARMONICS) ** 2)
    variance = width / np.sqrt(np.pi) + stairs.sum(axis=0)
    return np.asarray(gammaln(types + 0.5) + 0.5 * zeta(2, types + 0.5) * variance)
