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

The populations' divergence is found by test inversion; see `statistics.intervals_by_inversion`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from macroscope.statistics.bootstrap import percentile_interval
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.divergences import FRONTIER, Frontier, divergences, smoothed
from macroscope.statistics.document_sums import MANY, Array
from macroscope.statistics.intervals_by_inversion import Categories, invert, side_by_side, split, stacked
from macroscope.statistics.latent import Resampling
from macroscope.statistics.p_values import p_value_of
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.tidy import UNDEFINED, Row

RANDOM_HALVES = 200
_OF_POPULATIONS = "divergence of the two populations"
STATISTICS = tuple(
    statistic
    for name in divergences(FRONTIER)
    for statistic in (
        Statistic(
            name,
            "divergence of samples of these sizes, on average",
            "the same distribution over categories on both sides",
            # Functions of forward KL and of 1 - AUC: the same tests again.
            difference=name not in ("exponentiated_kl", "mauve"),
            sized=True,
        ),
        Statistic(f"{name}_corrected", _OF_POPULATIONS),
        Statistic(f"{name}_bias"),
        Statistic(f"{name}_at_half", spans="the divergence between random halves of the two samples"),
        Statistic(f"{name}_floor", spans="the divergence between halves of the sample of real text"),
        Statistic(f"{name}_seed_sd"),
    )
)
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
    reference: Categories,
    candidate: Categories,
    options: DivergenceOptions,
    resampling: Resampling,
    permutation: Permutation | None = None,
) -> list[Row]:
    """Every divergence of two collections, as this module's head says; in nats, larger = more different but for mauve.

    Parameters
    ----------
    reference, candidate
        Counts of both sides under each categorisation, columns in the same order.
    exchange
        Of documents of the reference and the candidate, where some have partners.

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
    intervals = invert(
        reference,
        candidate,
        {name: float(values.mean()) for name, values in observed.items()},
        lambda p, q, known: _means(p, q, replace(options, alpha=0.0) if known else options),
        resampling.resamples,
        resampling.confidence,
        rng,
    )
    sizes = (n // 2, min(m // 2, n - n // 2))
    halves = _gathered(_subsets(reference, candidate, sizes, rng), options)
    floor = _gathered(_disjoint(reference, sizes, rng), options)
    permutation = permutation or Permutation((n, m))
    null = _gathered(permuted(reference, candidate, permutation, options.permutations, rng), options)
    exact = permutation.is_exact(options.permutations)
    found = []
    for name in names:
        value = float(observed[name].mean())
        several = len(reference) > 1 and bool(np.isfinite(value))
        spread = float(observed[name].std(ddof=1)) if several else UNDEFINED
        p = p_value_of(_size(name, value), _size(name, null[name]), exact)
        interval, corrected = intervals[name]
        found += [
            (name, value, *interval, p),
            (f"{name}_corrected", *corrected, UNDEFINED),
            (f"{name}_bias", value - corrected[0], UNDEFINED, UNDEFINED, UNDEFINED),
            (f"{name}_at_half", *_spread(halves[name], resampling.confidence), UNDEFINED),
            (f"{name}_floor", *_spread(floor[name], resampling.confidence), UNDEFINED),
            *([(f"{name}_seed_sd", spread, UNDEFINED, UNDEFINED, UNDEFINED)] if len(reference) > 1 else []),
        ]
    return found


def permuted(
    reference: Categories, candidate: Categories, permutation: Permutation, permutations: int, rng: np.random.Generator
) -> Iterator[tuple[list[Array], list[Array]]]:
    """Counts of both sides after exchanging documents between them; all divisions where there are few.

    Yields
    ------
    two lists, an array draws x categories for each categorisation
    """
    both = stacked(reference, candidate)
    totals = [np.asarray(some.sum(axis=0)).ravel() for some in both]
    if sum(permutation.sizes) > MANY and not permutation.is_exact(permutations):
        drawn = _random_permutations(both, permutation, permutations, rng)
    else:
        drawn = (_sums(both, inside) for inside in permutation.memberships(permutations, rng))
    for first in drawn:
        yield first, [total - some for total, some in zip(totals, first, strict=True)]


def _random_permutations(
    both: Categories, permutation: Permutation, permutations: int, rng: np.random.Generator
) -> Iterator[list[Array]]:
    """Counts of the first side after random exchanges, under each categorisation."""
    from macroscope.statistics.resampled_counts import permuted_counts  # compiled code: slow to import

    for counts in permuted_counts(side_by_side(both), permutation, permutations, rng):
        yield split(counts, both)


def _subsets(
    reference: Categories, candidate: Categories, sizes: tuple[int, int], rng: np.random.Generator
) -> Iterator[tuple[list[Array], list[Array]]]:
    """Random subsets of either side, without replacement."""
    n, m = reference[0].shape[0], candidate[0].shape[0]
    if n + m > MANY:
        parts = (
            _random_permutations(side, Permutation((size, side[0].shape[0] - size)), RANDOM_HALVES, rng)
            for side, size in zip((reference, candidate), sizes, strict=True)
        )
        yield from zip(*parts, strict=True)
        return
    for draws in _chunks(RANDOM_HALVES, n + m):
        (first,), (second,) = _memberships(n, sizes[:1], draws, rng), _memberships(m, sizes[1:], draws, rng)
        yield _sums(reference, first), _sums(candidate, second)


def _disjoint(
    reference: Categories, sizes: tuple[int, int], rng: np.random.Generator
) -> Iterator[tuple[list[Array], list[Array]]]:
    """Two random subsets of the reference without a document in common."""
    if reference[0].shape[0] > MANY:
        from macroscope.statistics.resampled_counts import disjoint_counts  # compiled code: slow to import

        for first, second in disjoint_counts(side_by_side(reference), sizes, RANDOM_HALVES, rng):
            yield split(first, reference), split(second, reference)
        return
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
    parts = [_means(first, second, options) for first, second in draws]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _means(first: list[Array], second: list[Array], options: DivergenceOptions) -> dict[str, Array]:
    """Name -> mean over the categorisations of each draw."""
    return {name: values.mean(axis=1) for name, values in _divergences(first, second, options).items()}


def _size(name: str, values: Any) -> Any:
    """A divergence, or for MAUVE what it lacks to 1, finite so that equal ones can be told."""
    return np.minimum(1 - values if name == "mauve" else values, np.finfo(float).max)


def _spread(values: Array, confidence: float) -> tuple[float, float, float]:
    return float(values.mean()), *percentile_interval(values, confidence)


def _total(side: Categories) -> float:
    return min((float(counts.sum()) for counts in side), default=0.0)
