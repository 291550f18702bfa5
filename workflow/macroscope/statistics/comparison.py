"""Tidy tables of statistics from the files of a comparison."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from macroscope.errors import MacroscopeError
from macroscope.resampling import Resampling
from macroscope.statistics.categorical import DivergenceOptions, compare_categories
from macroscope.statistics.category_counts import CATEGORIES, read_category_counts
from macroscope.statistics.document_number_statistics import compare_numbers, describe_numbers
from macroscope.statistics.document_numbers import list_document_numbers, read_document_numbers
from macroscope.statistics.latent import compare_scores, pooled_perplexity
from macroscope.statistics.permutation_groups import build_permutation
from macroscope.statistics.tidy import NO_PAIRS, Estimate, find_pairs, sized_row, write_statistics


def compare_score_files(
    control_scores: Path,
    scores: Path,
    output: Path,
    *,
    corpus: str,
    system: str,
    critic: str,
    signature: str,
    resampling: Resampling,
) -> None:
    """Compare the scores of a system with those of the control, and write the tidy CSV.

    Parameters
    ----------
    control_scores, scores
        Scores of the control and of the system (Parquet). The same path twice gives the control's own rows, without
        p-values. If both have a column `categories` (a list of names for each document, such as its section transitions
        or the n-grams of its chain), the divergences of `statistics.categorical` between the samples are computed as
        well. Further numbers of documents are described and compared by `statistics.document_numbers`.
    output
        CSV to write.
    corpus, system, critic
        Names for the table.
    signature
        Signature of the critic's options.
    resampling
        Settings of intervals and p-values.
    """
    control = read_scores(control_scores)
    candidate = control if scores == control_scores else read_scores(scores)
    pairing = NO_PAIRS if candidate is control else find_pairs(control, candidate, system)
    table = compare_scores(control, candidate, resampling)
    have_categories = all(CATEGORIES in pq.read_schema(path).names for path in (control_scores, scores))
    if candidate is not control and have_categories:
        table = pd.concat([table, category_table(control_scores, scores, resampling)], ignore_index=True)
    if list_document_numbers(scores):
        numbers = read_document_numbers(scores)
        of_numbers = (
            describe_numbers(numbers, resampling)
            if candidate is control
            else compare_numbers(read_document_numbers(control_scores), numbers, resampling)
        )
        table = pd.concat([table, of_numbers], ignore_index=True)
    about = {"corpus": corpus, "system": system, "critic": critic, "signature": signature}
    write_statistics(table, output, resampling=resampling, pairing=pairing, **about)


def category_table(reference: Path, candidate: Path, resampling: Resampling) -> pd.DataFrame:
    """Compute divergences between the categories of two files of scores; columns as of `compare_scores`.

    A document may have any number of categories. Documents whose categories are null were not evaluated: they do not
    count and are not permuted.
    """
    theirs, ours = read_category_counts(reference, candidate)
    options = DivergenceOptions(permutations=min(resampling.permutations, DivergenceOptions.permutations))
    permutation = build_permutation(theirs.keys, ours.keys)
    estimates = compare_categories([theirs.counts], [ours.counts], options, resampling, permutation)
    sizes = (len(theirs.keys), len(ours.keys))
    table = pd.DataFrame([sized_row(estimate, sizes) for estimate in estimates])
    return table.assign(
        seed=resampling.seed,
        reason=np.where(table["value"].isna(), "no document with a category in a sample", ""),
    )


def perplexity_table(
    perplexity: Path, output: Path, *, corpus: str, system: str, signature: str, resampling: Resampling
) -> None:
    """Write the perplexity per token and per word of a language model, with bootstrap intervals over documents.

    Parameters
    ----------
    perplexity
        Table with a row per document: `nll` (nats), `tokens`, `words`.
    output
        CSV to write.
    """
    documents = pd.read_parquet(perplexity)
    rows = []
    for unit in ("token", "word"):
        value, low, high = pooled_perplexity(documents["nll"].to_numpy(), documents[f"{unit}s"].to_numpy(), resampling)
        rows.append(sized_row(Estimate(f"{unit}_ppl", value, low, high), (0, len(documents))))
    table = pd.DataFrame(rows).assign(seed=resampling.seed)
    write_statistics(
        table, output, corpus=corpus, system=system, critic="perplexity", resampling=resampling, signature=signature
    )


def read_scores(path: Path) -> pd.DataFrame:
    """Read a table of scores without its categories.

    Raises
    ------
    MacroscopeError
        If the file, or one of the columns id, nll and units, is missing.
    """
    try:
        names = pq.read_schema(path).names
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file of scores") from None
    missing = [name for name in ("id", "nll", "units") if name not in names]
    if missing:
        raise MacroscopeError(f"{path}: no column '{missing[0]}'; a table of scores has id, nll, units")
    return pd.read_parquet(path, columns=[name for name in names if name != CATEGORIES])
