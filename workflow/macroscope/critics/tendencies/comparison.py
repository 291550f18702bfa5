"""Statistics of the critic `tendencies`: of single collections, and of a candidate compared with a reference."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from macroscope.critics.split_half import compare_with_control
from macroscope.critics.tendencies import growth, vocabulary
from macroscope.critics.tendencies.evidence import write_evidence
from macroscope.critics.tendencies.latents import (
    PER_TEXT,
    TokenCounts,
    align_types,
    compute_text_numbers,
    read_token_counts,
)
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.document_keys import RARE_WORD
from macroscope.documents import Collection
from macroscope.options import Resampling
from macroscope.statistics.columns import compare_numbers, mean_interval
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_features import Array
from macroscope.statistics.document_groups import KEYS, group_labels, paired_groups
from macroscope.statistics.p_values import p_value_from_null
from macroscope.statistics.permutation_groups import Permutation, build_permutation
from macroscope.statistics.tidy import UNDEFINED, Estimate, rows_table

_SAME_DISTRIBUTION = "documents of the system and of real text come from one distribution"
_PRIVATE = "tvd_half_l1"
"""The statistic that needs the rare words of both sides, which a private kept reference has not."""
STATISTICS = (
    Statistic("vocabulary_size", "types of the system in a sample of this size", sized=True),
    Statistic("vocabulary_tokens_compared"),
    Statistic("vocabulary_size_compared", "types of the system at the compared number of tokens", sized=True),
    Statistic(
        "vocabulary_size_difference",
        "types of the system minus types of real text, at the compared number of tokens",
        _SAME_DISTRIBUTION,
        sized=True,
    ),
    Statistic("zipf_s", "exponent of the law that the system's tokens come from"),
    Statistic("zipf_s_ranked", "exponent fitted to the ranked counts of a sample of this size", sized=True),
    Statistic(
        "zipf_s_difference", "exponent of the system minus that of real text, at equal sizes", _SAME_DISTRIBUTION
    ),
    Statistic(
        "zipf_d_own",
        "distance of a sample of this size to the law fitted to it",
        "tokens come from Zipf's law",
        False,
        sized=True,
    ),
    Statistic(
        "zipf_d_reference",
        "distance of a sample of this size to the law fitted to real text",
        "tokens come from the Zipf's law of real text",
        False,
        sized=True,
    ),
    Statistic(
        "zipf_d_empirical",
        "distance between the rank distributions of samples of this size",
        _SAME_DISTRIBUTION,
        sized=True,
    ),
    Statistic(
        "tvd_sup", "largest difference of a word's share, in samples of this size", _SAME_DISTRIBUTION, sized=True
    ),
    Statistic("tvd_sup_common", sized=True),
    Statistic("tvd_half_l1", "total variation distance between samples of this size", _SAME_DISTRIBUTION, sized=True),
    Statistic("heaps*_alpha", "factor of Heaps' law of the system"),
    Statistic("heaps*_beta", "exponent of Heaps' law of the system"),
    Statistic(
        "heaps*_d_own",
        "distance of a sample of this size to the law fitted to it",
        "types come from Heaps' law",
        False,
        sized=True,
    ),
    Statistic(
        "heaps*_d_reference",
        "distance of a sample of this size to the law fitted to real text",
        "types come from the Heaps' law of real text",
        False,
        sized=True,
    ),
    Statistic(
        "heaps*_d_empirical",
        "distance between the numbers of types of texts of equal length, in samples of this size",
        _SAME_DISTRIBUTION,
        sized=True,
    ),
)


@dataclass(frozen=True)
class Comparison:
    """Comparison of a candidate with a reference.

    Attributes
    ----------
    rows
        Statistics, with columns `statistics.tidy.ROWS`.
    null
        Values of each statistic under permutations of texts between the two collections, if it was tested by these.
    """

    rows: pd.DataFrame
    null: dict[str, Array]


def compare_latents(
    texts: Collection,
    control_latents: Path,
    latents: Path,
    *,
    options: TendenciesOptions,
    resampling: Resampling,
    evidence: Path,
) -> pd.DataFrame:
    """Compare the latents of a system with the control's and write the evidence; see `critics.split_half`.

    Parameters
    ----------
    texts
        Samples of the system, of which the evidence has the first.
    """
    compared = compare_with_control(
        control_latents,
        latents,
        read=read_token_counts,
        describe=lambda collection: describe(collection, options, resampling),
        compare=lambda reference, candidate: compare(reference, candidate, options, resampling),
        halves=split_into_halves,
        describe_half=True,
    )
    sides = compared.reference, compared.candidate
    permutation = build_block_permutation(*sides)
    write_evidence(evidence, *sides, compared.result.null, options, resampling.seed, permutation, texts)
    return compared.table


def describe(collection: TokenCounts, options: TendenciesOptions, resampling: Resampling) -> pd.DataFrame:
    """Compute the statistics of one collection: vocabulary, Zipf's and Heaps' law, and means over texts.

    Returns
    -------
    data frame
        Columns `statistics.tidy.ROWS`: `vocabulary_size`, `zipf_s`, `zipf_s_ranked`, `zipf_d_own`, `heaps_alpha`,
        `heaps_beta`, `heaps_d_own`, the same for `heaps_bigram`, and `<name>_mean` for each name in `PER_TEXT`.
    """
    level, seed = resampling.confidence, resampling.seed
    estimates = vocabulary.collection_rows(collection.counts, options, level, seed)
    for prefix in growth.TYPES:
        estimates += growth.collection_rows(collection.texts, prefix, options, level, seed)
    documents = collection.texts["id"].nunique()
    tables = [rows_table(estimates, (0, documents), lambda name: _own_reason(name, collection.texts))]
    for name, table in _document_means(collection.texts).items():
        mean = mean_interval(table[name].to_numpy(), resampling)
        tables.append(rows_table([Estimate(f"{name}_mean", *mean)], (0, len(table)), _no_text))
    return pd.concat(tables, ignore_index=True)


def compare(
    reference: TokenCounts, candidate: TokenCounts, options: TendenciesOptions, resampling: Resampling
) -> Comparison:
    """Compare a candidate with a reference.

    Returns
    -------
    Comparison
        Vocabulary: `zipf_d_reference`, `zipf_d_empirical`, `zipf_s_difference`, `vocabulary_tokens_compared`,
        `vocabulary_size_compared`, `vocabulary_size_difference`, `tvd_sup`, `tvd_half_l1`. Growth:
        `heaps_d_reference`, `heaps_d_empirical`, and the same for `heaps_bigram`. Each name in `PER_TEXT`:
        `<name>_mean_difference`, `_ks`, `_hedges_g`, `_cliffs_delta`, `_minimum_detectable_difference`. Differences are
        candidate - reference.
    """
    size = max(reference.documents_per_block, candidate.documents_per_block)
    reference, candidate = reference.merged(size), candidate.merged(size)
    counts = align_types(reference, candidate)
    level, seed = resampling.confidence, resampling.seed
    permutation = build_block_permutation(reference, candidate)
    estimates, null = vocabulary.comparison_rows(counts[0], counts[1], options, level, seed, permutation)
    if reference.types.str.startswith(RARE_WORD).any():
        estimates = [Estimate(_PRIVATE, UNDEFINED) if each.statistic == _PRIVATE else each for each in estimates]
        null[_PRIVATE] = np.empty(0)
    sides = (reference.texts, candidate.texts)
    for prefix in growth.TYPES:
        estimates += growth.comparison_rows(*sides, prefix, options, level, seed, permutation)
    documents = (sides[0]["id"].nunique(), sides[1]["id"].nunique())
    tables = [rows_table(estimates, documents, lambda name: _reason(name, *sides, options))]
    means = [_document_means(texts) for texts in sides]
    for name in PER_TEXT:
        real, generated = (tables_by_name[name] for tables_by_name in means)
        values = real[name].to_numpy(), generated[name].to_numpy()
        document_permutation = build_permutation(real, generated)
        prefixed = {
            f"{name}_{estimate.statistic}": replace(estimate, statistic=f"{name}_{estimate.statistic}")
            for estimate in compare_numbers(*values, resampling, document_permutation)
            if estimate.statistic != "mean"
        }
        tested = f"{name}_mean_difference"
        null[tested] = _null_of_mean(*values, document_permutation, options, seed)
        if options.convention == "published" and len(null[tested]):
            exact = document_permutation.is_exact(options.count_permutations)
            prefixed[tested] = _test_centred(prefixed[tested], null[tested], exact)
        tables.append(rows_table(list(prefixed.values()), (len(real), len(generated)), _no_text))
    return Comparison(pd.concat(tables, ignore_index=True), null)


def split_into_halves(collection: TokenCounts) -> tuple[TokenCounts, TokenCounts]:
    """Split a collection into two halves with alternating blocks of documents; the halves show no true difference."""
    block = collection.texts["block"].to_numpy()
    number = np.arange(collection.counts.shape[0])
    first, second = (
        replace(
            collection,
            texts=collection.texts[block % 2 == half].assign(block=lambda t: t["block"] // 2),
            counts=sparse.csr_matrix(collection.counts[number % 2 == half]),
        )
        for half in (0, 1)
    )
    return first, second


def build_block_permutation(reference: TokenCounts, candidate: TokenCounts) -> Permutation:
    """Build the permutation of blocks; blocks are paired if their documents are."""
    keys = [
        texts.assign(block=sign * (1 + texts["block"])) for sign, texts in ((1, reference.texts), (-1, candidate.texts))
    ]
    text_labels = group_labels(keys[0], keys[1], (*KEYS, "block"))
    block_labels = paired_groups(
        *(
            pd.Series(labels).groupby(np.abs(texts["block"]).to_numpy()).first().to_numpy()
            for labels, texts in zip(text_labels, keys, strict=True)
        )
    )
    groups = np.concatenate(block_labels)
    return Permutation((len(block_labels[0]), len(block_labels[1])), groups if groups.any() else None)


def _document_means(texts: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return name in `PER_TEXT` -> one row per document that has the number: `KEYS`, and the mean over its texts."""
    by_document = pd.concat([texts[list(KEYS)], compute_text_numbers(texts)], axis=1).groupby("id", sort=False)
    table = by_document.mean(numeric_only=True).assign(opening=by_document["opening"].first()).reset_index()
    return {name: table.loc[table[name].notna(), [*KEYS, name]] for name in PER_TEXT}


