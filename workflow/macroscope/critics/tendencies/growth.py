"""Comparisons of type-token curves: Heaps' law of a collection, and its distances length by length (Figures 3, 4)."""

import itertools

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.type_token import (
    HeapsFit,
    distance_between_types,
    distance_to_poisson,
    fit_heaps,
    length_bins,
)
from macroscope.statistics.bootstrap import Array
from macroscope.statistics.jackknife import jackknife_interval_of_texts
from macroscope.statistics.kolmogorov_smirnov import ks_test, monte_carlo_p_value
from macroscope.statistics.multiplicity import benjamini_hochberg
from macroscope.statistics.tidy import UNDEFINED, Row

TYPES = {"heaps": "types", "heaps_bigram": "bigram_types"}
"""Prefix of the statistics -> column of the latents."""
_GROUPS = 50
Mask = NDArray[np.bool_]
Integers = NDArray[np.int64]


def own_rows(texts: pd.DataFrame, prefix: str, options: TendenciesOptions, confidence: float, seed: int) -> list[Row]:
    """<prefix>_alpha, <prefix>_beta, and <prefix>_d_own: the mean over lengths of the distance to the own fit."""
    fit = fit_heaps(texts["tokens"], texts[TYPES[prefix]])
    if fit is None:
        return [_undefined(f"{prefix}_{name}") for name in ("alpha", "beta", "d_own")]
    rows: list[Row] = [(f"{prefix}_{name}", *ends, UNDEFINED) for name, ends in fit.intervals(confidence).items()]
    return [*rows, _law_row(f"{prefix}_d_own", texts, prefix, fit, options, confidence, seed, fitted=True)]


def comparison_rows(
    reference: pd.DataFrame,
    candidate: pd.DataFrame,
    prefix: str,
    options: TendenciesOptions,
    confidence: float,
    seed: int,
) -> list[Row]:
    """<prefix>_d_reference (to the reference's fit, D_p-hat) and <prefix>_d_empirical (to its texts, D_p), means."""
    fit = fit_heaps(reference["tokens"], reference[TYPES[prefix]])
    law = _undefined(f"{prefix}_d_reference")
    if fit is not None:
        law = _law_row(law[0], candidate, prefix, fit, options, confidence, seed, fitted=False)
    return [law, _empirical_row(reference, candidate, prefix, options, confidence, seed)]


def curve(
    reference: pd.DataFrame,
    candidate: pd.DataFrame,
    prefix: str,
    options: TendenciesOptions,
    seed: int,
) -> pd.DataFrame:
    """Mean types and the three distances at every length.

    Returns
    -------
    data frame
        A row a bin of lengths in the candidate: length (the bin's lowest), texts, reference_texts, mean_tokens,
        mean_types, standard_error, d_own, d_reference, d_empirical, p_empirical and p_adjusted (over the lengths);
        distances are NaN where a side has fewer than `min_texts_per_length` texts.
    """
    column = TYPES[prefix]
    own, other = (fit_heaps(side["tokens"], side[column]) for side in (candidate, reference))
    rng = np.random.default_rng(seed)
    in_reference = _by_bin(reference, column, options)
    both = _pooled_law(reference, candidate, column)
    rows = []
    for length, (tokens, types) in _by_bin(candidate, column, options).items():
        there = in_reference.get(length, (np.empty(0), np.empty(0)))
        enough = len(types) >= options.min_texts_per_length
        d_own, d_reference = (
            distance_to_poisson(types, fit.rate(tokens)) if fit and enough else UNDEFINED for fit in (own, other)
        )
        d_empirical, p = UNDEFINED, UNDEFINED
        if enough and len(there[1]) >= options.min_texts_per_length:
            here = _at_length(length, tokens, types, both)
            d_empirical, p = ks_test(here, _at_length(length, *there, both), options.count_permutations, rng)
        error = types.std(ddof=1) / np.sqrt(len(types)) if len(types) > 1 else UNDEFINED
        rows.append(
            (length, len(types), len(there[1]), tokens.mean(), types.mean(), error, d_own, d_reference, d_empirical, p)
        )
    names = ["length", "texts", "reference_texts", "mean_tokens", "mean_types", "standard_error"]
    table = pd.DataFrame(rows, columns=[*names, "d_own", "d_reference", "d_empirical", "p_empirical"])
    return table.assign(p_adjusted=benjamini_hochberg(table["p_empirical"]))


