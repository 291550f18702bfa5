"""Comparisons of whole vocabularies: rank-frequency and unigrams (meister2021 §5.1, §5.3), from counts in blocks.

Every statistic is a function of the sums of a side's blocks: of the counts of its types, of its presences (in how many
blocks a type occurs) and of the number of blocks.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from macroscope.critics.tendencies.law_tests import own_law_p_value, reference_law_p_value
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.rank_frequency import (
    Gaps,
    distance_between_ranks,
    distance_to_zipf,
    fit_zipf,
    gaps_between_ranks,
    gaps_to_zipf,
    ranked,
)
from macroscope.critics.tendencies.ranking import zipf_exponent
from macroscope.critics.tendencies.rarefaction import rarefied_size, units_with
from macroscope.statistics.document_sums import Array
from macroscope.statistics.jackknife import groups_of, jackknife_interval
from macroscope.statistics.p_values import p_value_of
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.tidy import UNDEFINED, Row, value_only
from macroscope.statistics.total_variation import largest_difference, total_variation

_CELLS_AT_ONCE = 1 << 23
_IN_UNIT = ("zipf_d_reference", "zipf_d_empirical", "tvd_sup", "tvd_half_l1")
"""Statistics that lie in [0, 1]."""


@dataclass(frozen=True)
class Side:
    """Sums over the blocks of a collection.

    Attributes
    ----------
    counts, presences
        Of every type: its tokens, and the blocks that it occurs in.
    blocks
        Number of blocks.
    """

    counts: Array
    presences: Array
    blocks: float

    @cached_property
    def tokens(self) -> float:
        """Number of tokens."""
        return float(self.counts.sum())

    @cached_property
    def ranked(self) -> Array:
        """Counts of the types that occur, the most frequent first."""
        return ranked(self.counts)

    def size_at(self, tokens: float) -> float:
        """Expected vocabulary of as many of the blocks as have that many tokens."""
        return rarefied_size(self.presences, self.blocks, units_with(tokens, self.blocks, self.tokens))


_MOST_LOGARITHM = 50.0
TwoSample = Callable[[Side, Side], float]
"""(candidate, reference) -> value"""
TwoGaps = Callable[[Side, Side], Gaps]


def own_rows(counts: sparse.csr_matrix, options: TendenciesOptions, confidence: float, seed: int) -> list[Row]:
    """Statistics of one collection.

    Parameters
    ----------
    counts
        Blocks of documents x types.

    Returns
    -------
    rows
        vocabulary_size: types in all texts. zipf_s: exponent of the law. zipf_s_ranked: exponent fitted to the ranked
        counts, which is the paper's. zipf_d_own: distance to the law with that one (D_p_theta).
    """

    def statistic(total: Array) -> Array:
        s = fit_zipf(total)
        return np.array([np.count_nonzero(total), zipf_exponent(total), s, *gaps_to_zipf(total, s, options.ranks)])

    value, low, high = jackknife_interval(groups_of(counts), statistic, confidence)
    p = own_law_p_value(_total(counts), options.ranks, options.simulations, np.random.default_rng(seed))
    names = ("vocabulary_size", "zipf_s", "zipf_s_ranked")
    rows = [(name, float(value[i]), float(low[i]), float(high[i]), UNDEFINED) for i, name in enumerate(names)]
    distance, half = float(value[3:].max()), _half_of_larger(value[3:], high[3:] - value[3:])
    # Where the distance is small by chance, so is its error: the upper end is on the scale of the logarithm.
    high_end = distance * np.exp(np.minimum(half / distance, _MOST_LOGARITHM)) if distance else half
    return [*rows, ("zipf_d_own", distance, *_unit(distance - half, float(high_end)), p)]


def comparison_rows(
    reference: sparse.csr_matrix,
    candidate: sparse.csr_matrix,
    options: TendenciesOptions,
    confidence: float,
    seed: int,
    permutation: Permutation | None = None,
) -> tuple[list[Row], dict[str, Array]]:
    """Statistics of a candidate against a reference, both over the same types and in blocks of the same size.

    Parameters
    ----------
    exchange
        Of blocks of the reference and the candidate, where some have partners.

    Returns
    -------
    rows
        zipf_d_reference (D_p-hat: to the law fitted to the reference), zipf_d_empirical (D_p), tvd_sup (the paper's
        tvd), tvd_half_l1. vocabulary_tokens_compared: tokens of the smaller side; vocabulary_size_compared: the
        candidate's types in that many tokens; vocabulary_size_difference: candidate - reference in that many tokens.
        zipf_s_difference: candidate - reference, less the mean of what exchanging blocks gives, which is what the
        sizes alone make of it.
    null
        What the permutations gave for each two-sample statistic, about its mean where it is a difference.
    """
    sides = (_side(candidate), _side(reference))
    gaps = _gaps(options)
    tested, fixed = _tested(options), _not_permuted(options)
    permutation = permutation or Permutation((reference.shape[0], candidate.shape[0]))
    null = _permuted(candidate, reference, tested, permutation, options, seed)
    halves = _half_widths(candidate, reference, {**tested, **fixed, **gaps}, confidence)
    exact = permutation.is_exact(options.count_permutations)
    rng = np.random.default_rng(seed)
    p = {
        "zipf_d_reference": reference_law_p_value(
            sides[0].counts, sides[1].counts, options.ranks, options.simulations, rng
        )
    }
    rows = [value_only("vocabulary_tokens_compared", _common_tokens(*sides))]
    for name, statistic in (fixed | tested).items():
        value = statistic(*sides)
        if name in tested:
            # Two-tailed tests look at what lies about the mean of chance, which is not 0 where sizes differ.
            centre = float(null[name].mean()) if name.endswith("difference") else 0.0
            null[name] = null[name] - centre
            if np.isfinite(value) and np.isfinite(null[name]).all():
                p[name] = p_value_of(value - centre, null[name], exact)
            value -= centre if name == "zipf_s_difference" else 0.0
        ends = (value - halves[name], value + halves[name])
        rows.append((name, value, *(_unit(*ends) if name in _IN_UNIT else ends), p.get(name, UNDEFINED)))
    return rows, null


def _tested(options: TendenciesOptions) -> dict[str, TwoSample]:
    """Statistics that are tested by exchanging blocks."""
    return {
        "zipf_d_empirical": lambda a, b: distance_between_ranks(a.ranked, b.ranked, options.ranks),
        "zipf_s_difference": lambda a, b: zipf_exponent(a.ranked) - zipf_exponent(b.ranked),
        "vocabulary_size_difference": _size_difference,
        "tvd_sup": lambda a, b: _defined(largest_difference, a, b),
        "tvd_half_l1": lambda a, b: _defined(total_variation, a, b),
    }


def _not_permuted(options: TendenciesOptions) -> dict[str, TwoSample]:
    return {
        "zipf_d_reference": lambda a, b: distance_to_zipf(a.ranked, fit_zipf(b.ranked), options.ranks),
        "vocabulary_size_compared": _size_compared,
    }


def _gaps(options: TendenciesOptions) -> dict[str, TwoGaps]:
    """The two distances, up and down, that a distance between ranks is the larger of."""
    return {
        "zipf_d_empirical": lambda a, b: gaps_between_ranks(a.ranked, b.ranked, options.ranks),
        "zipf_d_reference": lambda a, b: gaps_to_zipf(a.ranked, fit_zipf(b.ranked), options.ranks),
    }


def _common_tokens(a: Side, b: Side) -> float:
    return min(a.tokens, b.tokens)


def _size_compared(side: Side, other: Side) -> float:
    tokens = _common_tokens(side, other)
    return side.size_at(tokens) if tokens else UNDEFINED


def _size_difference(a: Side, b: Side) -> float:
    return _size_compared(a, b) - _size_compared(b, a)


def _permuted(
    candidate: sparse.csr_matrix,
    reference: sparse.csr_matrix,
    functions: dict[str, TwoSample],
    permutation: Permutation,
    options: TendenciesOptions,
    seed: int,
) -> dict[str, Array]:
    """Every statistic after exchanging blocks between the two sides at random."""
    null: dict[str, list[float]] = {name: [] for name in functions}
    rng = np.random.default_rng(seed)
    for sides in _divisions(candidate, reference, permutation, options.count_permutations, rng):
        for name, function in functions.items():
            null[name].append(function(*sides))
    return {name: np.array(values) for name, values in null.items()}


def _divisions(
    candidate: sparse.csr_matrix,
    reference: sparse.csr_matrix,
    permutation: Permutation,
    permutations: int,
    rng: np.random.Generator,
) -> Iterator[tuple[Side, Side]]:
    """Candidate and reference after each exchange of blocks."""
    parts = _with_presences(sparse.vstack([reference, candidate]))
    total = [_total(part) for part in parts]
    at_once = max(1, _CELLS_AT_ONCE // (2 * reference.shape[1] + 1))
    for inside in permutation.memberships(permutations, rng, at_once):
        for counts, presences, blocks in zip(
            *((part.T @ inside.T).T for part in parts), inside.sum(axis=1), strict=True
        ):
            rest = float(inside.shape[1] - blocks)
            yield Side(total[0] - counts, total[1] - presences, rest), Side(counts, presences, float(blocks))


def _half_widths(
    candidate: sparse.csr_matrix,
    reference: sparse.csr_matrix,
    functions: Mapping[str, TwoSample | TwoGaps],
    confidence: float,
) -> dict[str, float]:
    """Half the intervals of two-sample statistics: the jackknife variances of the two sides add up."""
    a, b = _side(candidate), _side(reference)

    def values_of(first: Side, second: Side) -> Array:
        return np.concatenate([np.atleast_1d(function(first, second)) for function in functions.values()])

    halves = []
    for counts, statistic in (
        (candidate, lambda sums: values_of(_unpacked(sums), b)),
        (reference, lambda sums: values_of(a, _unpacked(sums))),
    ):
        values, _, high = jackknife_interval(_grouped(counts), statistic, confidence)
        halves.append(high - values)
    ends = np.cumsum([np.size(function(a, b)) for function in functions.values()])[:-1]
    parts = zip(np.split(values, ends), np.split(np.hypot(*halves), ends), strict=True)
    return {name: _half_of_larger(*part) for name, part in zip(functions, parts, strict=True)}


def _half_of_larger(values: Array, halves: Array) -> float:
    """Half the interval of the largest of some values: the widest of those that may be it.

    The largest value's own is not enough: a distance above the law and one below may be about as large, and one of them
    much less sure.
    """
    if not np.isfinite(halves).all():
        return UNDEFINED
    return float(halves[values + halves >= values.max()].max())


def _with_presences(counts: sparse.csr_matrix) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Counts as real numbers, and presences: blocks x types. The places of what is not 0 are stored once for both."""
    counts = counts.tocsr().astype(float)
    return counts, sparse.csr_matrix(((counts.data > 0).astype(float), counts.indices, counts.indptr), counts.shape)


def _grouped(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """Groups of blocks x (counts, presences, number of blocks), which `_unpacked` sums of become a side."""
    parts = (*_with_presences(counts), sparse.csr_matrix(np.ones((counts.shape[0], 1))))
    return sparse.hstack([groups_of(part) for part in parts]).tocsr()


def _unpacked(sums: Array) -> Side:
    types = len(sums) // 2
    return Side(sums[:types], sums[types:-1], float(sums[-1]))


def _side(counts: sparse.csr_matrix) -> Side:
    tokens, presences = map(_total, _with_presences(counts))
    return Side(tokens, presences, float(counts.shape[0]))


def _defined(distance: Callable[[Array, Array], Array], a: Side, b: Side) -> float:
    return float(distance(a.counts, b.counts)) if a.tokens and b.tokens else UNDEFINED


def _total(counts: sparse.csr_matrix) -> Array:
    return np.asarray(counts.sum(axis=0), dtype=float).ravel()


def _unit(low: float, high: float) -> tuple[float, float]:
    """Ends of an interval of a distance, which lies in [0, 1]."""
    return float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))
