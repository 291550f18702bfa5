"""Vocabulary growth: Heaps' law of a collection, and distances between type-token curves by length (Figures 3, 4).

Lengths with fewer than `min_texts_per_length` texts are used only in the fit of the law. Intervals are jackknife
intervals over groups of documents, because texts vary less than the law predicts and texts of one document depend on
each other. If leaving out a group removes all texts of a length, the length is left out with it.
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
from macroscope.statistics.document_features import Array
from macroscope.statistics.jackknife import jackknife_interval_of_texts
from macroscope.statistics.kolmogorov_smirnov import ks_distance, ks_test, monte_carlo_p_value
from macroscope.statistics.p_values import TIE, benjamini_hochberg
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.tidy import UNDEFINED, Estimate

TYPES = {"heaps": "types", "heaps_bigram": "bigram_types"}
"""Prefix of the statistics -> column of the latents."""
_GROUPS = 50
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Growth:
    """Tokens and types of the non-empty texts of a collection.

    Attributes
    ----------
    tokens, types
        Numbers of tokens and of types of each text.
    blocks
        Index of the block of documents of each text.
    """

    tokens: Array
    types: Array
    blocks: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, texts: NDArray[np.generic]) -> "Growth":
        return Growth(self.tokens[texts], self.types[texts], self.blocks[texts])

    def fit(self) -> HeapsFit | None:
        """Fit Heaps' law; None with fewer than two lengths."""
        return fit_heaps(self.tokens, self.types)

    def sample_from(self, law: HeapsFit, rng: np.random.Generator) -> "Growth":
        """Return texts of the same lengths with types sampled from a law."""
        return Growth(self.tokens, rng.poisson(law.rate(self.tokens)).astype(float), self.blocks)

    def by_length(self, options: TendenciesOptions) -> dict[float, NDArray[np.int64]]:
        """Return lowest length of each bin with enough texts -> indices of its texts, the shortest bin first."""
        bins = length_bins(self.tokens, options.length_bins_per_decade)
        indices = {float(length): np.flatnonzero(bins == length) for length in np.unique(bins)}
        return {length: texts for length, texts in indices.items() if len(texts) >= options.min_texts_per_length}


def select_growth(texts: pd.DataFrame, prefix: str) -> Growth:
    """Select tokens and types (`TYPES[prefix]`) of the texts in latents that have both."""
    column = TYPES[prefix]
    rows = texts[(texts["tokens"] > 0) & (texts[column] > 0)]
    return Growth(rows["tokens"].to_numpy(float), rows[column].to_numpy(float), rows["block"].to_numpy(np.int64))


def collection_rows(
    texts: pd.DataFrame, prefix: str, options: TendenciesOptions, confidence: float, seed: int
) -> list[Estimate]:
    """Compute <prefix>_alpha, <prefix>_beta and <prefix>_d_own, the mean over lengths of distances to the own fit."""
    growth = select_growth(texts, prefix)
    fit = growth.fit()
    if fit is None:
        return [Estimate(f"{prefix}_{name}", UNDEFINED) for name in ("alpha", "beta", "d_own")]

    def parameters(kept: Mask) -> Array:
        law = growth[kept].fit()
        return np.array([np.log(law.alpha), law.beta]) if law else np.full(2, UNDEFINED)

    _, low, high = jackknife_interval_of_texts(growth.blocks, parameters, confidence, _GROUPS)
    estimates = [
        Estimate(f"{prefix}_alpha", fit.alpha, float(np.exp(low[0])), float(np.exp(high[0]))),
        Estimate(f"{prefix}_beta", fit.beta, float(low[1]), float(high[1])),
    ]
    lengths = growth.by_length(options)
    if not lengths:
        return [*estimates, Estimate(f"{prefix}_d_own", UNDEFINED)]

    def distance(sample: Growth, kept: Mask | None = None) -> float:
        law = (sample if kept is None else sample[kept]).fit()
        return _distance_to_law(sample, law, lengths, kept) if law else UNDEFINED

    value, low, high = jackknife_interval_of_texts(growth.blocks, partial(distance, growth), confidence, _GROUPS)
    p = _simulated_p(float(value), lambda rng: distance(growth.sample_from(fit, rng)), options.simulations, seed)
    return [*estimates, Estimate(f"{prefix}_d_own", float(value), *clip_to_unit(low, high), p)]


def comparison_rows(
    reference: pd.DataFrame,
    candidate: pd.DataFrame,
    prefix: str,
    options: TendenciesOptions,
    confidence: float,
    seed: int,
    permutation: Permutation | None = None,
) -> list[Estimate]:
    """Compute <prefix>_d_reference and <prefix>_d_empirical, means over lengths of distances to the reference.

    They are the distance to the law fitted to the reference (D_p-hat), and the distance to its texts (D_p).

    Parameters
    ----------
    permutation
        Permutation of the blocks of reference and candidate, if some of them are paired.
    """
    permutation = permutation or Permutation((int(reference["block"].max()) + 1, int(candidate["block"].max()) + 1))
    sides = select_growth(reference, prefix), select_growth(candidate, prefix)
    return [
        _reference_estimate(f"{prefix}_d_reference", *sides, options, confidence, seed),
        _empirical_estimate(f"{prefix}_d_empirical", *sides, options, confidence, seed, permutation),
    ]


