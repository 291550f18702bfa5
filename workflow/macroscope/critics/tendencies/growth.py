"""Comparisons of type-token curves: Heaps' law of a collection, and its distances length by length (Figures 3, 4).

Lengths that fewer than `min_texts_per_length` texts have are looked at nowhere but in the fit of the law. Intervals
come from leaving out documents, a group at a time: texts vary less than the law says, and those of one document go
together. A length that a group takes all texts from is left out with it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

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
from macroscope.statistics.document_sums import Array
from macroscope.statistics.jackknife import jackknife_interval_of_texts
from macroscope.statistics.kolmogorov_smirnov import ks_distance, ks_test, monte_carlo_p_value
from macroscope.statistics.p_values import TIE, benjamini_hochberg
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.tidy import UNDEFINED, Row

TYPES = {"heaps": "types", "heaps_bigram": "bigram_types"}
"""Prefix of the statistics -> column of the latents."""
_GROUPS = 50
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Growth:
    """Tokens and types of the texts of a collection that have any.

    Attributes
    ----------
    tokens, types
        Of each text.
    blocks
        Block of documents of each text.
    """

    tokens: Array
    types: Array
    blocks: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, some: NDArray[np.generic]) -> "Growth":
        return Growth(self.tokens[some], self.types[some], self.blocks[some])

    def fit(self) -> HeapsFit | None:
        """Heaps' law, where there are two lengths."""
        return fit_heaps(self.tokens, self.types)

    def drawn(self, law: HeapsFit, rng: np.random.Generator) -> "Growth":
        """Texts of the same lengths whose types come from a law."""
        return Growth(self.tokens, rng.poisson(law.rate(self.tokens)).astype(float), self.blocks)

    def by_length(self, options: TendenciesOptions) -> dict[float, NDArray[np.int64]]:
        """Lowest length of each bin with enough texts -> their indices; the shortest first."""
        bins = length_bins(self.tokens, options.length_bins_per_decade)
        found = {float(length): np.flatnonzero(bins == length) for length in np.unique(bins)}
        return {length: texts for length, texts in found.items() if len(texts) >= options.min_texts_per_length}


def growth_of(texts: pd.DataFrame, prefix: str) -> Growth:
    """Tokens and types of the latents of some texts."""
    column = TYPES[prefix]
    known = texts[(texts["tokens"] > 0) & (texts[column] > 0)]
    return Growth(known["tokens"].to_numpy(float), known[column].to_numpy(float), known["block"].to_numpy(np.int64))


def own_rows(texts: pd.DataFrame, prefix: str, options: TendenciesOptions, confidence: float, seed: int) -> list[Row]:
    """<prefix>_alpha, <prefix>_beta, and <prefix>_d_own: the mean over lengths of the distance to the own fit."""
    growth = growth_of(texts, prefix)
    fit = growth.fit()
    if fit is None:
        return [_undefined(f"{prefix}_{name}") for name in ("alpha", "beta", "d_own")]

    def parameters(kept: Mask) -> Array:
        law = growth[kept].fit()
        return np.array([np.log(law.alpha), law.beta]) if law else np.full(2, UNDEFINED)

    _, low, high = jackknife_interval_of_texts(growth.blocks, parameters, confidence, _GROUPS)
    rows: list[Row] = [
        (f"{prefix}_alpha", fit.alpha, float(np.exp(low[0])), float(np.exp(high[0])), UNDEFINED),
        (f"{prefix}_beta", fit.beta, float(low[1]), float(high[1]), UNDEFINED),
    ]
    lengths = growth.by_length(options)
    if not lengths:
        return [*rows, _undefined(f"{prefix}_d_own")]

    def distance(some: Growth, kept: Mask | None = None) -> float:
        law = (some if kept is None else some[kept]).fit()
        return _distance_to_law(some, law, lengths, kept) if law else UNDEFINED

    value, low, high = jackknife_interval_of_texts(growth.blocks, partial(distance, growth), confidence, _GROUPS)
    p = _simulated_p(float(value), lambda rng: distance(growth.drawn(fit, rng)), options.simulations, seed)
    return [*rows, (f"{prefix}_d_own", float(value), *_unit(low, high), p)]


def comparison_rows(
    reference: pd.DataFrame,
    candidate: pd.DataFrame,
    prefix: str,
    options: TendenciesOptions,
    confidence: float,
    seed: int,
    permutation: Permutation | None = None,
) -> list[Row]:
    """<prefix>_d_reference (to the reference's fit, D_p-hat) and <prefix>_d_empirical (to its texts, D_p), means.

    Parameters
    ----------
    exchange
        Of blocks of the reference and the candidate, where some have partners.
    """
    permutation = permutation or Permutation((int(reference["block"].max()) + 1, int(candidate["block"].max()) + 1))
    sides = growth_of(reference, prefix), growth_of(candidate, prefix)
    return [
        _reference_row(f"{prefix}_d_reference", *sides, options, confidence, seed),
        _empirical_row(f"{prefix}_d_empirical", *sides, options, confidence, seed, permutation),
    ]


