"""Power of a critic's permutation test, by subsampling a pool of documents.

The test is `statistics.joint_test`, of all statistics that the critic declares. Permutations exchange the two sides
within each pair of documents if they are paired, and documents otherwise.

The power at n documents per side is the share of rejections over subsamples of a pool of N documents, without
replacement: a U-statistic, so its mean is the power. Subsamples overlap, more so as f = n / N comes near 1. Let the
statistic be about normal, and rejected with probability Phi(m). A pool shifts the mean of the statistic by an error of
variance f, and its subsamples have only a variance of 1 - f around that. So the share of rejections is Phi((m + error)
/ sqrt(1 - f)), and the interval of m is sqrt(1 - f) times the probit of the share, with a variance of f; the number of
subsamples adds its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from macroscope.statistics.document_features import Array, DocumentFeatures, join_features
from macroscope.statistics.document_groups import ID, Integers
from macroscope.statistics.joint_test import (
    FEWEST,
    CollectionStatistic,
    Divisions,
    joint_p_value,
    largest_mean_difference,
)

Design = Literal["paired", "unpaired"]
DESIGNS: tuple[Design, ...] = ("paired", "unpaired")
LEVEL = 0.05


@dataclass(frozen=True)
class Power:
    """Power of a test.

    Attributes
    ----------
    design
        Whether the documents of both sides are the same ones.
    n
        Number of documents per side.
    value, low, high
        Share of rejections, with its interval.
    pool
        Number of documents that subsamples are from.
    """

    design: Design
    n: int
    value: float
    low: float
    high: float
    pool: int


@dataclass(frozen=True)
class PowerSettings:
    """Settings of an estimate of power.

    Attributes
    ----------
    sizes
        Numbers of documents per side; those beyond the pool are left out.
    repeats, permutations
        Number of subsamples, and of permutations of each.
    confidence
        Level of the intervals.
    seed
        Random seed.
    """

    sizes: tuple[int, ...]
    repeats: int = 200
    permutations: int = 199
    confidence: float = 0.95
    seed: int = 1


def align(first: DocumentFeatures, second: DocumentFeatures) -> tuple[DocumentFeatures, DocumentFeatures]:
    """Return the documents that both sides have, in the same order."""
    places = pd.Index(second.keys[ID]).get_indexer(first.keys[ID])
    is_shared = places >= 0
    return first.subset(np.flatnonzero(is_shared)), second.subset(places[is_shared])


def measure_power(
    reference: DocumentFeatures,
    candidate: DocumentFeatures,
    design: Design,
    settings: PowerSettings,
    statistics: Sequence[CollectionStatistic] = (largest_mean_difference,),
) -> list[Power]:
    """Estimate the power at every size that the pool allows.

    Parameters
    ----------
    reference, candidate
        Features of the same documents, in the same order.
    statistics
        Statistics of the test.

    Returns
    -------
    list of Power
        One per size at which a test has enough documents.
    """
    n_pool, results = len(reference), []
    pool = join_features(reference, candidate)
    comparisons = [statistic(pool) for statistic in statistics]
    for n in settings.sizes:
        used = n if design == "paired" else 2 * n
        if n < FEWEST or used > n_pool:
            continue
        rng = np.random.default_rng([settings.seed, DESIGNS.index(design), n])
        inside, rejected = _divide(design, n, settings.permutations, rng), 0
        groups = np.tile(np.arange(1, n + 1), 2) if design == "paired" else np.zeros(2 * n, dtype=np.int64)
        for _ in range(settings.repeats):
            chosen = rng.permutation(n_pool)[:used]
            divisions = Divisions(_sides_of(chosen, n, n_pool), groups, inside)
            values = np.stack([compare(divisions) for compare in comparisons], axis=1)
            rejected += joint_p_value(values[0], values[1:]) <= LEVEL
        value = rejected / settings.repeats
        low, high = power_interval(value, settings.repeats, n / n_pool, settings.confidence)
        results.append(Power(design, n, value, low, high, n_pool))
    return results


def _sides_of(chosen: Integers, n: int, n_pool: int) -> Integers:
    """Return n documents of the reference and n of the candidate: the same ones if no more are chosen."""
    return np.concatenate([chosen[:n], n_pool + chosen[-n:]])


def _divide(design: Design, n: int, permutations: int, rng: np.random.Generator) -> Array:
    """Return the observed division of n documents per side, and random ones."""
    observed = np.repeat([[1.0, 0.0]], n, axis=1)
    if design == "paired":
        is_kept = rng.integers(0, 2, (permutations, n)).astype(float)
        permuted = np.concatenate([is_kept, 1 - is_kept], axis=1)
    else:
        permuted = rng.permuted(np.tile(observed, (permutations, 1)), axis=1)
    return np.concatenate([observed, permuted])


def power_interval(value: float, repeats: int, overlap: float, confidence: float) -> tuple[float, float]:
    """Return an interval of a power; see the module.

    Parameters
    ----------
    value
        Share of rejections.
    overlap
        Documents per side of a test, as a share of those of the pool, in (0, 1].
    """
    shrunk = (value * repeats + 0.5) / (repeats + 1)
    probit = ndtri(shrunk)
    density = np.exp(-(probit**2) / 2) / np.sqrt(2 * np.pi)
    of_subsamples = shrunk * (1 - shrunk) / repeats / density**2
    centre, variance = np.sqrt(1 - overlap) * probit, overlap + (1 - overlap) * of_subsamples
    half = ndtri((1 + confidence) / 2) * np.sqrt(variance)
    return float(min(value, ndtr(centre - half))), float(max(value, ndtr(centre + half)))


def find_crossing(places: Sequence[float], values: Sequence[float], target: float, logarithmic: bool) -> float:
    """Return the first place at which values, made non-decreasing, reach a target; infinity if they do not.

    Parameters
    ----------
    places
        Increasing places of the values.
    logarithmic
        Whether to interpolate between the logarithms of places.
    """
    rising = np.maximum.accumulate(np.asarray(values, dtype=float))
    reached = np.flatnonzero(rising >= target)
    if not len(reached):
        return float("inf")
    number = int(reached[0])
    if number == 0:
        return float(places[0])
    ends = np.log([places[number - 1], places[number]]) if logarithmic else np.array(places[number - 1 : number + 1])
    share = (target - rising[number - 1]) / (rising[number] - rising[number - 1])
    place = ends[0] + share * (ends[1] - ends[0])
    return float(np.exp(place) if logarithmic else place)


def find_crossings(
    places: Sequence[float], powers: Sequence[tuple[float, float, float]], target: float, logarithmic: bool
) -> tuple[float, float, float]:
    """Return the place at which a power reaches a target, and an interval from the band of the powers' intervals."""
    values, low, high = zip(*powers, strict=True)
    crossings = [find_crossing(places, each, target, logarithmic) for each in (values, high, low)]
    return crossings[0], crossings[1], crossings[2]
