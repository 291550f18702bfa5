"""Comparisons of whole vocabularies: rank-frequency and unigrams (meister2021 §5.1, §5.3), from counts in blocks.

Every statistic is a function of sums over a collection's blocks: counts of its types, presences (numbers of blocks that
a type occurs in), and the number of blocks.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import gammaln

from macroscope.critics.tendencies.growth import clip_to_unit
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.rank_frequency import (
    Gaps,
    distance_between_ranks,
    distance_to_zipf,
    fit_zipf,
    gaps_between_ranks,
    gaps_to_zipf,
    rank_counts,
)
from macroscope.critics.tendencies.zipf import fitted_law_p_value, reference_law_p_value, zipf_exponent
from macroscope.statistics.divergences import largest_difference, total_variation
from macroscope.statistics.document_features import Array
from macroscope.statistics.jackknife import jackknife_interval, sum_into_groups
from macroscope.statistics.p_values import agree_with_test, p_value_from_null
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.tidy import UNDEFINED, Estimate

COMMON = 1000
_CELLS_AT_ONCE = 1 << 23
_IN_UNIT = ("zipf_d_reference", "zipf_d_empirical", "tvd_sup", "tvd_half_l1")
"""Statistics that lie in [0, 1]."""


@dataclass(frozen=True)
class BlockSums:
    """Sums over the blocks of a collection.

    Attributes
    ----------
    counts, presences
        Number of tokens of every type, and number of blocks that it occurs in.
    blocks
        Number of blocks.
    """

    counts: Array
    presences: Array
    blocks: float

    @cached_property
    def tokens(self) -> float:
        return float(self.counts.sum())

    @cached_property
    def ranked(self) -> Array:
        """Return the counts of the types that occur, the most frequent first."""
        return rank_counts(self.counts)

    @cached_property
    def exponent(self) -> float:
        """Return the exponent of Zipf's law; see `zipf.zipf_exponent`."""
        return zipf_exponent(self.ranked)

    @cached_property
    def fitted_exponent(self) -> float:
        """Return the exponent fitted to the ranked counts; see `rank_frequency.fit_zipf`."""
        return fit_zipf(self.ranked)

    def size_at(self, tokens: float) -> float:
        """Return the expected vocabulary size of the number of blocks that have this many tokens on average."""
        return rarefied_size(self.presences, self.blocks, units_for_tokens(tokens, self.blocks, self.tokens))


_MOST_LOGARITHM = 50.0
TwoSample = Callable[[BlockSums, BlockSums], float]
"""(candidate, reference) -> value"""
TwoGaps = Callable[[BlockSums, BlockSums], Gaps]


def collection_rows(
    counts: sparse.csr_matrix, options: TendenciesOptions, confidence: float, seed: int
) -> list[Estimate]:
    """Compute the statistics of one collection.

    Parameters
    ----------
    counts
        Counts of tokens (blocks of documents x types).

    Returns
    -------
    list of estimates
        vocabulary_size: types in all texts. zipf_s: exponent of the law. zipf_s_ranked: exponent fitted to the ranked
        counts, as in the paper. zipf_d_own: distance to the law with the latter exponent (D_p_theta).
    """

    def statistic(total: Array) -> Array:
        s = fit_zipf(total)
        return np.array([np.count_nonzero(total), zipf_exponent(total), s, *gaps_to_zipf(total, s, options.ranks)])

    value, low, high = jackknife_interval(sum_into_groups(counts), statistic, confidence)
    p = fitted_law_p_value(_total(counts), options.ranks, options.simulations, np.random.default_rng(seed))
    names = ("vocabulary_size", "zipf_s", "zipf_s_ranked")
    estimates = [Estimate(name, float(value[i]), float(low[i]), float(high[i])) for i, name in enumerate(names)]
    distance, half = float(value[3:].max()), _half_of_larger(value[3:], high[3:] - value[3:])
    # If the distance is small by chance, its error is too: the upper end is computed on a logarithmic scale.
    high_end = distance * np.exp(np.minimum(half / distance, _MOST_LOGARITHM)) if distance else half
    return [*estimates, Estimate("zipf_d_own", distance, *clip_to_unit(distance - half, float(high_end)), p)]


