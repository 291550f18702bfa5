"""Zipf's law behind a sample: its exponent, corrected for the bias of ranking by own counts, and simulation tests.

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

import math
from functools import cache, lru_cache

import numpy as np
from numba import njit
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from macroscope.critics.tendencies.rank_frequency import distance_to_zipf, fit_zipf, rank_counts
from macroscope.statistics.document_features import Array
from macroscope.statistics.p_values import TIE

_MAX_HEAD_RANKS = 20
_SURE = 3.0
"""Standard deviations between expected counts of neighbouring ranks beyond which the sample keeps the law's ranking."""
_DIRECT_COUNTS = 50
_HARMONICS = 3
_DIRECT_TERMS = 12
"""Terms that are added directly, and where asymptotic series begin: their error is that of rounding."""
_LARGE = 1e5
_BERNOULLI = np.array([1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730])
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


@njit(cache=True)
def expected_mean_log_rank(s: float, tokens: float) -> float:
    """Return the expected mean log rank of `tokens` tokens of Zipf's law, ranked by their own counts.

    Within 0.15 standard deviations of simulations, for 300 tokens or more and s from 1.02 to 3.5.
    """
    first = tokens / _zeta(s)  # expected tokens of the first rank
    head = _ranks_apart(first, s)
    most = max(1.0, np.round(first * (head + 0.5) ** -s))  # types with more tokens belong to the head
    total = 0.0
    for rank in range(2, head + 1):
        total += max(first * rank**-s - most, 0.0) * math.log(rank)
    direct = int(min(most, _DIRECT_COUNTS))
    for c in range(1, direct + 1):
        total += _log_factorial_of_types(float(c), first, s)
    if most > direct:  # the midpoint rule, backwards, on a logarithmic scale
        low, high = math.log(direct + 0.5), math.log(most + 0.5)
        for node, weight in zip(_NODES, _WEIGHTS):  # noqa: B905 - numba knows no `strict`
            at = math.exp((high - low) / 2 * node + (high + low) / 2)
            total += weight * at * (high - low) / 2 * _log_factorial_of_types(at, first, s)
    return total / tokens


@njit(cache=True)
def _ranks_apart(first: float, s: float) -> int:
    """Return the number of the first ranks that the sample ranks as the law does; at least one."""
    for rank in range(1, _MAX_HEAD_RANKS + 1):
        here, following = first * rank**-s, first * (rank + 1) ** -s
        if here - following <= _SURE * math.sqrt(here + following):
            return max(1, rank - 1)
    return _MAX_HEAD_RANKS


@njit(cache=True)
def _log_factorial_of_types(c: float, first: float, s: float) -> float:
    """Return E log R(c)!, to second order in R's standard deviation.

    The variance has two parts. Types with an expected count near c are among the R(c) types by chance. If expected
    counts are further apart than that, R(c) is a staircase around the smooth x(c) - 1/2 (variance 1/12).
    """
    a = 1 / s
    # The difference of large ones is lost in rounding (Tricomi and Erdélyi 1951).
    log_ratio = math.lgamma(c - a) - math.lgamma(c) if c < _LARGE else -a * math.log(c - (a + 1) / 2)
    types = math.exp(a * math.log(first) + log_ratio)
    width = types / (s * math.sqrt(c))  # ranks within a standard deviation of a count of c
    variance = width / math.sqrt(math.pi)
    for harmonic in range(1, _HARMONICS + 1):
        variance += math.exp(-((2 * math.pi * harmonic * width) ** 2)) / (2 * (math.pi * harmonic) ** 2)
    return math.lgamma(types + 0.5) + 0.5 * _trigamma(types + 0.5) * variance


@njit(cache=True)
def _zeta(s: float) -> float:
    """Return Riemann's zeta for s > 1, by a direct sum and Euler-Maclaurin for the tail."""
    total, n = 0.0, float(_DIRECT_TERMS)
    for k in range(1, _DIRECT_TERMS):
        total += float(k) ** -s
    total += n ** (1 - s) / (s - 1) + 0.5 * n**-s
    term = s * n ** (-s - 1)
    for j in range(len(_BERNOULLI)):
        total += _BERNOULLI[j] / math.gamma(2 * j + 3.0) * term
        term *= (s + 2 * j + 1) * (s + 2 * j + 2) / (n * n)
    return total


@njit(cache=True)
def _trigamma(x: float) -> float:
    """Return zeta(2, x) for x > 0, by recurrence and the asymptotic series."""
    total = 0.0
    while x < _DIRECT_TERMS:
        total += 1 / (x * x)
        x += 1
    total += 1 / x + 1 / (2 * x * x)
    for j in range(len(_BERNOULLI)):
        total += _BERNOULLI[j] * x ** -(2 * j + 3.0)
    return total


MAX_SIMULATED_TOKENS = 200_000
"""Largest number of tokens in a simulated sample; the other sample is scaled by the same factor. Distances shrink as
samples grow, so the p-value of larger collections is too large, never too small."""
_FAR = 2.0**52
"""Largest exactly represented rank: beyond it, every token is counted as a type of its own."""
_TRIES = 1.6


