"""Every number of the tendencies critic: of one collection, and of a candidate against a reference."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from macroscope.critics.split_half import compare_with_control
from macroscope.critics.tendencies import growth, vocabulary
from macroscope.critics.tendencies.evidence import write_evidence
from macroscope.critics.tendencies.latents import PER_TEXT, Counted, on_common_types, per_text, read_counted
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.statistics.columns import compare_numbers, mean_interval
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_sums import Array
from macroscope.statistics.latent import Resampling
from macroscope.statistics.pairing_keys import KEYS
from macroscope.statistics.permutation_groups import Permutation, group_labels, partners, permutation_of
from macroscope.statistics.tidy import UNDEFINED, rows_table

_ONE = "documents of the system and of real text come from one distribution"
STATISTICS = (
    Statistic("vocabulary_size", "types of as many texts of the system", sized=True),
    Statistic("vocabulary_tokens_compared"),
    Statistic("vocabulary_size_compared", "types of the system in as many tokens", sized=True),
    Statistic(
        "vocabulary_size_difference",
        "types of the system minus types of real text, in as many tokens",
        _ONE,
        sized=True,
    ),
    Statistic("zipf_s", "exponent of the law that the system's tokens come from"),
    Statistic("zipf_s_ranked", "exponent fitted to the ranked counts of as many texts", sized=True),
    Statistic("zipf_s_difference", "exponent of the system minus that of real text, at equal sizes", _ONE),
    Statistic(
        "zipf_d_own",
        "distance of as many texts to the law fitted to them",
        "tokens come from Zipf's law",
        False,
        sized=True,
    ),
    Statistic(
        "zipf_d_reference",
        "distance of as many texts to the law fitted to real text",
        "tokens come from the Zipf's law of real text",
        False,
        sized=True,
    ),
    Statistic("zipf_d_empirical", "distance between the ranks of as many texts", _ONE, sized=True),
    Statistic("tvd_sup", "largest difference of a word's share, as many texts", _ONE, sized=True),
    Statistic("tvd_half_l1", "total variation distance of as many texts", _ONE, sized=True),
    Statistic("heaps*_alpha", "factor of Heaps' law of the system"),
    Statistic("heaps*_beta", "exponent of Heaps' law of the system"),
    Statistic(
        "heaps*_d_own",
        "distance of as many texts to the law fitted to them",
        "types come from Heaps' law",
        False,
        sized=True,
    ),
    Statistic(
        "heaps*_d_reference",
        "distance of as many texts to the law fitted to real text",
        "types come from the Heaps' law of real text",
        False,
        sized=True,
    ),
    Statistic(
        "heaps*_d_empirical", "distance between the types of texts of equal length, as many texts", _ONE, sized=True
    ),
)


@dataclass(frozen=True)
class Comparison:
    """Numbers of a candidate.

    Attributes
    ----------
    rows
        Columns `statistics.tidy.ROWS`.
    null
        What exchanging texts between the two sides gave for each statistic that was tested so.
    """

    rows: pd.DataFrame
    null: dict[str, Array]


def compare_latents(
    control_latents: Path, latents: Path, *, options: TendenciesOptions, resampling: Resampling, evidence: Path
) -> pd.DataFrame:
    """Compare the latents of a system with the control's, and write the evidence; see `critics.split_half`."""
    compared = compare_with_control(
        control_latents,
        latents,
        read=read_counted,
        describe=lambda some: describe(some, options, resampling),
        compare=lambda reference, candidate: compare(reference, candidate, options, resampling),
        halves=halves,
        describe_half=True,
    )
    sides = compared.reference, compared.candidate
    permutation = permutation_of_blocks(*sides)
    write_evidence(evidence, *sides, compared.found.null, options, resampling.seed, permutation)
    return compared.table


def describe(collection: Counted, options: TendenciesOptions, resampling: Resampling) -> pd.DataFrame:
    """Numbers of one collection by itself: vocabulary, Zipf's and Heaps' law, means of every text's numbers.

    Returns
    -------
    data frame
        Columns `statistics.tidy.ROWS`: `vocabulary_size`, `zipf_s`, `zipf_s_ranked`, `zipf_d_own`, `heaps_alpha`,
        `heaps_beta`, `heaps_d_own`, the same with `heaps_bigram`, and `<name>_mean` of each of `PER_TEXT`.
    """
    level, seed = resampling.confidence, resampling.seed
    rows = vocabulary.own_rows(collection.counts, options, level, seed)
    for prefix in growth.TYPES:
        rows += growth.own_rows(collection.texts, prefix, options, level, seed)
    documents = collection.texts["id"].nunique()
    tables = [rows_table(rows, (0, documents), lambda name: _own_reason(name, collection.texts))]
    for name, some in _numbers(collection.texts).items():
        mean = mean_interval(some[name].to_numpy(), resampling)
        tables.append(rows_table([(f"{name}_mean", *mean, UNDEFINED)], (0, len(some)), _no_text))
    return pd.concat(tables, ignore_index=True)