def curve(
    reference: pd.DataFrame,
    candidate: pd.DataFrame,
    prefix: str,
    options: TendenciesOptions,
    seed: int,
    permutation: Permutation | None = None,
) -> pd.DataFrame:
    """Mean types and the three distances at every length that enough texts of the candidate have.

    Parameters
    ----------
    exchange
        Of blocks of the reference and the candidate: where a document has several texts, blocks are exchanged for
        p_empirical, and else texts of the length.

    Returns
    -------
    data frame
        A row a bin of lengths: length (the bin's lowest), texts, reference_texts, mean_tokens, mean_types,
        standard_error, d_own, d_reference, d_empirical, p_empirical and p_adjusted (over the lengths). Where the
        reference has fewer than `min_texts_per_length` texts, reference_texts is 0, and d_empirical NaN.
    """
    theirs, ours = growth_of(reference, prefix), growth_of(candidate, prefix)
    own, other, both = ours.fit(), theirs.fit(), _pooled_law(theirs, ours)
    rng = np.random.default_rng(seed)
    in_reference = theirs.by_length(options)
    by_block = permutation is not None and options.unit != "document"
    draws = list(permutation.memberships(options.count_permutations, rng, 1)) if permutation and by_block else []
    rows = []
    for length, where in ours.by_length(options).items():
        some, there = ours[where], theirs[in_reference.get(length, np.empty(0, dtype=np.int64))]
        d_own, d_reference = (
            distance_to_poisson(some.types, law.rate(some.tokens)) if law else UNDEFINED for law in (own, other)
        )
        d_empirical, p = UNDEFINED, UNDEFINED
        if len(there):
            here, elsewhere = _at_length(length, some, both), _at_length(length, there, both)
            d_empirical = ks_distance(here, elsewhere)
            if permutation and by_block:
                blocks = np.concatenate([there.blocks, some.blocks + permutation.sizes[0]])
                p = _p_by_block(here, elsewhere, blocks, draws)
            else:
                p = ks_test(here, elsewhere, Permutation((len(here), len(elsewhere))), options.count_permutations, rng)
        error = some.types.std(ddof=1) / np.sqrt(len(some))
        means = (some.tokens.mean(), some.types.mean(), error)
        rows.append((length, len(some), len(there), *means, d_own, d_reference, d_empirical, p))
    names = ["length", "texts", "reference_texts", "mean_tokens", "mean_types", "standard_error"]
    table = pd.DataFrame(rows, columns=[*names, "d_own", "d_reference", "d_empirical", "p_empirical"])
    return table.assign(p_adjusted=benjamini_hochberg(table["p_empirical"]))


def _p_by_block(here: Array, elsewhere: Array, blocks: NDArray[np.int64], draws: list[Array]) -> float:
    """P-value of the distance between texts of a length, when whole blocks are exchanged."""
    values, observed, reached = np.concatenate([elsewhere, here]), ks_distance(here, elsewhere), 0
    for inside in draws:
        first = inside[0, blocks] > 0
        # With all texts on one side nothing is ruled out.
        found = ks_distance(values[~first], values[first]) if 0 < first.sum() < len(first) else 1.0
        reached += found >= observed * (1 - TIE)
    return (reached + 1) / (len(draws) + 1)


def _reference_row(
    name: str, reference: Growth, candidate: Growth, options: TendenciesOptions, confidence: float, seed: int
) -> Row:
    """Mean distance to the law of the reference; under the null both sides come from it."""
    fit, lengths = reference.fit(), candidate.by_length(options)
    if fit is None or not lengths:
        return _undefined(name)

    def of_candidate(kept: Mask) -> float:
        return _distance_to_law(candidate, fit, lengths, kept)

    def of_reference(kept: Mask) -> float:
        law = reference[kept].fit()
        return _distance_to_law(candidate, law, lengths) if law else UNDEFINED

    def simulate(rng: np.random.Generator) -> float:
        law = reference.drawn(fit, rng).fit() or fit
        return _distance_to_law(candidate.drawn(fit, rng), law, lengths)

    value, half = _two_sided((candidate, of_candidate), (reference, of_reference), confidence)
    p = _simulated_p(value, simulate, options.simulations, seed)
    return (name, value, *_unit(value - half, value + half), p)


