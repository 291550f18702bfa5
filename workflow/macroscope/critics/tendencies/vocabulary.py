"""Comparisons of whole vocabularies: rank-frequency and unigrams (meister2021 §5.1, §5.3), from counts in blocks."""

from collections.abc import Callable, Iterator

import numpy as np
from scipy import sparse

from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.rank_frequency import (
    distance_between_ranks,
    distance_to_zipf,
    fit_zipf,
    zipf_p_value,
)
from macroscope.statistics.bootstrap import Array
from macroscope.statistics.jackknife import groups_of, jackknife_interval
from macroscope.statistics.permutation import is_exact, p_value_of, random_memberships
from macroscope.statistics.tidy import UNDEFINED, Row
from macroscope.statistics.total_variation import largest_difference, total_variation

_CELLS_AT_ONCE = 1 << 23


def own_rows(counts: sparse.csr_matrix, options: TendenciesOptions, confidence: float, seed: int) -> list[Row]:
    """Statistics of one collection: vocabulary_size, zipf_s, and zipf_d_own, its distance to its own fit (D_p_theta).

    Parameters
    ----------
    counts
        Blocks of documents x types.
    """

    def statistic(total: Array) -> Array:
        s = fit_zipf(total)
        return np.array([np.count_nonzero(total), s, distance_to_zipf(total, s, options.ranks)])

    (size, s, distance), low, high = jackknife_interval(groups_of(counts), statistic, confidence)
    total, rng = _total(counts), np.random.default_rng(seed)
    p = UNDEFINED if np.isnan(s) else zipf_p_value(total, s, options.ranks, options.simulations, rng, fitted=True)
    return [
        ("vocabulary_size", float(size), float(low[0]), float(high[0]), UNDEFINED),
        ("zipf_s", float(s), float(low[1]), float(high[1]), UNDEFINED),
        ("zipf_d_own", float(distance), *_unit(low[2], high[2]), p),
    ]


def comparison_rows(
    reference: sparse.csr_matrix,
    candidate: sparse.csr_matrix,
    options: TendenciesOptions,
    confidence: float,
    seed: int,
) -> tuple[list[Row], dict[str, Array]]:
    """Statistics of a candidate against a reference, both over the same types and in blocks of the same size.

    Returns
    -------
    rows
        zipf_d_reference (D_p-hat: to the law fitted to the reference), zipf_d_empirical (D_p), tvd_sup (the paper's
        tvd), tvd_half_l1, zipf_s_difference, vocabulary_size_difference (candidate - reference).
    null
        What the permutations gave for each two-sample statistic.
    """
    law = fit_zipf(_total(reference))
    functions = _two_sample(options)
    observed = {name: f(_total(candidate), _total(reference)) for name, f in functions.items()}
    null = {
        name: np.array(values) for name, values in _permuted(candidate, reference, functions, options, seed).items()
    }
    exact = is_exact(candidate.shape[0], reference.shape[0], options.count_permutations)
    low, high = _two_sample_intervals(candidate, reference, functions, confidence)
    rows = [_row_to_law(candidate, law, options, confidence, seed)]
    for name, value in observed.items():
        ends = (low[name], high[name]) if name.endswith("difference") else _unit(low[name], high[name])
        p = p_value_of(value, null[name], exact) if np.isfinite(value) and np.isfinite(null[name]).all() else UNDEFINED
        rows.append((name, value, *ends, p))
    return rows, null


def _two_sample(options: TendenciesOptions) -> dict[str, Callable[[Array, Array], float]]:
    return {
        "zipf_d_empirical": lambda a, b: distance_between_ranks(a, b, options.ranks),
        "zipf_s_difference": lambda a, b: fit_zipf(a) - fit_zipf(b),
        "vocabulary_size_difference": lambda a, b: float(np.count_nonzero(a) - np.count_nonzero(b)),
        "tvd_sup": lambda a, b: _defined(largest_difference, a, b),
        "tvd_half_l1": lambda a, b: _defined(total_variation, a, b),
    }


def _row_to_law(
    candidate: sparse.csr_matrix, law: float, options: TendenciesOptions, confidence: float, seed: int
) -> Row:
    value, low, high = jackknife_interval(
        groups_of(candidate), lambda total: np.array([distance_to_zipf(total, law, options.ranks)]), confidence
    )
    rng = np.random.default_rng(seed)
    p = UNDEFINED
    if not np.isnan(law):
        p = zipf_p_value(_total(candidate), law, options.ranks, options.simulations, rng, fitted=False)
    return ("zipf_d_reference", float(value[0]), *_unit(low[0], high[0]), p)


def _permuted(
    candidate: sparse.csr_matrix,
    reference: sparse.csr_matrix,
    functions: dict[str, Callable[[Array, Array], float]],
    options: TendenciesOptions,
    seed: int,
) -> dict[str, Array]:
    """Every statistic after exchanging blocks between the two sides at random."""
    null: dict[str, list[float]] = {name: [] for name in functions}
    for a, b in _divisions(candidate, reference, options.count_permutations, np.random.default_rng(seed)):
        for name, function in functions.items():
            null[name].append(function(a, b))
    return {name: np.array(values) for name, values in null.items()}


def _divisions(
    candidate: sparse.csr_matrix, reference: sparse.csr_matrix, permutations: int, rng: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    """Counts of both sides after each permutation of the blocks."""
    blocks = sparse.vstack([candidate, reference]).tocsr().astype(float)
    total, by_type = _total(blocks), blocks.T.tocsr()
    at_once = max(1, _CELLS_AT_ONCE // max(1, blocks.shape[1]))
    for inside in random_memberships(blocks.shape[0], candidate.shape[0], permutations, at_once, rng):
        for first in (by_type @ inside.T).T:
            yield first, total - first


def _two_sample_intervals(
    candidate: sparse.csr_matrix,
    reference: sparse.csr_matrix,
    functions: dict[str, Callable[[Array, Array], float]],
    confidence: float,
) -> tuple[dict[str, float], dict[str, float]]:
    """Intervals of two-sample statistics: the jackknife variances of the two sides add up."""
    fixed = (_total(candidate), _total(reference))

    def of_candidate(total: Array) -> Array:
        return np.array([function(total, fixed[1]) for function in functions.values()])

    def of_reference(total: Array) -> Array:
        return np.array([function(fixed[0], total) for function in functions.values()])

    halves = []
    for counts, statistic in ((candidate, of_candidate), (reference, of_reference)):
        value, low, high = jackknife_interval(groups_of(counts), statistic, confidence)
        halves.append((high - low) / 2)
    half = np.hypot(*halves)
    names = list(functions)
    return (
        {name: float(value[i] - half[i]) for i, name in enumerate(names)},
        {name: float(value[i] + half[i]) for i, name in enumerate(names)},
    )


def _defined(distance: Callable[[Array, Array], Array], a: Array, b: Array) -> float:
    return float(distance(a, b)) if a.sum() and b.sum() else UNDEFINED


def _total(counts: sparse.csr_matrix) -> Array:
    return np.asarray(counts.sum(axis=0), dtype=float).ravel()


def _unit(low: float, high: float) -> tuple[float, float]:
    """Ends of an interval of a distance, which lies in [0, 1]."""
    return float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))