def _law_row(
    name: str,
    texts: pd.DataFrame,
    prefix: str,
    fit: HeapsFit,
    options: TendenciesOptions,
    confidence: float,
    seed: int,
    fitted: bool,
) -> Row:
    """Mean distance to a Poisson law; the p-value's null draws the types of every text from the law."""
    tokens, types = _tokens_and_types(texts, TYPES[prefix])
    bins = _filled_bins(tokens, options)
    if not bins:
        return _undefined(name)

    def distance(types: Array, law: HeapsFit, kept: Mask | None = None) -> float:
        some = bins if kept is None else [where[kept[where]] for where in bins]
        found = [distance_to_poisson(types[where], law.rate(tokens[where])) for where in some]
        return float(np.average(found, weights=[len(where) for where in some]))

    def simulate(rng: np.random.Generator) -> float:
        drawn = rng.poisson(fit.rate(tokens)).astype(float)
        return distance(drawn, (fit_heaps(tokens, drawn) or fit) if fitted else fit)

    value, low, high = jackknife_interval_of_texts(
        len(tokens), lambda kept: distance(types, fit, kept), confidence, _GROUPS
    )
    p = monte_carlo_p_value(value, simulate, options.simulations, np.random.default_rng(seed))
    return (name, value, max(low, 0.0), min(high, 1.0), p)


def _empirical_row(
    reference: pd.DataFrame,
    candidate: pd.DataFrame,
    prefix: str,
    options: TendenciesOptions,
    confidence: float,
    seed: int,
) -> Row:
    """Mean distance to the reference's texts of the same lengths; the null exchanges texts within lengths.

    Types are brought to the bin's length first: else two collections whose lengths differ within a bin would differ in
    types for that alone.
    """
    sides = [_by_bin(side, TYPES[prefix], options) for side in (candidate, reference)]
    law = _pooled_law(reference, candidate, TYPES[prefix])
    least = options.min_texts_per_length
    common = [length for length in sides[0] if length in sides[1]]
    pairs = [
        _numbered(_at_length(length, *sides[0][length], law), _at_length(length, *sides[1][length], law))
        for length in common
        if min(len(side[length][1]) for side in sides) >= least
    ]
    name = f"{prefix}_d_empirical"
    if not pairs:
        return _undefined(name)
    weights = [len(a) for a, _ in pairs]

    def distance(pairs: list[tuple[Integers, Integers]]) -> float:
        return float(np.average([distance_between_types(a, b) for a, b in pairs], weights=weights))

    def simulate(rng: np.random.Generator) -> float:
        shuffled = [rng.permutation(np.concatenate(pair)) for pair in pairs]
        return distance([(s[:n], s[n:]) for s, n in zip(shuffled, weights, strict=True)])

    def without(kept: Mask) -> float:
        ends = np.cumsum([0, *(len(a) + len(b) for a, b in pairs)])
        parts = [kept[start:end] for start, end in itertools.pairwise(ends)]
        return distance([(a[k[: len(a)]], b[k[len(a) :]]) for (a, b), k in zip(pairs, parts, strict=True)])

    texts = sum(len(a) + len(b) for a, b in pairs)
    value, low, high = jackknife_interval_of_texts(texts, without, confidence, _GROUPS)
    p = monte_carlo_p_value(value, simulate, options.count_permutations, np.random.default_rng(seed))
    return (name, value, max(low, 0.0), min(high, 1.0), p)


def _pooled_law(reference: pd.DataFrame, candidate: pd.DataFrame, column: str) -> HeapsFit | None:
    both = pd.concat([reference[["tokens", column]], candidate[["tokens", column]]])
    return fit_heaps(both["tokens"], both[column])


def _at_length(length: float, tokens: Array, types: Array, law: HeapsFit | None) -> Array:
    """Types of some texts, scaled to what they would be at one length."""
    return types if law is None else types * (length / tokens) ** law.beta


def _numbered(first: Array, second: Array) -> tuple[Integers, Integers]:
    """Put the place among all values, in their order, instead of each value: the distance stays, counting is fast."""
    places = np.unique(np.concatenate([first, second]), return_inverse=True)[1]
    return places[: len(first)], places[len(first) :]


def _undefined(name: str) -> Row:
    return (name, UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED)


def _tokens_and_types(texts: pd.DataFrame, column: str) -> tuple[Array, Array]:
    """Tokens and types of the texts that have any."""
    known = texts[(texts["tokens"] > 0) & (texts[column] > 0)]
    return known["tokens"].to_numpy(float), known[column].to_numpy(float)


def _filled_bins(tokens: Array, options: TendenciesOptions) -> list[np.ndarray]:
    """Indices of the texts of every bin of lengths that has enough of them."""
    bins = length_bins(tokens, options.length_bins_per_decade)
    groups = [np.flatnonzero(bins == length) for length in np.unique(bins)]
    return [where for where in groups if len(where) >= options.min_texts_per_length]


def _by_bin(texts: pd.DataFrame, column: str, options: TendenciesOptions) -> dict[float, tuple[Array, Array]]:
    """Tokens and types of the texts of every bin of lengths, the shortest first."""
    tokens, types = _tokens_and_types(texts, column)
    bins = length_bins(tokens, options.length_bins_per_decade)
    return {float(length): (tokens[bins == length], types[bins == length]) for length in np.unique(bins)}