def _empirical_row(
    name: str,
    reference: Growth,
    candidate: Growth,
    options: TendenciesOptions,
    confidence: float,
    seed: int,
    permutation: Permutation,
) -> Row:
    """Mean distance to the reference's texts of the same lengths.

    Types are brought to the bin's length first: else two collections whose lengths differ within a bin would differ in
    types for that alone. The null exchanges texts within lengths; where a document has several texts, whole
    documents. Partners are seldom of one length, and count as strangers.
    """
    law = _pooled_law(reference, candidate)
    both = Growth(
        np.concatenate([candidate.tokens, reference.tokens]),
        np.concatenate([candidate.types, reference.types]),
        np.concatenate([candidate.blocks + permutation.sizes[0], reference.blocks]),
    )
    ours = np.arange(len(both)) < len(candidate)
    lengths = both.by_length(options)
    places = [_places(_at_length(length, both[where], law)) for length, where in lengths.items()]

    def distance(first: Mask, second: Mask, least: int = options.min_texts_per_length) -> float:
        found = []
        for where, place in zip(lengths.values(), places, strict=True):
            a, b = place[first[where]], place[second[where]]
            if min(len(a), len(b)) >= least:
                found.append((distance_between_types(a, b), len(a)))
        return _mean(found)

    def within_lengths(rng: np.random.Generator) -> float:
        inside = ours.copy()
        for where in lengths.values():
            inside[where] = rng.permutation(ours[where])
        return distance(inside, ~inside)

    def of_documents(rng: np.random.Generator) -> float:
        inside = next(permutation.memberships(1, rng))[0, both.blocks] > 0
        found = distance(~inside, inside)
        return 1.0 if np.isnan(found) else found  # no length has enough texts on both sides: nothing is ruled out

    if np.isnan(distance(ours, ~ours)):
        return _undefined(name)
    # Lengths are chosen once: leaving out a group must not leave out a length that just has enough texts.
    common = [min(np.count_nonzero(ours[w]), np.count_nonzero(~ours[w])) for w in lengths.values()]
    chosen = np.zeros(len(both), dtype=bool)
    for where, count in zip(lengths.values(), common, strict=True):
        chosen[where] = count >= options.min_texts_per_length

    def of_candidate(kept: Mask) -> float:
        left = chosen & ours
        left[ours] &= kept
        return distance(left, chosen & ~ours, 1)

    def of_reference(kept: Mask) -> float:
        left = chosen & ~ours
        left[~ours] &= kept
        return distance(chosen & ours, left, 1)

    value, half = _two_sided((candidate, of_candidate), (reference, of_reference), confidence)
    simulate = within_lengths if options.unit == "document" else of_documents
    p = _simulated_p(value, simulate, options.count_permutations, seed)
    return (name, value, *_unit(value - half, value + half), p)


def _distance_to_law(
    growth: Growth, law: HeapsFit, lengths: dict[float, NDArray[np.int64]], kept: Mask | None = None
) -> float:
    """Mean over lengths of the distance to a law, weighted by texts, of those texts that are kept."""
    rates = law.rate(growth.tokens)
    some = lengths.values() if kept is None else [where[kept[where]] for where in lengths.values()]
    return _mean([(distance_to_poisson(growth.types[w], rates[w]), len(w)) for w in some if len(w)])


def _two_sided(
    first: tuple[Growth, Callable[[Mask], float]], second: tuple[Growth, Callable[[Mask], float]], confidence: float
) -> tuple[float, float]:
    """Value and half the interval of a statistic of two collections: the jackknife variances of the sides add up."""
    halves = []
    for growth, statistic in (first, second):
        value, _, high = jackknife_interval_of_texts(growth.blocks, statistic, confidence, _GROUPS)
        halves.append(float(high - value))
    return float(value), float(np.hypot(halves[0], halves[1]))


def _simulated_p(value: float, simulate: Callable[[np.random.Generator], float], count: int, seed: int) -> float:
    return monte_carlo_p_value(value, simulate, count, np.random.default_rng(seed))


def _mean(distances: list[tuple[float, int]]) -> float:
    """Mean of distances, weighted by numbers of texts."""
    if not distances:
        return UNDEFINED
    values, weights = zip(*distances, strict=True)
    return float(np.average(values, weights=weights))


def _pooled_law(reference: Growth, candidate: Growth) -> HeapsFit | None:
    return fit_heaps(*(np.concatenate([getattr(s, n) for s in (reference, candidate)]) for n in ("tokens", "types")))


def _at_length(length: float, growth: Growth, law: HeapsFit | None) -> Array:
    """Types of some texts, scaled to what they would be at one length."""
    return growth.types if law is None else growth.types * (length / growth.tokens) ** law.beta


def _places(values: Array) -> NDArray[np.int64]:
    """Place of each among all values, in their order: distances stay, and counting is fast."""
    return np.unique(values, return_inverse=True)[1]


def _undefined(name: str) -> Row:
    return (name, UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED)


def _unit(low: float | Array, high: float | Array) -> tuple[float, float]:
    """Ends of an interval of a distance, which lies in [0, 1]."""
    return float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))
