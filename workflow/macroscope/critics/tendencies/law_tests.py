"""Tests of Zipf's law, by simulation: texts of the law are ranked by their own counts and fitted as the texts were."""

import numpy as np
from numpy.typing import ArrayLike

from macroscope.critics.tendencies.rank_frequency import distance_to_zipf, fit_zipf
from macroscope.critics.tendencies.ranking import zipf_exponent
from macroscope.statistics.document_sums import Array
from macroscope.statistics.p_values import TIE

MOST_SIMULATED_TOKENS = 200_000
"""The larger sample of a simulation has at most this many tokens, and the other one its share of them. Distances shrink
as samples grow, so a larger sample's p-value comes out too large, never too small."""
_FAR = 2.0**52
"""Ranks beyond are not all whole numbers in floating point; no two tokens share one."""
_TRIES = 1.6


def own_law_p_value(counts: ArrayLike, ranks: int, simulations: int, rng: np.random.Generator) -> float:
    """P-value of the distance between counts and the law that was fitted to them (`zipf_d_own`).

    Samples are drawn from the law with the exponent of `ranking.zipf_exponent`, since the fitted one is that of a
    ranked sample, and too large; the law is fitted anew to each.
    """
    s = zipf_exponent(counts)
    if np.isnan(s):
        return float("nan")
    (tokens,) = _simulated_tokens(counts)
    distances, exponents = np.empty(simulations), np.empty(simulations)
    for i in range(simulations):
        sample = zipf_sample(s, tokens, rng)
        distances[i] = distance_to_zipf(sample, fit_zipf(sample), ranks)
        exponents[i] = zipf_exponent(sample)
    return _p_value(distance_to_zipf(counts, fit_zipf(counts), ranks), distances, exponents[:, None] - s)


def reference_law_p_value(
    candidate: ArrayLike, reference: ArrayLike, ranks: int, simulations: int, rng: np.random.Generator
) -> float:
    """P-value of the distance between a candidate and the law fitted to a reference (`zipf_d_reference`).

    Both sides are drawn from the law of the reference, and the law fitted to the drawn reference: its exponent is an
    estimate, and the two sides may differ in size.
    """
    s = zipf_exponent(reference)
    if np.isnan(s):
        return float("nan")
    sizes = _simulated_tokens(candidate, reference)
    distances, exponents = np.empty(simulations), np.empty((simulations, 2))
    for i in range(simulations):
        drawn, fitted = (zipf_sample(s, size, rng) for size in sizes)
        distances[i] = distance_to_zipf(drawn, fit_zipf(fitted), ranks)
        exponents[i] = zipf_exponent(fitted), zipf_exponent(drawn)
    return _p_value(distance_to_zipf(candidate, fit_zipf(reference), ranks), distances, exponents - s)


def _p_value(observed: float, distances: Array, errors: Array) -> float:
    """Share of simulated distances that reach the observed one, had their exponents the errors of the observed one.

    The distance of a ranked sample to a law is mostly what ranking does, and that depends on the exponent. The observed
    distance was made with the law's own exponent s0, and the simulated ones are drawn with its estimate s; so what the
    distances owe to their estimates' errors is there twice, and the test would hardly ever reject. By regression on the
    errors it is taken out: with the error e of the exponent that the law was fitted with, the observed sample was drawn
    at s - e, and fitted with s.

    Parameters
    ----------
    errors
        Simulations x exponents less the one that was drawn with: of the sample that the law was fitted to, and, where
        that is another one, of the sample whose distance it is.
    """
    known = np.isfinite(errors).all(axis=1)  # in a tiny sample no type may occur twice
    distances, errors = distances[known], errors[known]
    if len(distances) <= errors.shape[1] + 1 or not np.isfinite(observed):
        return float("nan")
    design = np.column_stack([np.ones(len(distances)), errors])
    slopes = np.linalg.lstsq(design, distances, rcond=None)[0][1:]
    moved = distances - slopes.sum() * errors[:, 0]
    spread = np.sqrt(len(moved) / (len(moved) - len(slopes)))  # a regression takes some of what is left
    reached = np.count_nonzero(moved.mean() + spread * (moved - moved.mean()) >= observed * (1 - TIE))
    return float((reached + 1) / (len(moved) + 1))


def zipf_sample(s: float, tokens: int, rng: np.random.Generator) -> Array:
    """Counts of the types of `tokens` independent draws from Zipf's law, in no order.

    Devroye's rejection (1986, X.6.1), in floating point: with s near 1, a law has ranks beyond any integer type.
    """
    drawn: list[Array] = []
    missing, slope = tokens, s - 1
    while missing:
        u, v = rng.random((2, int(missing * _TRIES) + 16))
        with np.errstate(over="ignore"):
            ranks = np.floor((1 - u) ** (-1 / slope))
        growth = np.expm1(np.log1p(1 / ranks) * slope)  # (1 + 1/k)^(s - 1) - 1
        with np.errstate(invalid="ignore"):
            scaled = np.where(ranks < _FAR, ranks * growth, slope)
        drawn.append(ranks[v * scaled / (2**slope - 1) <= (1 + growth) / 2**slope][:missing])
        missing -= len(drawn[-1])
    every = np.concatenate(drawn)
    counts = np.unique(every[every < _FAR], return_counts=True)[1]
    return np.concatenate([counts, np.ones(np.count_nonzero(every >= _FAR))]).astype(float)


def _simulated_tokens(*sides: ArrayLike) -> list[int]:
    tokens = [float(np.asarray(side).sum()) for side in sides]
    scale = min(1.0, MOST_SIMULATED_TOKENS / max(tokens))
    return [max(1, round(some * scale)) for some in tokens]