def comparison_rows(
    reference: sparse.csr_matrix,
    candidate: sparse.csr_matrix,
    options: TendenciesOptions,
    confidence: float,
    seed: int,
    permutation: Permutation | None = None,
) -> tuple[list[Estimate], dict[str, Array]]:
    """Compare a candidate with a reference, both over the same types and in blocks of the same size.

    Parameters
    ----------
    permutation
        Permutation of the blocks of reference and candidate, if some of them are paired.

    Returns
    -------
    list of estimates
        zipf_d_reference (D_p-hat: to the law fitted to the reference), zipf_d_empirical (D_p), tvd_sup (the paper's
        tvd), tvd_half_l1, tvd_sup_common (tvd_sup of the most common types). vocabulary_tokens_compared: tokens of the
        smaller collection; vocabulary_size_compared: the candidate's types in that many tokens;
        vocabulary_size_difference: candidate - reference in that many tokens. zipf_s_difference: candidate - reference,
        less its mean over permutations of blocks, which is the effect of the collections' sizes alone.
    null
        Values of each two-sample statistic under the permutations; differences are centred at their mean.
    """
    sides = (_sum_blocks(candidate), _sum_blocks(reference))
    gaps = _gaps(options)
    tested, fixed = _tested(options), _not_permuted(options)
    permutation = permutation or Permutation((reference.shape[0], candidate.shape[0]))
    null = _permutation_null(candidate, reference, tested, permutation, options, seed)
    halves = _half_widths(candidate, reference, {**tested, **fixed, **gaps}, confidence)
    exact = permutation.is_exact(options.count_permutations)
    rng = np.random.default_rng(seed)
    p = {
        "zipf_d_reference": reference_law_p_value(
            sides[0].counts, sides[1].counts, options.ranks, options.simulations, rng
        )
    }
    estimates = [
        Estimate("vocabulary_tokens_compared", _common_tokens(*sides)),
        Estimate("tvd_sup_common", _distance_or_undefined(largest_common_difference, *sides)),
    ]
    for name, statistic in (fixed | tested).items():
        value = statistic(*sides)
        if name in tested:
            # Two-tailed tests are centred at the mean under the null, which is not 0 if the sizes differ.
            centre = float(null[name].mean()) if name.endswith("difference") else 0.0
            null[name] = null[name] - centre
            if np.isfinite(value) and np.isfinite(null[name]).all():
                p[name] = p_value_from_null(value - centre, null[name], exact)
            value -= centre if name == "zipf_s_difference" else 0.0
        ends = (value - halves[name], value + halves[name])
        low, high = clip_to_unit(*ends) if name in _IN_UNIT else ends
        estimate = Estimate(name, value, low, high, p.get(name, UNDEFINED))
        estimates.append(agree_with_test(estimate, confidence) if name.endswith("difference") else estimate)
    return estimates, null


def largest_common_difference(p: Array, q: Array) -> Array:
    """Compute `largest_difference` over the union of the `COMMON` most frequent types of both (footnote 15)."""
    ranks = (np.argsort(-counts, kind="stable")[:COMMON] for counts in (p, q))
    common = np.union1d(*ranks)
    return largest_difference(p[common], q[common])


def _tested(options: TendenciesOptions) -> dict[str, TwoSample]:
    return {
        "zipf_d_empirical": lambda a, b: distance_between_ranks(a.ranked, b.ranked, options.ranks),
        "zipf_s_difference": lambda a, b: a.exponent - b.exponent,
        "vocabulary_size_difference": _size_difference,
        "tvd_sup": lambda a, b: _distance_or_undefined(largest_difference, a, b),
        "tvd_half_l1": lambda a, b: _distance_or_undefined(total_variation, a, b),
    }


def _not_permuted(options: TendenciesOptions) -> dict[str, TwoSample]:
    return {
        "zipf_d_reference": lambda a, b: distance_to_zipf(a.ranked, b.fitted_exponent, options.ranks),
        "vocabulary_size_compared": _size_compared,
    }


def _gaps(options: TendenciesOptions) -> dict[str, TwoGaps]:
    """Return the statistics' two one-sided distances, upwards and downwards; the statistic is their maximum."""
    return {
        "zipf_d_empirical": lambda a, b: gaps_between_ranks(a.ranked, b.ranked, options.ranks),
        "zipf_d_reference": lambda a, b: gaps_to_zipf(a.ranked, b.fitted_exponent, options.ranks),
    }


def _common_tokens(a: BlockSums, b: BlockSums) -> float:
    return min(a.tokens, b.tokens)


def _size_compared(a: BlockSums, b: BlockSums) -> float:
    tokens = _common_tokens(a, b)
    return a.size_at(tokens) if tokens else UNDEFINED


def _size_difference(a: BlockSums, b: BlockSums) -> float:
    return _size_compared(a, b) - _size_compared(b, a)


def _permutation_null(
    candidate: sparse.csr_matrix,
    reference: sparse.csr_matrix,
    functions: dict[str, TwoSample],
    permutation: Permutation,
    options: TendenciesOptions,
    seed: int,
) -> dict[str, Array]:
    """Compute every statistic under random permutations of blocks between the two collections."""
    null: dict[str, list[float]] = {name: [] for name in functions}
    rng = np.random.default_rng(seed)
    for sides in _permute_blocks(candidate, reference, permutation, options.count_permutations, rng):
        for name, function in functions.items():
            null[name].append(function(*sides))
    return {name: np.array(values) for name, values in null.items()}


