"""Power of a permutation test on a critic's features of documents, by subsampling a pool of documents.

The usual test. Every number is replaced by its normal score among all documents of both sides, and the square of that;
bags of names by the normal scores of the shares of frequent names. The statistic is the largest difference of means
over these columns, each in units of its own spread: the largest of the critic's differences (Westfall and Young 1993,
max T). Its p-value is by permutation: of the two sides within each pair of documents if they are paired, of documents
otherwise. Scores and columns depend on the documents of both sides, not on which side each is of: the test is exact.

A critic that compares collections as wholes may declare a statistic of its own (`CollectionStatistic`), such as an
energy distance between embeddings. Its test is by the same permutations, of the features as they are.

The power at n documents per side is the share of rejections over subsamples of a pool of N documents, without
replacement: a U-statistic, so its mean is the power. Subsamples overlap, more so as f = n / N comes near 1. Let the
statistic be about normal, and rejected with probability Phi(m). A pool shifts the mean of the statistic by an error of
variance f, and its subsamples have only a variance of 1 - f around that. So the share of rejections is Phi((m + error)
/ sqrt(1 - f)), and the interval of m is sqrt(1 - f) times the probit of the share, with a variance of f; the number of
subsamples adds its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from macroscope.statistics.classifier_two_sample_test import count_names, normal_scores, reduce_features
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.document_groups import Integers
from macroscope.statistics.document_sums import Array
from macroscope.statistics.p_values import TIE
from macroscope.statistics.pairing_keys import ID

CollectionStatistic = Callable[[Array], Callable[[Integers, Array], Array]]
"""Documents x features of a pool -> function of (numbers of the documents of both sides, assignments x these documents:
1 on the first side, 0 on the second), which returns a value per assignment; larger values are of more different sides.
What the pool alone determines, such as distances, is computed once."""
Design = Literal["paired", "unpaired"]
DESIGNS: tuple[Design, ...] = ("paired", "unpaired")
LEVEL = 0.05
MOST_NAMES = 200
"""Number of the most frequent names of a bag whose shares are features."""
FEWEST = 5
"""Smallest number of documents per side: fewer cannot reach the level by exchanges within pairs."""


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


def standardise(first: DocumentFeatures, second: DocumentFeatures) -> tuple[Array, Array]:
    """Return the columns of the test for both sides; see the module. Constant columns are left out."""
    numbers = reduce_features(np.concatenate([first.numbers, second.numbers]).astype(float))
    columns = [normal_scores(numbers, numbers)]
    for of_first, of_second in zip(first.bags, second.bags, strict=True):
        counts = count_names([*of_first, *of_second])
        frequent = np.argsort(-np.asarray(counts.sum(axis=0)).ravel(), kind="stable")[:MOST_NAMES]
        sizes = np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1)
        shares = counts[:, frequent].toarray() / sizes[:, None]
        columns.append(normal_scores(shares, shares)[:, ::2])  # without the squares
    scores = np.concatenate(columns, axis=1)
    scores = scores[:, scores.std(axis=0) > 0]
    return scores[: len(first)], scores[len(first) :]


def measure_power(
    first: Array, second: Array, design: Design, settings: PowerSettings, statistic: CollectionStatistic | None = None
) -> list[Power]:
    """Estimate the power at every size that the pool allows.

    Parameters
    ----------
    first, second
        Documents x columns, of the same documents in the same order.
    statistic
        Statistic of the test; None: the largest difference of a column's means.

    Returns
    -------
    list of Power
        One per size at which a test has enough documents.
    """
    n_pool, results = len(first), []
    compare = None if statistic is None else statistic(np.concatenate([first, second]))
    for n in settings.sizes:
        used = n if design == "paired" else 2 * n
        if n < FEWEST or used > n_pool:
            continue
        rng = np.random.default_rng([settings.seed, DESIGNS.index(design), n])
        make_test = _TESTS[design] if compare is None else partial(_collection_test, compare, design)
        rejects = make_test(n, settings.permutations, rng)
        value = float(
            np.mean([rejects(first, second, rng.permutation(n_pool)[:used]) for _ in range(settings.repeats)])
        )
        low, high = power_interval(value, settings.repeats, n / n_pool, settings.confidence)
        results.append(Power(design, n, value, low, high, n_pool))
    return results


Test = Callable[[Array, Array, Integers], bool]


def _paired_test(n: int, permutations: int, rng: np.random.Generator) -> Test:
    signs = rng.choice([-1.0, 1.0], (permutations, n))

    def rejects(first: Array, second: Array, documents: Integers) -> bool:
        differences = second[documents] - first[documents]
        return _is_significant(differences.sum(axis=0), signs @ differences, np.sqrt((differences**2).sum(axis=0)))

    return rejects


def _unpaired_test(n: int, permutations: int, rng: np.random.Generator) -> Test:
    signs = rng.permuted(np.tile(np.repeat([-1.0, 1.0], n), (permutations, 1)), axis=1)

    def rejects(first: Array, second: Array, documents: Integers) -> bool:
        values = np.concatenate([first[documents[:n]], second[documents[n:]]])
        values = values - values.mean(axis=0)
        observed = values[n:].sum(axis=0) - values[:n].sum(axis=0)
        return _is_significant(observed, signs @ values, np.sqrt((values**2).sum(axis=0)))

    return rejects


_TESTS: dict[Design, Callable[[int, int, np.random.Generator], Test]] = {
    "paired": _paired_test,
    "unpaired": _unpaired_test,
}


def _collection_test(
    compare: Callable[[Integers, Array], Array], design: Design, n: int, permutations: int, rng: np.random.Generator
) -> Test:
    observed = np.repeat([[1.0, 0.0]], n, axis=1)
    if design == "paired":
        is_kept = rng.integers(0, 2, (permutations, n)).astype(float)
        permuted = np.concatenate([is_kept, 1 - is_kept], axis=1)
    else:
        permuted = rng.permuted(np.tile(observed, (permutations, 1)), axis=1)
    sides = np.concatenate([observed, permuted])

    def rejects(first: Array, second: Array, documents: Integers) -> bool:
        values = compare(np.concatenate([documents[:n], len(first) + documents[-n:]]), sides)
        reached = np.count_nonzero(values[1:] >= values[0] - TIE * max(1.0, abs(values[0])))
        return bool((reached + 1) / len(values) <= LEVEL)

    return rejects


def _is_significant(observed: Array, permuted: Array, spreads: Array) -> bool:
    """Return whether the largest column reaches the level; a column without spread cannot."""
    is_spread = spreads > 1e-9
    if not is_spread.any():
        return False
    value = (np.abs(observed[is_spread]) / spreads[is_spread]).max()
    null = (np.abs(permuted[:, is_spread]) / spreads[is_spread]).max(axis=1)
    reached = int(np.count_nonzero(null >= value - TIE * max(1.0, value)))
    return (reached + 1) / (len(null) + 1) <= LEVEL


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