def compare(reference: Counted, candidate: Counted, options: TendenciesOptions, resampling: Resampling) -> Comparison:
    """Numbers of a candidate against a reference.

    Returns
    -------
    Comparison
        Of the vocabulary: `zipf_d_reference`, `zipf_d_empirical`, `zipf_s_difference`, `vocabulary_tokens_compared`,
        `vocabulary_size_compared`, `vocabulary_size_difference`, `tvd_sup`, `tvd_half_l1`. Of growth:
        `heaps_d_reference`, `heaps_d_empirical`, and the same with `heaps_bigram`. Of each of `PER_TEXT`:
        `<name>_mean_difference`, `_ks`, `_hedges_g`, `_cliffs_delta`, `_minimum_detectable_difference`. Differences are
        candidate - reference.
    """
    size = max(reference.documents_per_block, candidate.documents_per_block)
    reference, candidate = reference.merged(size), candidate.merged(size)
    counts = on_common_types(reference, candidate)
    level, seed = resampling.confidence, resampling.seed
    permutation = permutation_of_blocks(reference, candidate)
    rows, null = vocabulary.comparison_rows(counts[0], counts[1], options, level, seed, permutation)
    sides = (reference.texts, candidate.texts)
    for prefix in growth.TYPES:
        rows += growth.comparison_rows(*sides, prefix, options, level, seed, permutation)
    documents = (sides[0]["id"].nunique(), sides[1]["id"].nunique())
    tables = [rows_table(rows, documents, lambda name: _reason(name, *sides, options))]
    numbers = [_numbers(side) for side in sides]
    for name in PER_TEXT:
        theirs, ours = (side[name] for side in numbers)
        values = theirs[name].to_numpy(), ours[name].to_numpy()
        of_documents = permutation_of(theirs, ours)
        found = compare_numbers(*values, resampling, of_documents)
        prefixed = [(f"{name}_{row[0]}", *row[1:]) for row in found if row[0] != "mean"]
        tables.append(rows_table(prefixed, (len(theirs), len(ours)), _no_text))
        null[f"{name}_mean_difference"] = _null_of_mean(*values, of_documents, options, seed)
    return Comparison(pd.concat(tables, ignore_index=True), null)


def halves(collection: Counted) -> tuple[Counted, Counted]:
    """Two halves of a collection, every other block of documents in each: what no difference looks like."""
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


def permutation_of_blocks(reference: Counted, candidate: Counted) -> Permutation:
    """Exchange of blocks: they are partners where their documents are."""
    keys = [
        texts.assign(block=sign * (1 + texts["block"])) for sign, texts in ((1, reference.texts), (-1, candidate.texts))
    ]
    of_texts = group_labels(keys[0], keys[1], (*KEYS, "block"))
    of_blocks = partners(
        *(
            pd.Series(some).groupby(np.abs(side["block"]).to_numpy()).first().to_numpy()
            for some, side in zip(of_texts, keys, strict=True)
        )
    )
    groups = np.concatenate(of_blocks)
    return Permutation((len(of_blocks[0]), len(of_blocks[1])), groups if groups.any() else None)


def _numbers(texts: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Each of `PER_TEXT` -> a row a document that has it, in order: `KEYS`, and the mean over the document's texts."""
    by_document = pd.concat([texts[list(KEYS)], per_text(texts)], axis=1).groupby("id", sort=False)
    table = by_document.mean(numeric_only=True).assign(opening=by_document["opening"].first()).reset_index()
    return {name: table.loc[table[name].notna(), [*KEYS, name]] for name in PER_TEXT}


def _null_of_mean(
    reference: Array, candidate: Array, permutation: Permutation, options: TendenciesOptions, seed: int
) -> Array:
    """Differences in means after exchanging documents between the two sides at random."""
    if not len(reference) or not len(candidate):
        return np.empty(0)
    rng = np.random.default_rng(seed)
    first, second = permutation.sums(reference, candidate, options.count_permutations, rng)
    return second[:, 0] / len(candidate) - first[:, 0] / len(reference)


def _no_text(_: str) -> str:
    return "too few texts, or texts too short, or all values equal"


def _own_reason(name: str, texts: pd.DataFrame) -> str:
    if not texts["tokens"].sum():
        return "no text has a token"
    if name.startswith("zipf"):
        return "fewer than two types, or hardly a type that occurs twice"
    return "fewer than two different lengths" if _one_length(texts) else "too few texts of any length"


def _reason(name: str, reference: pd.DataFrame, candidate: pd.DataFrame, options: TendenciesOptions) -> str:
    for side, texts in (("reference", reference), ("candidate", candidate)):
        if not texts["tokens"].sum():
            return f"no text of the {side} has a token"
    if name.startswith(("zipf", "tvd")):
        return "fewer than two types on a side, or hardly a type that occurs twice"
    if name.endswith("d_reference"):
        if _one_length(reference):
            return "fewer than two different lengths in the reference"
        return f"no length with {options.min_texts_per_length} texts in the candidate"
    return f"no length with {options.min_texts_per_length} texts on both sides"


def _one_length(texts: pd.DataFrame) -> bool:
    return int(texts.loc[texts["tokens"] > 0, "tokens"].nunique()) < 2