def curve(
    reference: pd.DataFrame,
    candidate: pd.DataFrame,
    prefix: str,
    options: TendenciesOptions,
    seed: int,
    permutation: Permutation | None = None,
) -> pd.DataFrame:
    """Compute mean types and the three distances at every length that enough texts of the candidate have.

    Parameters
    ----------
    permutation
        Permutation of the blocks of reference and candidate. p_empirical permutes blocks if a document has several
        texts; otherwise it permutes texts within a length.

    Returns
    -------
    data frame
        One row per bin of lengths: length (the bin's lowest), texts, reference_texts, mean_tokens, mean_types,
        standard_error, d_own, d_reference, d_empirical, p_empirical and p_adjusted (over the lengths). If the reference
        has fewer than `min_texts_per_length` texts, reference_texts is 0 and d_empirical NaN.
    """
    all_real, all_generated = select_growth(reference, prefix), select_growth(candidate, prefix)
    own_law, reference_law, pooled_law = all_generated.fit(), all_real.fit(), _fit_pooled_law(all_real, all_generated)
    rng = np.random.default_rng(seed)
    in_reference = all_real.by_length(options)
    by_block = permutation is not None and options.unit != "document"
    memberships = list(permutation.memberships(options.count_permutations, rng, 1)) if permutation and by_block else []
    rows = []
    for length, indices in all_generated.by_length(options).items():
        generated, real = all_generated[indices], all_real[in_reference.get(length, np.empty(0, dtype=np.int64))]
        d_own, d_reference = (
            distance_to_poisson(generated.types, law.rate(generated.tokens)) if law else UNDEFINED
            for law in (own_law, reference_law)
        )
        d_empirical, p = UNDEFINED, UNDEFINED
        if len(real):
            generated_types = _scale_to_length(length, generated, pooled_law)
            real_types = _scale_to_length(length, real, pooled_law)
            d_empirical = ks_distance(generated_types, real_types)
            if permutation and by_block:
                blocks = np.concatenate([real.blocks, generated.blocks + permutation.sizes[0]])
                p = _p_by_block(generated_types, real_types, blocks, memberships)
            else:
                sizes = (len(generated_types), len(real_types))
                p = ks_test(generated_types, real_types, Permutation(sizes), options.count_permutations, rng)
        error = generated.types.std(ddof=1) / np.sqrt(len(generated))
        means = (generated.tokens.mean(), generated.types.mean(), error)
        rows.append((length, len(generated), len(real), *means, d_own, d_reference, d_empirical, p))
    names = ["length", "texts", "reference_texts", "mean_tokens", "mean_types", "standard_error"]
    table = pd.DataFrame(rows, columns=[*names, "d_own", "d_reference", "d_empirical", "p_empirical"])
    return table.assign(p_adjusted=benjamini_hochberg(table["p_empirical"]))


def _p_by_block(generated: Array, real: Array, blocks: NDArray[np.int64], memberships: list[Array]) -> float:
    """Return the p-value of the distance between texts of a length under permutations of whole blocks."""
    values, observed, reached = np.concatenate([real, generated]), ks_distance(generated, real), 0
    for membership in memberships:
        first = membership[0, blocks] > 0
        # If all texts fall into one collection, count the largest distance: the test stays conservative.
        distance = ks_distance(values[~first], values[first]) if 0 < first.sum() < len(first) else 1.0
        reached += distance >= observed * (1 - TIE)
    return (reached + 1) / (len(memberships) + 1)


def _reference_estimate(
    name: str, reference: Growth, candidate: Growth, options: TendenciesOptions, confidence: float, seed: int
) -> Estimate:
    """Return the mean distance to the law of the reference; under the null, both collections come from this law."""
    fit, lengths = reference.fit(), candidate.by_length(options)
    if fit is None or not lengths:
        return Estimate(name, UNDEFINED)

    def of_candidate(kept: Mask) -> float:
        return _distance_to_law(candidate, fit, lengths, kept)

    def of_reference(kept: Mask) -> float:
        law = reference[kept].fit()
        return _distance_to_law(candidate, law, lengths) if law else UNDEFINED

    def simulate(rng: np.random.Generator) -> float:
        law = reference.sample_from(fit, rng).fit() or fit
        return _distance_to_law(candidate.sample_from(fit, rng), law, lengths)

    value, half = _two_sided((candidate, of_candidate), (reference, of_reference), confidence)
    p = _simulated_p(value, simulate, options.simulations, seed)
    return Estimate(name, value, *clip_to_unit(value - half, value + half), p)


