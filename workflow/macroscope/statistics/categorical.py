"""Divergences between two collections of categories, with what they are worth: intervals, p-values, floors, bias.

A collection is a matrix of counts, documents x categories: one count a document for clusters, several for the section
bigrams or the n-grams of a chain. The same documents may be categorised several times (a clustering under several
seeds); then a divergence is the mean over the categorisations, and their spread is reported. Whatever is resampled is a
document, with all its categories under all categorisations.

A divergence between two samples is biased upward, the more the smaller they are and the more categories there are. So
every divergence comes as

    <name>            the plug-in value, as the field reports it; its interval holds what other samples of these sizes
                      give on average
    <name>_corrected  what the divergence of the two populations is, with an interval that holds it
    <name>_bias       the value minus that
    <name>_at_half    the mean over random halves of both sides, with the range of 95 % of them (or the level asked for)
    <name>_floor      the same for two disjoint halves of the reference: what no difference looks like at that size
    <name>_seed_sd    standard deviation over the categorisations, where there are several

The populations' divergence is found by test inversion along the mixtures of the two samples: documents of either side
are drawn from that side with probability u, and else from both together. u = 0 is no difference, u = 1 the one between
the samples. That mixture whose samples have the observed value on average gives `_corrected`; those of which 2.5 % of
the samples reach it, or fall below it, give the interval.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from macroscope.statistics.bootstrap import Array, percentile_interval
from macroscope.statistics.divergences import FRONTIER, Frontier, divergences, smoothed
from macroscope.statistics.latent import Resampling
from macroscope.statistics.permutation import is_exact, p_value_of, random_memberships
from macroscope.statistics.tidy import UNDEFINED, Row

Categories = Sequence[sparse.csr_matrix]
"""One matrix a categorisation: documents x its categories."""
RANDOM_HALVES = 200
MIXTURES = np.linspace(0, 0.95, 9)
"""Shares u between no difference and the observed one; the resamples are spread over them. At 1 a category that one
side has not would make the populations' KL infinite."""
_WEIGHTS_AT_ONCE = 1 << 24


@dataclass(frozen=True)
class DivergenceOptions:
    """What is computed.

    Attributes
    ----------
    alpha
        Laplace smoothing of both sides (paper: 1).
    frontier
        Of `auc_divergence` and `mauve`.
    permutations
        Behind every p-value.
    """

    alpha: float = 1.0
    frontier: Frontier = FRONTIER
    permutations: int = 1000


def one_hot(labels: NDArray[Any], categories: int) -> sparse.csr_matrix:
    """Counts of documents that have one category each."""
    n = len(labels)
    return sparse.csr_matrix((np.ones(n), (np.arange(n), labels)), shape=(n, categories))


