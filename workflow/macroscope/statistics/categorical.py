"""Divergences between two collections of categories, with intervals, p-values, floors and bias.

A collection is a matrix of counts, documents x categories: one count per document for clusters, several for section
bigrams or the n-grams of a chain. The same documents may be categorised several times (a clustering under several
seeds). A divergence is then the mean over the categorisations, and their spread is reported. The unit of resampling is
the document, with all its categories under all categorisations.

A divergence between two samples is biased upward. The bias grows with the number of categories and falls with the
sample size. Every divergence therefore comes as

    <name>            the plug-in value, as the field reports it; its interval holds the mean over other samples
                      of these sizes
    <name>_corrected  the estimated divergence of the two populations, with an interval that holds it
    <name>_bias       the plug-in value minus the estimate
    <name>_at_half    the mean over random halves of both samples, with the range of 95 % of them (or the level of the
                      intervals)
    <name>_floor      the same for two disjoint halves of the reference: the value if nothing differs, at that size
    <name>_seed_sd    standard deviation over the categorisations, if there are several

The populations' divergence is found by test inversion; see `statistics.intervals_by_inversion`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from macroscope.options import Resampling
from macroscope.statistics.bootstrap import percentile_interval
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.divergences import FRONTIER, Frontier, divergences, smooth_counts
from macroscope.statistics.document_features import MANY, Array
from macroscope.statistics.intervals_by_inversion import (
    Categories,
    invert_tests,
    join_categorisations,
    split_categorisations,
    stack_samples,
)
from macroscope.statistics.p_values import agree_with_test, p_value_from_null
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.tidy import UNDEFINED, Estimate

RANDOM_HALVES = 200
_EQUAL = {"exponentiated_kl": 1.0, "mauve": 1.0}
"""Values of the divergences of equal distributions, where they are not 0."""
_OF_POPULATIONS = "divergence of the two populations"
STATISTICS: tuple[Statistic, ...] = tuple(
    statistic
    for name in divergences(FRONTIER)
    for statistic in (
        Statistic(
            name,
            "divergence of samples of these sizes, on average",
            "the same distribution over categories on both sides",
            # Functions of forward KL and of 1 - AUC: their tests are the same.
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
    """Options of the divergences.

    Attributes
    ----------
    alpha
        Laplace smoothing of both samples (paper: 1).
    frontier
        Frontier of `auc_divergence` and `mauve`.
    permutations
        Number of permutations behind every p-value.
    """

    alpha: float = 1.0
    frontier: Frontier = FRONTIER
    permutations: int = 1000


def one_hot(labels: NDArray[Any], categories: int) -> sparse.csr_matrix:
    """Return the counts of documents that have one category each: documents x categories."""
    n = len(labels)
    return sparse.csr_matrix((np.ones(n), (np.arange(n), labels)), shape=(n, categories))


def compare_categories(
    reference: Categories,
    candidate: Categories,
    options: DivergenceOptions,
    resampling: Resampling,
    permutation: Permutation | None = None,
) -> list[Estimate]:
    """Compute every divergence of two collections, as the module describes.

    Values are in nats; larger is more different, except for MAUVE.

    Parameters
    ----------
    reference, candidate
        Counts of both samples under each categorisation, columns in the same order.
    permutation
        Permutations of documents between the samples. Default: no document is paired.

    Returns
    -------
    list of estimates
        The p-value is that of the plug-in value: the share of permutations of documents between the samples that
        give as large a divergence. NaN if a sample has no document or no count.
    """
    names = list(divergences(options.frontier))
    if not (_smallest_total(reference) and _smallest_total(candidate)):
        ends = ("", "_corrected", "_bias", "_at_half", "_floor", *(["_seed_sd"] if len(reference) > 1 else []))
        return [Estimate(f"{name}{end}", UNDEFINED) for name in names for end in ends]
    rng = np.random.default_rng(resampling.seed)
    n, m = reference[0].shape[0], candidate[0].shape[0]
    observed = _divergences(_sums(reference, np.ones((1, n))), _sums(candidate, np.ones((1, m))), options)
    intervals = invert_tests(
        reference,
        candidate,
        {name: float(values.mean()) for name, values in observed.items()},
        lambda p, q, is_population: _means(p, q, replace(options, alpha=0.0) if is_population else options),
        resampling.resamples,
        resampling.confidence,
        rng,
    )
    sizes = (n // 2, min(m // 2, n - n // 2))
    halves = _concatenated_means(_random_halves(reference, candidate, sizes, rng), options)
    floor = _concatenated_means(_disjoint_halves(reference, sizes, rng), options)
    permutation = permutation or Permutation((n, m))
    null = _concatenated_means(permute_counts(reference, candidate, permutation, options.permutations, rng), options)
    exact = permutation.is_exact(options.permutations)
    estimates = []
    for name in names:
        value = float(observed[name].mean())
        has_spread = len(reference) > 1 and bool(np.isfinite(value))
        spread = float(observed[name].std(ddof=1)) if has_spread else UNDEFINED
        p = p_value_from_null(_comparable(name, value), _comparable(name, null[name]), exact)
        interval, corrected = intervals[name]
        estimates += [
            Estimate(name, value, *interval, p),
            agree_with_test(Estimate(f"{name}_corrected", *corrected), resampling.confidence, _EQUAL.get(name, 0.0), p),
            Estimate(f"{name}_bias", value - corrected[0]),
            Estimate(f"{name}_at_half", *_spread(halves[name], resampling.confidence)),
            Estimate(f"{name}_floor", *_spread(floor[name], resampling.confidence)),
            *([Estimate(f"{name}_seed_sd", spread)] if len(reference) > 1 else []),
        ]
    return estimates


def permute_counts(
    reference: Categories, candidate: Categories, permutation: Permutation, permutations: int, rng: np.random.Generator
) -> Iterator[tuple[list[Array], list[Array]]]:
    """Yield counts of both samples after permutations of documents between them; all divisions if there are few.

    Yields
    ------
    two lists
        One array draws x categories for each categorisation.
    """
    both = stack_samples(reference, candidate)
    totals = [np.asarray(counts.sum(axis=0)).ravel() for counts in both]
    if sum(permutation.sizes) > MANY and not permutation.is_exact(permutations):
        permuted = _random_permutations(both, permutation, permutations, rng)
    else:
        permuted = (_sums(both, inside) for inside in permutation.memberships(permutations, rng))
    for first in permuted:
        yield first, [total - counts for total, counts in zip(totals, first, strict=True)]


def _random_permutations(
    both: Categories, permutation: Permutation, permutations: int, rng: np.random.Generator
) -> Iterator[list[Array]]:
    """Yield counts of the first sample after random permutations, under each categorisation."""
    from macroscope.statistics.resampled_counts import permuted_counts  # compiled code: slow to import

    for counts in permuted_counts(join_categorisations(both), permutation, permutations, rng):
        yield split_categorisations(counts, both)


def _random_halves(
    reference: Categories, candidate: Categories, sizes: tuple[int, int], rng: np.random.Generator
) -> Iterator[tuple[list[Array], list[Array]]]:
    """Yield counts of random subsets of both samples, without replacement."""
    n, m = reference[0].shape[0], candidate[0].shape[0]
    if n + m > MANY:
        parts = (
            _random_permutations(sample, Permutation((size, sample[0].shape[0] - size)), RANDOM_HALVES, rng)
            for sample, size in zip((reference, candidate), sizes, strict=True)
        )
        yield from zip(*parts, strict=True)
        return
    for draws in _batch_sizes(RANDOM_HALVES, n + m):
        (of_reference,), (of_candidate,) = (
            _memberships(n, sizes[:1], draws, rng),
            _memberships(m, sizes[1:], draws, rng),
        )
        yield _sums(reference, of_reference), _sums(candidate, of_candidate)


def _disjoint_halves(
    reference: Categories, sizes: tuple[int, int], rng: np.random.Generator
) -> Iterator[tuple[list[Array], list[Array]]]:
    """Yield counts of two random subsets of the reference without a document in common."""
    if reference[0].shape[0] > MANY:
        from macroscope.statistics.resampled_counts import disjoint_counts  # compiled code: slow to import

        for first, second in disjoint_counts(join_categorisations(reference), sizes, RANDOM_HALVES, rng):
            yield split_categorisations(first, reference), split_categorisations(second, reference)
        return
    for draws in _batch_sizes(RANDOM_HALVES, reference[0].shape[0]):
        first, second = _memberships(reference[0].shape[0], sizes, draws, rng)
        yield _sums(reference, first), _sums(reference, second)


def _batch_sizes(draws: int, units: int) -> Iterator[int]:
    """Yield batch sizes whose weights fit into memory."""
    at_once = max(1, _WEIGHTS_AT_ONCE // max(1, units))
    for start in range(0, draws, at_once):
        yield min(at_once, draws - start)


def _memberships(units: int, sizes: tuple[int, ...], draws: int, rng: np.random.Generator) -> list[Array]:
    """Return random memberships for each size: draws x units, 0 or 1; a unit is in at most one subset of a draw."""
    ranks = rng.permuted(np.tile(np.arange(units), (draws, 1)), axis=1)
    ends = np.cumsum((0, *sizes))
    return [((ranks >= low) & (ranks < high)).astype(float) for low, high in pairwise(ends)]


def _sums(sample: Categories, weights: Array) -> list[Array]:
    """Return weighted counts of the categories: draws x categories for each categorisation."""
    return [np.ascontiguousarray((counts.T @ weights.T).T) for counts in sample]


def _divergences(reference: list[Array], candidate: list[Array], options: DivergenceOptions) -> dict[str, Array]:
    """Return divergences by name: draws x categorisations."""
    pairs = [
        (smooth_counts(p, options.alpha), smooth_counts(q, options.alpha))
        for p, q in zip(reference, candidate, strict=True)
    ]
    names = divergences(options.frontier)
    # Both frontier measures need the same arithmetic.
    values = {name: [function(p, q) for p, q in pairs] for name, function in names.items() if name != "mauve"}
    values["mauve"] = [1 - areas for areas in values["auc_divergence"]]
    return {name: np.stack(values[name], axis=-1) for name in names}


def _concatenated_means(
    draws: Iterator[tuple[list[Array], list[Array]]], options: DivergenceOptions
) -> dict[str, Array]:
    """Return the mean over the categorisations of each draw, by name."""
    parts = [_means(reference, candidate, options) for reference, candidate in draws]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _means(reference: list[Array], candidate: list[Array], options: DivergenceOptions) -> dict[str, Array]:
    return {name: values.mean(axis=1) for name, values in _divergences(reference, candidate, options).items()}


def _comparable(name: str, values: Any) -> Any:
    """Return divergences, for MAUVE 1 minus it; infinite values become the largest number, so that they tie."""
    return np.minimum(1 - values if name == "mauve" else values, np.finfo(float).max)


def _spread(values: Array, confidence: float) -> tuple[float, float, float]:
    return float(values.mean()), *percentile_interval(values, confidence)


def _smallest_total(sample: Categories) -> float:
    return min((float(counts.sum()) for counts in sample), default=0.0)