def _empirical_estimate(
    name: str,
    reference: Growth,
    candidate: Growth,
    options: TendenciesOptions,
    confidence: float,
    seed: int,
    permutation: Permutation,
) -> Estimate:
    """Return the mean distance to the reference's texts of the same lengths.

    Types are scaled to the bin's length first; otherwise collections whose lengths differ within a bin would differ in
    types for that reason alone. The null permutes texts within lengths, or whole documents if a document has several
    texts. Paired texts seldom have the same length, so pairs are ignored.
    """
    law = _fit_pooled_law(reference, candidate)
    both = Growth(
        np.concatenate([candidate.tokens, reference.tokens]),
        np.concatenate([candidate.types, reference.types]),
        np.concatenate([candidate.blocks + permutation.sizes[0], reference.blocks]),
    )
    is_candidate = np.arange(len(both)) < len(candidate)
    lengths = both.by_length(options)
    ranks = [_dense_ranks(_scale_to_length(length, both[texts], law)) for length, texts in lengths.items()]

    def distance(first: Mask, second: Mask, least: int = options.min_texts_per_length) -> float:
        distances = []
        for texts, rank in zip(lengths.values(), ranks, strict=True):
            a, b = rank[first[texts]], rank[second[texts]]
            if min(len(a), len(b)) >= least:
                distances.append((distance_between_types(a, b), len(a)))
        return _weighted_mean(distances)

    def permute_within_lengths(rng: np.random.Generator) -> float:
        permuted = is_candidate.copy()
        for texts in lengths.values():
            permuted[texts] = rng.permutation(is_candidate[texts])
        return distance(permuted, ~permuted)

    def permute_documents(rng: np.random.Generator) -> float:
        permuted = next(permutation.memberships(1, rng))[0, both.blocks] > 0
        value = distance(~permuted, permuted)
        return 1.0 if np.isnan(value) else value  # no length has enough texts in both: stay conservative

    if np.isnan(distance(is_candidate, ~is_candidate)):
        return Estimate(name, UNDEFINED)
    # Lengths are chosen once: leaving out a group must not leave out a length that just has enough texts.
    common = [min(np.count_nonzero(is_candidate[w]), np.count_nonzero(~is_candidate[w])) for w in lengths.values()]
    chosen = np.zeros(len(both), dtype=bool)
    for texts, count in zip(lengths.values(), common, strict=True):
        chosen[texts] = count >= options.min_texts_per_length

    def without_candidate_group(kept: Mask) -> float:
        left = chosen & is_candidate
        left[is_candidate] &= kept
        return distance(left, chosen & ~is_candidate, 1)

    def without_reference_group(kept: Mask) -> float:
        left = chosen & ~is_candidate
        left[~is_candidate] &= kept
        return distance(chosen & is_candidate, left, 1)

    value, half = _two_sided((candidate, without_candidate_group), (reference, without_reference_group), confidence)
    simulate = permute_within_lengths if options.unit == "document" else permute_documents
    p = _simulated_p(value, simulate, options.count_permutations, seed)
    return Estimate(name, value, *clip_to_unit(value - half, value + half), p)


def _distance_to_law(
    growth: Growth, law: HeapsFit, lengths: dict[float, NDArray[np.int64]], kept: Mask | None = None
) -> float:
    """Return the mean over lengths of the distance between the kept texts and a law, weighted by texts."""
    rates = law.rate(growth.tokens)
    groups = lengths.values() if kept is None else [texts[kept[texts]] for texts in lengths.values()]
    return _weighted_mean([(distance_to_poisson(growth.types[w], rates[w]), len(w)) for w in groups if len(w)])


def _two_sided(
    first: tuple[Growth, Callable[[Mask], float]], second: tuple[Growth, Callable[[Mask], float]], confidence: float
) -> tuple[float, float]:
    """Return value and half-width of a statistic of two collections: their jackknife variances are added."""
    halves = []
    for growth, statistic in (first, second):
        value, _, high = jackknife_interval_of_texts(growth.blocks, statistic, confidence, _GROUPS)
        halves.append(float(high - value))
    return float(value), float(np.hypot(halves[0], halves[1]))


def _simulated_p(value: float, simulate: Callable[[np.random.Generator], float], count: int, seed: int) -> float:
    return monte_carlo_p_value(value, simulate, count, np.random.default_rng(seed))


def _weighted_mean(distances: list[tuple[float, int]]) -> float:
    """Return the mean of (distance, number of texts) weighted by the numbers of texts."""
    if not distances:
        return UNDEFINED
    values, weights = zip(*distances, strict=True)
    return float(np.average(values, weights=weights))


def _fit_pooled_law(reference: Growth, candidate: Growth) -> HeapsFit | None:
    return fit_heaps(*(np.concatenate([getattr(s, n) for s in (reference, candidate)]) for n in ("tokens", "types")))


def _scale_to_length(length: float, growth: Growth, law: HeapsFit | None) -> Array:
    """Scale the types of texts to those expected at one length."""
    return growth.types if law is None else growth.types * (length / growth.tokens) ** law.beta


def _dense_ranks(values: Array) -> NDArray[np.int64]:
    """Return the rank of each value among the distinct values: KS distances stay the same, and counting is fast."""
    return np.unique(values, return_inverse=True)[1]


def clip_to_unit(low: float | Array, high: float | Array) -> tuple[float, float]:
    return float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))
