"""Simulation tests of Zipf's law: samples of the law are ranked by their own counts and fitted as the texts are."""

import numpy as np
from numpy.typing import ArrayLike

from macroscope.critics.tendencies.rank_frequency import distance_to_zipf, fit_zipf
from macroscope.critics.tendencies.ranking import zipf_exponent
from macroscope.statistics.document_features import Array
from macroscope.statistics.p_values import TIE

MAX_SIMULATED_TOKENS = 200_000
"""Largest number of tokens in a simulated sample; the other sample is scaled by the same factor. Distances shrink as
samples grow, so the p-value of larger collections is too large, never too small."""
_FAR = 2.0**52
"""Largest exactly represented rank: beyond it, every token is counted as a type of its own."""
_TRIES = 1.6


def fitted_law_p_value(counts: ArrayLike, ranks: int, simulations: int, rng: np.random.Generator) -> float:
    """Compute the p-value of the distance between counts and the law fitted to them (`zipf_d_own`).

    Samples come from the law with the exponent of `ranking.zipf_exponent`, since the fitted exponent is biased upwards
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