def _permute_blocks(
    candidate: sparse.csr_matrix,
    reference: sparse.csr_matrix,
    permutation: Permutation,
    permutations: int,
    rng: np.random.Generator,
) -> Iterator[tuple[BlockSums, BlockSums]]:
    """Yield candidate and reference after each permutation of blocks."""
    parts = _add_presences(sparse.vstack([reference, candidate]))
    total = [_total(part) for part in parts]
    at_once = max(1, _CELLS_AT_ONCE // (2 * reference.shape[1] + 1))
    for membership in permutation.memberships(permutations, rng, at_once):
        for counts, presences, blocks in zip(
            *((part.T @ membership.T).T for part in parts), membership.sum(axis=1), strict=True
        ):
            rest = float(membership.shape[1] - blocks)
            yield BlockSums(total[0] - counts, total[1] - presences, rest), BlockSums(counts, presences, float(blocks))


def _half_widths(
    candidate: sparse.csr_matrix,
    reference: sparse.csr_matrix,
    functions: Mapping[str, TwoSample | TwoGaps],
    confidence: float,
) -> dict[str, float]:
    """Return the half-widths of two-sample statistics: the jackknife variances of the two collections are added."""
    a, b = _sum_blocks(candidate), _sum_blocks(reference)

    def compute_values(of_candidate: BlockSums, of_reference: BlockSums) -> Array:
        return np.concatenate([np.atleast_1d(function(of_candidate, of_reference)) for function in functions.values()])

    halves = []
    for counts, statistic in (
        (candidate, lambda sums: compute_values(_unpack(sums), b)),
        (reference, lambda sums: compute_values(a, _unpack(sums))),
    ):
        values, _, high = jackknife_interval(_group_blocks(counts), statistic, confidence)
        halves.append(high - values)
    ends = np.cumsum([np.size(function(a, b)) for function in functions.values()])[:-1]
    parts = zip(np.split(values, ends), np.split(np.hypot(*halves), ends), strict=True)
    return {name: _half_of_larger(*part) for name, part in zip(functions, parts, strict=True)}


def _half_of_larger(values: Array, halves: Array) -> float:
    """Return the half-width of the maximum of several values: the largest half-width of those that may be the maximum.

    The half-width of the maximum itself is not enough: a distance above the law and one below may be about equally
    large, with very different errors.
    """
    if not np.isfinite(halves).all():
        return UNDEFINED
    return float(halves[values + halves >= values.max()].max())


def _add_presences(counts: sparse.csr_matrix) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Return counts as floats, and presences (both blocks x types); both share the positions of their entries."""
    counts = counts.tocsr().astype(float)
    return counts, sparse.csr_matrix(((counts.data > 0).astype(float), counts.indices, counts.indptr), counts.shape)


def _group_blocks(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return groups of blocks x (counts, presences, number of blocks); `_unpack` converts sums of them."""
    parts = (*_add_presences(counts), sparse.csr_matrix(np.ones((counts.shape[0], 1))))
    return sparse.hstack([sum_into_groups(part) for part in parts]).tocsr()


def _unpack(sums: Array) -> BlockSums:
    types = len(sums) // 2
    return BlockSums(sums[:types], sums[types:-1], float(sums[-1]))


def _sum_blocks(counts: sparse.csr_matrix) -> BlockSums:
    tokens, presences = map(_total, _add_presences(counts))
    return BlockSums(tokens, presences, float(counts.shape[0]))


def _distance_or_undefined(distance: Callable[[Array, Array], Array], a: BlockSums, b: BlockSums) -> float:
    return float(distance(a.counts, b.counts)) if a.tokens and b.tokens else UNDEFINED


def _total(counts: sparse.csr_matrix) -> Array:
    return np.asarray(counts.sum(axis=0), dtype=float).ravel()


def rarefied_size(presences: ArrayLike, units: float, subset: float) -> float:
    """Return the expected number of types in a random subset of a collection's units (documents or blocks of them).

    Parameters
    ----------
    presences
        n_i, number of units that each type occurs in.
    units
        n, number of units.
    subset
        k, size of the subset; need not be an integer. Values above n are replaced by n.
    """
    present = np.asarray(presences).astype(np.int64)
    present = present[present > 0]
    absence = _absence_probability(np.arange(int(units) + 1, dtype=float), units, min(subset, units))
    return float((1 - absence)[present].sum())


def units_for_tokens(tokens: float, units: float, all_tokens: float) -> float:
    """Return the number of a collection's units that have `tokens` tokens on average; at most all units."""
    return units if tokens >= all_tokens else units * tokens / all_tokens


def _absence_probability(presences: Array, units: float, subset: float) -> Array:
    """Return the probability that no unit of the subset has a type."""
    left = units - presences - subset + 1
    possible = left > 0
    logs = (
        gammaln(units - presences + 1)
        - gammaln(np.where(possible, left, 1.0))
        - gammaln(units + 1)
        + gammaln(units - subset + 1)
    )
    return np.where(possible, np.exp(logs), 0.0)