def compare_categories(
    reference: Categories, candidate: Categories, options: DivergenceOptions, resampling: Resampling
) -> list[Row]:
    """Every divergence of two collections, as this module's head says; in nats, larger = more different but for mauve.

    Parameters
    ----------
    reference, candidate
        Counts of both sides under each categorisation, columns in the same order.

    Returns
    -------
    rows
        The p-value stands with the plug-in value: the share of exchanges of documents between the two sides that give
        as large a divergence. NaN where a side has no document or nothing counted.
    """
    names = list(divergences(options.frontier))
    if not (_total(reference) and _total(candidate)):
        ends = ("", "_corrected", "_bias", "_at_half", "_floor", *(["_seed_sd"] if len(reference) > 1 else []))
        return [(f"{name}{end}", UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED) for name in names for end in ends]
    rng = np.random.default_rng(resampling.seed)
    n, m = reference[0].shape[0], candidate[0].shape[0]
    observed = _divergences(_sums(reference, np.ones((1, n))), _sums(candidate, np.ones((1, m))), options)
    mixtures = _mixtures(reference, candidate, options, resampling, rng)
    sizes = (n // 2, min(m // 2, n - n // 2))
    halves = _gathered(_subsets(reference, candidate, sizes, rng), options)
    floor = _gathered(_disjoint(reference, sizes, rng), options)
    null = _gathered(permuted(reference, candidate, options.permutations, rng), options)
    exact = is_exact(n, m, options.permutations)
    found = []
    for name in names:
        value = float(observed[name].mean())
        several = len(reference) > 1 and bool(np.isfinite(value))
        spread = float(observed[name].std(ddof=1)) if several else UNDEFINED
        p = p_value_of(_size(name, value), _size(name, null[name]), exact)
        interval, corrected = mixtures.invert(name, value, resampling.confidence)
        found += [
            (name, value, *interval, p),
            (f"{name}_corrected", *corrected, UNDEFINED),
            (f"{name}_bias", value - corrected[0], UNDEFINED, UNDEFINED, UNDEFINED),
            (f"{name}_at_half", *_spread(halves[name], resampling.confidence), UNDEFINED),
            (f"{name}_floor", *_spread(floor[name], resampling.confidence), UNDEFINED),
            *([(f"{name}_seed_sd", spread, UNDEFINED, UNDEFINED, UNDEFINED)] if len(reference) > 1 else []),
        ]
    return found


@dataclass(frozen=True)
class Mixtures:
    """Samples of mixtures of two collections, from no difference to that between the two.

    Attributes
    ----------
    truth
        Name -> divergence of each mixture, without smoothing.
    draws
        Name -> mixtures x draws: divergences between samples of the mixtures.
    """

    truth: dict[str, Array]
    draws: dict[str, Array]

    def invert(
        self, name: str, value: float, confidence: float
    ) -> tuple[tuple[float, float], tuple[float, float, float]]:
        """Interval of an observed value, and (estimate, low, high) of the populations' divergence."""
        if not (np.isfinite(value) and np.isfinite(self.draws[name]).all()):  # KL without smoothing
            return (UNDEFINED, UNDEFINED), (UNDEFINED, UNDEFINED, UNDEFINED)
        sign = -1.0 if name == "mauve" else 1.0  # upward = more different
        truth, draws, value = sign * self.truth[name], sign * self.draws[name], sign * value
        tail = (1 - confidence) / 2
        means = draws.mean(axis=1)
        low, high = (np.quantile(draws, level, axis=1) for level in (tail, 1 - tail))
        estimate, least, most = (_where(truth, curve, value) for curve in (means, high, low))
        spreads = [np.interp(estimate, truth, curve - means) for curve in (low, high)]
        interval = sorted(sign * (value + spread) for spread in spreads)
        least, most = min(least, estimate), max(most, estimate)
        ends = sorted((sign * least, sign * most))
        lowest, highest = sorted(_range(name))

        def within(number: float) -> float:
            return min(max(float(number), lowest), highest)

        bounds = within(interval[0]), within(interval[1])
        return bounds, (within(sign * estimate), within(ends[0]), within(ends[1]))


def _where(truth: Array, curve: Array, value: float) -> float:
    """Truth at which an increasing curve reaches a value; beyond its ends, nothing smaller, and as much larger."""
    curve = np.maximum.accumulate(curve)
    if value > curve[-1]:
        return float(truth[-1] + value - curve[-1])
    return float(np.interp(value, curve, truth))


def _mixtures(
    reference: Categories,
    candidate: Categories,
    options: DivergenceOptions,
    resampling: Resampling,
    rng: np.random.Generator,
) -> Mixtures:
    both = [sparse.vstack(pair).tocsr() for pair in zip(reference, candidate, strict=True)]
    sizes = (reference[0].shape[0], candidate[0].shape[0])
    own = np.repeat([[1.0, 0.0], [0.0, 1.0]], sizes, axis=1) / np.array(sizes)[:, None]
    draws_each = -(-resampling.resamples // len(MIXTURES))
    exact, drawn = [], []  # the first of `exact` is that of no difference
    for u in MIXTURES:
        probabilities = u * own + (1 - u) / sum(sizes)
        raw = [_sums(both, row[None] * size) for row, size in zip(probabilities, sizes, strict=True)]
        exact.append(_divergences(raw[0], raw[1], replace(options, alpha=0.0)))
        drawn.append(_gathered(_drawn(both, probabilities, sizes, draws_each, rng), options))
    return Mixtures(
        {name: np.array([_range(name)[0], *(some[name].mean() for some in exact[1:])]) for name in exact[0]},
        {name: np.stack([some[name] for some in drawn]) for name in drawn[0]},
    )


def _drawn(
    both: Categories, probabilities: Array, sizes: tuple[int, int], draws: int, rng: np.random.Generator
) -> Iterator[tuple[list[Array], list[Array]]]:
    """Counts of samples with replacement."""
    for some in _chunks(draws, sum(sizes)):
        first, second = (
            _sums(both, rng.multinomial(size, row, some).astype(float))
            for size, row in zip(sizes, probabilities, strict=True)
        )
        yield first, second


def permuted(
    reference: Categories, candidate: Categories, permutations: int, rng: np.random.Generator
) -> Iterator[tuple[list[Array], list[Array]]]:
    """Counts of both sides after exchanging documents between them, sizes kept; all divisions where there are few.

    Yields
    ------
    two lists, an array draws x categories for each categorisation
    """
    both = [sparse.vstack(pair).tocsr() for pair in zip(reference, candidate, strict=True)]
    n, units = reference[0].shape[0], both[0].shape[0]
    totals = [np.asarray(some.sum(axis=0)).ravel() for some in both]
    for inside in random_memberships(units, n, permutations, max(1, _WEIGHTS_AT_ONCE // units), rng):
        first = _sums(both, inside)
        yield first, [total - some for total, some in zip(totals, first, strict=True)]


def _subsets(
    reference: Categories, candidate: Categories, sizes: tuple[int, int], rng: np.random.Generator
) -> Iterator[tuple[list[Array], list[Array]]]:
    """Random subsets of either side, without replacement."""
    n, m = reference[0].shape[0], candidate[0].shape[0]
    for draws in _chunks(RANDOM_HALVES, n + m):
        (first,), (second,) = _memberships(n, sizes[:1], draws, rng), _memberships(m, sizes[1:], draws, rng)
        yield _sums(reference, first), _sums(candidate, second)


def _disjoint(
    reference: Categories, sizes: tuple[int, int], rng: np.random.Generator
) -> Iterator[tuple[list[Array], list[Array]]]:
    """Two random subsets of the reference without a document in common."""
    for draws in _chunks(RANDOM_HALVES, reference[0].shape[0]):
        first, second = _memberships(reference[0].shape[0], sizes, draws, rng)
        yield _sums(reference, first), _sums(reference, second)


def _chunks(draws: int, units: int) -> Iterator[int]:
    """Numbers of draws whose weights fit into memory."""
    at_once = max(1, _WEIGHTS_AT_ONCE // max(1, units))
    for start in range(0, draws, at_once):
        yield min(at_once, draws - start)


def _memberships(units: int, sizes: tuple[int, ...], draws: int, rng: np.random.Generator) -> list[Array]:
    """For each size, rows of zeros and ones with so many ones, one a draw; no unit in two of the same draw."""
    ranks = rng.permuted(np.tile(np.arange(units), (draws, 1)), axis=1)
    ends = np.cumsum((0, *sizes))
    return [((ranks >= low) & (ranks < high)).astype(float) for low, high in pairwise(ends)]


def _sums(side: Categories, weights: Array) -> list[Array]:
    """Weighted counts of the categories: draws x categories for each categorisation."""
    return [np.ascontiguousarray((counts.T @ weights.T).T) for counts in side]


def _divergences(first: list[Array], second: list[Array], options: DivergenceOptions) -> dict[str, Array]:
    """Name -> draws x categorisations."""
    pairs = [(smoothed(p, options.alpha), smoothed(q, options.alpha)) for p, q in zip(first, second, strict=True)]
    names = divergences(options.frontier)
    # The two that share the frontier share its arithmetic.
    found = {name: [function(p, q) for p, q in pairs] for name, function in names.items() if name != "mauve"}
    found["mauve"] = [1 - values for values in found["auc_divergence"]]
    return {name: np.stack(found[name], axis=-1) for name in names}


def _gathered(draws: Iterator[tuple[list[Array], list[Array]]], options: DivergenceOptions) -> dict[str, Array]:
    """Name -> mean over the categorisations of each draw."""
    parts = [_divergences(first, second, options) for first, second in draws]
    return {name: np.concatenate([part[name].mean(axis=1) for part in parts]) for name in parts[0]}


def _size(name: str, values: Any) -> Any:
    """A divergence, or for MAUVE what it lacks to 1, finite so that equal ones can be told."""
    return np.minimum(1 - values if name == "mauve" else values, np.finfo(float).max)


def _range(name: str) -> tuple[float, float]:
    """Value of a divergence where nothing differs, and where everything does."""
    most = {"jensen_shannon": float(np.log(2)), "auc_divergence": 1.0, "frontier_integral": 1.0}
    ends = {"mauve": (1.0, 0.0), "exponentiated_kl": (1.0, float("inf"))}
    return ends.get(name, (0.0, most.get(name, float("inf"))))


def _spread(values: Array, confidence: float) -> tuple[float, float, float]:
    return float(values.mean()), *percentile_interval(values, confidence)


def _total(side: Categories) -> float:
    return min((float(counts.sum()) for counts in side), default=0.0)
