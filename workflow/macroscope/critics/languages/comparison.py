"""Every number of the languages critic besides its scores: a candidate's topic proportions against a reference's."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from macroscope.critics.languages.latents import TopicProportions
from macroscope.critics.languages.options import LanguagesOptions
from macroscope.critics.shares import Side, at_most, share_divergences
from macroscope.statistics.columns import mean_interval
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.exchange import exchange_of
from macroscope.statistics.latent import Resampling
from macroscope.statistics.tidy import UNDEFINED, rows_table, shares_table
from macroscope.statistics.vectors import compare_vectors

STATISTICS = (
    Statistic("without_words_share", "share of the system's texts"),
    Statistic("known_words", "mean number of words of the vocabulary in a text of the system"),
)


@dataclass(frozen=True)
class Comparison:
    """Two sides under one model.

    Attributes
    ----------
    rows
        Columns `statistics.tidy.ROWS`.
    sides
        Expected proportions in the documents of reference and candidate, without those that have no known word.
    """

    rows: pd.DataFrame
    sides: tuple[Side, Side]


def describe(texts: TopicProportions, resampling: Resampling) -> pd.DataFrame:
    """Texts without any word of the vocabulary, and known words a text."""
    counts = {"without_words_share": int((texts.words == 0).sum())}
    words = ("known_words", *mean_interval(texts.words.astype(float), resampling), UNDEFINED)
    shares = shares_table(counts, len(texts), resampling.confidence)
    return pd.concat([shares, rows_table([words], (0, len(texts)), lambda _: "no text")], ignore_index=True)


def compare(
    reference: TopicProportions, candidate: TopicProportions, options: LanguagesOptions, resampling: Resampling
) -> Comparison:
    """Compare expected proportions.

    Returns
    -------
    Comparison
        Rows: `mmd_squared`, `energy_distance`, `precision`, `recall` (`statistics.vectors`); the divergences of
        `statistics.categorical` between the shares that topics have of all documents, each document counting alike. NaN
        where a side has fewer than two texts with words of the vocabulary.
    """
    known = reference.with_words(), candidate.with_words()
    rng = np.random.default_rng(resampling.seed)
    theirs, ours = (side.some(at_most(len(side), options.most_vectors, rng)) for side in known)
    exchange = exchange_of(theirs.keys, ours.keys)
    distances = compare_vectors(theirs.mean, ours.mean, options.neighbours, options.permutations, resampling, exchange)
    sides = Side(known[0].keys, known[0].mean), Side(known[1].keys, known[1].mean)
    tables = [
        rows_table(distances, (len(theirs), len(ours)), lambda _: "too few texts"),
        share_divergences(*sides, options.permutations, resampling),
    ]
    return Comparison(pd.concat(tables, ignore_index=True), sides)
