"""Comparison of two tables of scores: the statistics of T(x), of categories and of further numbers, as a tidy table."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from macroscope.options import Resampling
from macroscope.statistics.categorical import DivergenceOptions, compare_categories
from macroscope.statistics.columns import compare_columns, mean_interval
from macroscope.statistics.document_groups import KEYS
from macroscope.statistics.latent import compare_scores
from macroscope.statistics.permutation_groups import build_permutation
from macroscope.statistics.score_tables import (
    CATEGORIES,
    list_document_numbers,
    read_category_counts,
    read_document_numbers,
    read_scores,
)
from macroscope.statistics.tidy import NO_PAIRS, ROWS, Estimate, find_pairs, rows_table, sized_row, write_statistics


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
        well. Further numbers (`statistics.score_tables`) are described, and compared.
    output
        CSV to write.
    corpus, system, critic
        Names for the table.
    signature
        Signature of the critic's options.
    resampling
        Settings of intervals and p-values.
    """
    reference = read_scores(control_scores)
    candidate = reference if scores == control_scores else read_scores(scores)
    pairing = NO_PAIRS if candidate is reference else find_pairs(reference, candidate, system)
    table = compare_scores(reference, candidate, resampling)
    have_categories = all(CATEGORIES in pq.read_schema(path).names for path in (control_scores, scores))
    if candidate is not reference and have_categories:
        table = pd.concat([table, category_table(control_scores, scores, resampling)], ignore_index=True)
    if list_document_numbers(scores):
        numbers = read_document_numbers(scores)
        of_numbers = (
            describe_numbers(numbers, resampling)
            if candidate is reference
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
    of_reference, of_candidate = read_category_counts(reference, candidate)
    options = DivergenceOptions(permutations=min(resampling.permutations, DivergenceOptions.permutations))
    permutation = build_permutation(of_reference.keys, of_candidate.keys)
    estimates = compare_categories([of_reference.counts], [of_candidate.counts], options, resampling, permutation)
    sizes = (len(of_reference.keys), len(of_candidate.keys))
    table = pd.DataFrame([sized_row(estimate, sizes) for estimate in estimates])
    return table.assign(
        seed=resampling.seed,
        reason=np.where(table["value"].isna(), "no document with a category in a sample", ""),
    )


def describe_numbers(numbers: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """Compute the mean of each further number in a collection, <name>_mean; columns `tidy.ROWS`."""
    tables = []
    for name in numbers.columns.difference(KEYS, sort=False):
        values = numbers[name].dropna().to_numpy(float)
        estimate = Estimate(f"{name}_mean", *mean_interval(values, resampling))
        tables.append(rows_table([estimate], (0, len(values)), lambda _: "no text has a value"))
    return pd.concat(tables, ignore_index=True).assign(seed=resampling.seed)


def compare_numbers(reference: pd.DataFrame, candidate: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """Compare each further number of two collections: <name>_<statistic> of `statistics.columns`; columns `tidy.ROWS`.

    Documents without a value do not count in the sizes.
    """
    names = list(candidate.columns.difference(KEYS, sort=False))
    table = compare_columns(reference, candidate, names, resampling, KEYS)
    return table.assign(statistic=table["column"] + "_" + table["statistic"])[[*ROWS, "seed"]]
