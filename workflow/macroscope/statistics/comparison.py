"""Tidy tables of statistics from the files of a comparison."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from macroscope.errors import MacroscopeError
from macroscope.statistics.categorical import DivergenceOptions, compare_categories
from macroscope.statistics.category_counts import CATEGORIES, read_category_counts
from macroscope.statistics.latent import Resampling, compare, pooled
from macroscope.statistics.permutation_groups import permutation_of
from macroscope.statistics.tidy import with_partners, write_statistics


def compare_files(
    reference: Path,
    candidate: Path,
    output: Path,
    *,
    corpus: str,
    system: str,
    critic: str,
    signature: str,
    resampling: Resampling,
) -> None:
    """Compare the scores of a candidate with those of the reference; write the tidy CSV.

    Parameters
    ----------
    reference, candidate
        Scores (Parquet). The same path twice: the reference's own row, without p-values. Where both have a column
        `categories` (a list of names for each document, such as its section transitions or the n-grams of its chain),
        the divergences of `statistics.categorical` between the two sides are computed as well.
    signature
        Of the critic's options.
    """
    control = read_scores(reference)
    scores = control if candidate == reference else read_scores(candidate)
    if scores is not control:
        signature = with_partners(signature, control, scores, system)
    table = compare(control, scores, resampling)
    if scores is not control and all(CATEGORIES in pq.read_schema(path).names for path in (reference, candidate)):
        table = pd.concat([table, category_table(reference, candidate, resampling)], ignore_index=True)
    write_statistics(
        table, output, corpus=corpus, system=system, critic=critic, resampling=resampling, signature=signature
    )


def category_table(reference: Path, candidate: Path, resampling: Resampling) -> pd.DataFrame:
    """Divergences between the categories of two files of scores, any number of them a document; as of `compare`.

    A document whose categories are null was not looked at: it counts for nothing, and is not exchanged.
    """
    theirs, ours = read_category_counts(reference, candidate)
    options = DivergenceOptions(permutations=min(resampling.permutations, DivergenceOptions.permutations))
    permutation = permutation_of(theirs.keys, ours.keys)
    found = compare_categories([theirs.counts], [ours.counts], options, resampling, permutation)
    table = pd.DataFrame(found, columns=["statistic", "value", "ci_low", "ci_high", "p_value"])
    return table.assign(
        n_reference=len(theirs.keys),
        n_candidate=len(ours.keys),
        seed=resampling.seed,
        reason=np.where(table["value"].isna(), "no document with a category on a side", ""),
    )


def perplexity_table(
    perplexity: Path, output: Path, *, corpus: str, system: str, signature: str, resampling: Resampling
) -> None:
    """Perplexity per token and per word of a language model, with bootstrap intervals over documents.

    Parameters
    ----------
    perplexity
        Per document: `nll` (nats), `tokens`, `words`.
    """
    documents = pd.read_parquet(perplexity)
    rows = []
    for unit in ("token", "word"):
        value, low, high = pooled(documents["nll"].to_numpy(), documents[f"{unit}s"].to_numpy(), resampling)
        rows.append((f"{unit}_ppl", value, low, high, float("nan"), 0, len(documents), resampling.seed))
    names = ["statistic", "value", "ci_low", "ci_high", "p_value", "n_reference", "n_candidate", "seed"]
    table = pd.DataFrame(rows, columns=names)
    write_statistics(
        table, output, corpus=corpus, system=system, critic="perplexity", resampling=resampling, signature=signature
    )


def read_scores(path: Path) -> pd.DataFrame:
    """Read a table of scores, but for its categories."""
    try:
        names = pq.read_schema(path).names
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file of scores") from None
    missing = [name for name in ("id", "nll", "units") if name not in names]
    if missing:
        raise MacroscopeError(f"{path}: no column '{missing[0]}'; a table of scores has id, nll, units")
    return pd.read_parquet(path, columns=[name for name in names if name != CATEGORIES])
