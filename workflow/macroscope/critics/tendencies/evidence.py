"""What lies beside the numbers of a system, to draw and to read: ranks, curves, quantiles, nulls, words."""

from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.tendencies import growth
from macroscope.critics.tendencies.latents import PER_TEXT, Counted, on_common_types, per_text
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.rank_frequency import fit_zipf, ranked, zipf_law
from macroscope.files import atomic
from macroscope.statistics.document_sums import Array
from macroscope.statistics.permutation_groups import Permutation
from macroscope.tables import write_csv

RANKS_SHOWN = 300
WORDS_SHOWN = 30
QUANTILES = np.linspace(0, 1, 101)


def write_evidence(
    output: Path,
    reference: Counted,
    candidate: Counted,
    null: dict[str, Array],
    options: TendenciesOptions,
    seed: int,
    permutation: Permutation,
) -> None:
    """Write the evidence of a system into the folder `output`; `permutation` is that of blocks.

    ranks.csv
        rank, share (of all tokens), zipf (the own fit's): some ranks, evenly spaced on a logarithmic scale.
    <prefix>.csv of `growth.TYPES`
        The type-token curve and its distances at every length; see `growth.curve`.
    quantiles.csv
        quantile, and a column for each of `PER_TEXT`: percentiles over texts.
    words.csv
        The words whose share of the tokens differs most from the reference's.
    null.csv
        statistic, draw: what exchanging texts gave.
    """
    with atomic(output) as folder:
        folder.mkdir(parents=True)
        write_csv(ranks(candidate), folder / "ranks.csv")
        for prefix in growth.TYPES:
            curve = growth.curve(reference.texts, candidate.texts, prefix, options, seed, permutation)
            write_csv(curve, folder / f"{prefix}.csv")
        write_csv(quantiles(candidate.texts), folder / "quantiles.csv")
        write_csv(words(reference, candidate), folder / "words.csv")
        draws = [pd.DataFrame({"statistic": name, "draw": values}) for name, values in null.items()]
        empty = pd.DataFrame(columns=["statistic", "draw"])
        write_csv((pd.concat(draws, ignore_index=True) if draws else empty), folder / "null.csv")


def ranks(collection: Counted) -> pd.DataFrame:
    """Share of all tokens at some ranks, observed and by the fitted law."""
    counts = ranked(np.asarray(collection.counts.sum(axis=0)).ravel())
    if not len(counts):
        return pd.DataFrame(columns=["rank", "share", "zipf"])
    rank = np.unique(np.geomspace(1, len(counts), RANKS_SHOWN).astype(int))
    law = zipf_law(fit_zipf(counts), rank)
    return pd.DataFrame({"rank": rank, "share": counts[rank - 1] / counts.sum(), "zipf": law})


def quantiles(texts: pd.DataFrame) -> pd.DataFrame:
    """Percentiles of every number of the texts; a column is NaN where no text has the number."""
    table = per_text(texts)[list(PER_TEXT)].quantile(QUANTILES)
    return table.rename_axis("quantile").reset_index()


def words(reference: Counted, candidate: Counted) -> pd.DataFrame:
    """Words with the largest differences of shares, the largest first.

    Returns
    -------
    data frame
        word, candidate_share, reference_share, difference (candidate - reference); the first is where `tvd_sup` is.
    """
    counts = [np.asarray(side.sum(axis=0)).ravel() for side in on_common_types(candidate, reference)]
    shares = [side / max(side.sum(), 1) for side in counts]
    union = candidate.types.append(reference.types.difference(candidate.types, sort=False))
    table = pd.DataFrame({"word": union, "candidate_share": shares[0], "reference_share": shares[1]})
    table["difference"] = table["candidate_share"] - table["reference_share"]
    order = table["difference"].abs().sort_values(ascending=False, kind="stable").index
    return table.loc[order[:WORDS_SHOWN]]
