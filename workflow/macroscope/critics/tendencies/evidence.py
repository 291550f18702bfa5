"""Evidence of a system for figures and tables: ranks, curves, quantiles, null distributions, words."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.tendencies import growth
from macroscope.critics.tendencies.latents import PER_TEXT, TokenCounts, align_types, compute_text_numbers
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.rank_frequency import fit_zipf, rank_counts, zipf_law
from macroscope.documents import Collection, Document
from macroscope.files import atomic
from macroscope.phrases import shorten
from macroscope.statistics.document_features import Array
from macroscope.statistics.permutation_groups import Permutation
from macroscope.tables import write_csv

RANKS_SHOWN = 300
WORDS_SHOWN = 30
FIRST_TEXTS, CHARACTERS = 2, 600
QUANTILES = np.linspace(0, 1, 101)


def write_evidence(
    output: Path,
    reference: TokenCounts,
    candidate: TokenCounts,
    null: dict[str, Array],
    options: TendenciesOptions,
    seed: int,
    permutation: Permutation,
    texts: Collection,
) -> None:
    """Write the evidence of a system with these texts into the folder `output`; `permutation` is that of blocks.

    ranks.csv
        rank, candidate_share, reference_share (of all tokens) and zipf (under the fit to the candidate), at ranks
        evenly spaced on a logarithmic scale and at equal numbers of tokens; see `tabulate_ranks`.
    <prefix>.csv, for each prefix in `growth.TYPES`
        Type-token curve and its distances at every length; see `growth.curve`.
    quantiles.csv
        quantile, and a column for each name in `PER_TEXT`: percentiles over texts.
    words.csv
        Words whose share of the tokens differs most from the reference's.
    first_texts.csv
        id and text of the first two texts (Table 7).
    null.csv
        statistic, draw: values of the statistics under permutations of texts.
    """
    with atomic(output) as folder:
        folder.mkdir(parents=True)
        write_csv(tabulate_ranks(reference, candidate, seed), folder / "ranks.csv")
        for prefix in growth.TYPES:
            curve = growth.curve(reference.texts, candidate.texts, prefix, options, seed, permutation)
            write_csv(curve, folder / f"{prefix}.csv")
        write_csv(tabulate_quantiles(candidate.texts), folder / "quantiles.csv")
        write_csv(tabulate_words(reference, candidate), folder / "words.csv")
        write_csv(tabulate_first_texts(texts), folder / "first_texts.csv")
        tables = [pd.DataFrame({"statistic": name, "draw": values}) for name, values in null.items()]
        empty = pd.DataFrame(columns=["statistic", "draw"])
        write_csv((pd.concat(tables, ignore_index=True) if tables else empty), folder / "null.csv")


def tabulate_first_texts(texts: Iterable[Document]) -> pd.DataFrame:
    """Tabulate id and text of the first texts, shortened to `CHARACTERS` characters."""
    rows = [(document.id, shorten(document.text, CHARACTERS)) for document in islice(texts, FIRST_TEXTS)]
    return pd.DataFrame(rows, columns=["id", "text"])


def tabulate_ranks(reference: TokenCounts, candidate: TokenCounts, seed: int) -> pd.DataFrame:
    """Tabulate the shares of all tokens at `RANKS_SHOWN` or fewer ranks, on both sides and under the fitted law.

    The more tokens, the more ranks. So the tokens of the larger side are thinned at random to the number of the smaller
    one. A share is NaN beyond the last rank of its side.
    """
    totals = [np.asarray(collection.counts.sum(axis=0)).ravel() for collection in (candidate, reference)]
    tokens = min(total.sum() for total in totals)
    rng = np.random.default_rng(seed)
    counts, real = (rank_counts(_thin(total, tokens, rng)) for total in totals)
    if not len(counts):
        return pd.DataFrame(columns=["rank", "candidate_share", "reference_share", "zipf"])
    rank = np.unique(np.geomspace(1, max(len(counts), len(real)), RANKS_SHOWN).astype(int))
    shares = {"candidate_share": _shares_at(rank, counts), "reference_share": _shares_at(rank, real)}
    return pd.DataFrame({"rank": rank, **shares, "zipf": zipf_law(fit_zipf(counts), rank)})


def _thin(counts: Array, tokens: float, rng: np.random.Generator) -> Array:
    """Keep each token with the probability that leaves this number on average."""
    if counts.sum() <= tokens:
        return counts
    return rng.binomial(counts.astype(np.int64), tokens / counts.sum()).astype(float)


def _shares_at(rank: Array, ranked: Array) -> Array:
    """Return the share of all tokens at each rank; NaN beyond the last one."""
    shares = np.append(ranked / ranked.sum(), np.nan)
    return np.asarray(shares[np.minimum(rank - 1, len(ranked))])


def tabulate_quantiles(texts: pd.DataFrame) -> pd.DataFrame:
    """Tabulate percentiles of every number of the texts; a column is NaN if no text has the number."""
    table = compute_text_numbers(texts)[list(PER_TEXT)].quantile(QUANTILES)
    return table.rename_axis("quantile").reset_index()


def tabulate_words(reference: TokenCounts, candidate: TokenCounts) -> pd.DataFrame:
    """Tabulate the words with the largest differences of shares, the largest first.

    Returns
    -------
    data frame
        word, candidate_share, reference_share, difference (candidate - reference); the first word attains `tvd_sup`.
    """
    totals = [np.asarray(counts.sum(axis=0)).ravel() for counts in align_types(candidate, reference)]
    shares = [total / max(total.sum(), 1) for total in totals]
    union = candidate.types.append(reference.types.difference(candidate.types, sort=False))
    table = pd.DataFrame({"word": union, "candidate_share": shares[0], "reference_share": shares[1]})
    table["difference"] = table["candidate_share"] - table["reference_share"]
    order = table["difference"].abs().sort_values(ascending=False, kind="stable").index
    return table.loc[order[:WORDS_SHOWN]]