def _null_of_mean(
    reference: Array, candidate: Array, permutation: Permutation, options: TendenciesOptions, seed: int
) -> Array:
    """Return differences in means under random permutations of documents between the two collections."""
    if not len(reference) or not len(candidate):
        return np.empty(0)
    rng = np.random.default_rng(seed)
    of_reference, of_candidate = permutation.permuted_sums(reference, candidate, options.count_permutations, rng)
    return of_candidate[:, 0] / len(candidate) - of_reference[:, 0] / len(reference)


def _test_centred(difference: Estimate, null: Array, exact: bool) -> Estimate:
    """Return a difference with the p-value of Algorithm 1, whose statistic is centred by its mean under the null.

    The algorithm gives no interval. Its differences are not studentised: if the two collections have different
    variances and sizes, the test does not keep its level for equal means.
    """
    centre = float(null.mean())
    p = p_value_from_null(difference.value - centre, null - centre, exact)
    return Estimate(difference.statistic, difference.value, p_value=p)


def _no_text(_: str) -> str:
    return "too few texts, too short texts, or equal values"


def _own_reason(name: str, texts: pd.DataFrame) -> str:
    if not texts["tokens"].sum():
        return "no text has a token"
    if name.startswith("zipf"):
        return "fewer than two types, or hardly any type that occurs twice"
    return "fewer than two different lengths" if _has_one_length(texts) else "too few texts of any length"


def _reason(name: str, reference: pd.DataFrame, candidate: pd.DataFrame, options: TendenciesOptions) -> str:
    for role, texts in (("reference", reference), ("candidate", candidate)):
        if not texts["tokens"].sum():
            return f"no text of the {role} has a token"
    if name == _PRIVATE:
        return "the kept reference is without its rare words"
    if name.startswith(("zipf", "tvd")):
        return "fewer than two types in a collection, or hardly any type that occurs twice"
    if name.endswith("d_reference"):
        if _has_one_length(reference):
            return "fewer than two different lengths in the reference"
        return f"no length with {options.min_texts_per_length} texts in the candidate"
    return f"no length with {options.min_texts_per_length} texts in both collections"


def _has_one_length(texts: pd.DataFrame) -> bool:
    return int(texts.loc[texts["tokens"] > 0, "tokens"].nunique()) < 2