def fitted_law_p_value(counts: ArrayLike, ranks: int, simulations: int, rng: np.random.Generator) -> float:
    """Compute the p-value of the distance between counts and the law fitted to them (`zipf_d_own`).

    Samples come from the law with the exponent of `zipf_exponent`, since the fitted exponent is biased upwards
    by ranking; the law is fitted again to each sample.
    """
    s = zipf_exponent(counts)
    if np.isnan(s):
        return float("nan")
    (tokens,) = _simulated_tokens(counts)
    distances, exponents = np.empty(simulations), np.empty(simulations)
    for i in range(simulations):
        sample = sample_zipf_counts(s, tokens, rng)
        distances[i] = distance_to_zipf(sample, fit_zipf(sample), ranks)
        exponents[i] = zipf_exponent(sample)
    return _p_value(distance_to_zipf(counts, fit_zipf(counts), ranks), distances, exponents[:, None] - s)


def reference_law_p_value(
    candidate: ArrayLike, reference: ArrayLike, ranks: int, simulations: int, rng: np.random.Generator
) -> float:
    """Compute the p-value of the distance between a candidate and the law fitted to a reference (`zipf_d_reference`).

    Both samples come from the law of the reference, and the law is fitted to the simulated reference: this accounts for
    the error of its exponent and for different sizes of the two collections.
    """
    s = zipf_exponent(reference)
    if np.isnan(s):
        return float("nan")
    sizes = _simulated_tokens(candidate, reference)
    distances, exponents = np.empty(simulations), np.empty((simulations, 2))
    for i in range(simulations):
        simulated_candidate, simulated_reference = (sample_zipf_counts(s, size, rng) for size in sizes)
        distances[i] = distance_to_zipf(simulated_candidate, fit_zipf(simulated_reference), ranks)
        exponents[i] = zipf_exponent(simulated_reference), zipf_exponent(simulated_candidate)
    return _p_value(distance_to_zipf(candidate, fit_zipf(reference), ranks), distances, exponents - s)


def _p_value(observed: float, distances: Array, errors: Array) -> float:
    """Return the share of simulated distances, adjusted for the errors of their exponents, that reach the observed one.

    The distance of a ranked sample to a law is mostly an effect of ranking, which depends on the exponent. The observed
    sample comes from the true exponent s0, while the simulated samples come from its estimate s. The errors of the
    estimates would therefore enter the distances twice, and the test would hardly ever reject. A regression on the
    errors removes this: given the error e of the fitted exponent, the observed sample comes from s - e and is fitted
    with s.

    Parameters
    ----------
    errors
        Simulations x errors of exponents (estimate minus the simulated exponent): of the sample that the law is fitted
        to, and, if that is a different sample, of the sample whose distance is measured.
    """
    is_finite = np.isfinite(errors).all(axis=1)  # in a tiny sample no type may occur twice
    distances, errors = distances[is_finite], errors[is_finite]
    if len(distances) <= errors.shape[1] + 1 or not np.isfinite(observed):
        return float("nan")
    design = np.column_stack([np.ones(len(distances)), errors])
    slopes = np.linalg.lstsq(design, distances, rcond=None)[0][1:]
    moved = distances - slopes.sum() * errors[:, 0]
    spread = np.sqrt(len(moved) / (len(moved) - len(slopes)))  # degrees of freedom of the regression
    reached = np.count_nonzero(moved.mean() + spread * (moved - moved.mean()) >= observed * (1 - TIE))
    return float((reached + 1) / (len(moved) + 1))


def sample_zipf_counts(s: float, tokens: int, rng: np.random.Generator) -> Array:
    """Sample the counts of the types of `tokens` independent tokens from Zipf's law, in arbitrary order.

    Uses Devroye's rejection method (1986, X.6.1) in floating point, because with s near 1 the ranks exceed any integer
    type.
    """
    accepted: list[Array] = []
    missing, slope = tokens, s - 1
    while missing:
        u, v = rng.random((2, int(missing * _TRIES) + 16))
        with np.errstate(over="ignore"):
            ranks = np.floor((1 - u) ** (-1 / slope))
        growth = np.expm1(np.log1p(1 / ranks) * slope)  # (1 + 1/k)^(s - 1) - 1
        with np.errstate(invalid="ignore"):
            scaled = np.where(ranks < _FAR, ranks * growth, slope)
        accepted.append(ranks[v * scaled / (2**slope - 1) <= (1 + growth) / 2**slope][:missing])
        missing -= len(accepted[-1])
    every = np.concatenate(accepted)
    counts = np.unique(every[every < _FAR], return_counts=True)[1]
    return np.concatenate([counts, np.ones(np.count_nonzero(every >= _FAR))]).astype(float)


def _simulated_tokens(*collections: ArrayLike) -> list[int]:
    tokens = [float(np.asarray(counts).sum()) for counts in collections]
    scale = min(1.0, MAX_SIMULATED_TOKENS / max(tokens))
    return [max(1, round(size * scale)) for size in tokens]
