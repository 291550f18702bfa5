"""Every number of the languages critic besides its scores: a candidate's topic proportions against a reference's."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.languages.latents import TopicProportions, read_proportions
from macroscope.critics.languages.options import LanguagesOptions
from macroscope.critics.split_half import compare_with_control
from macroscope.critics.topic_shares import EXCERPT, Side, at_most, share_differences, share_divergences
from macroscope.critics.words import beginning
from macroscope.documents import read_documents
from macroscope.files import atomic
from macroscope.statistics.columns import mean_interval
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.latent import Resampling
from macroscope.statistics.permutation_groups import permutation_of
from macroscope.statistics.tidy import UNDEFINED, rows_table, shares_table
from macroscope.statistics.vectors import compare_vectors
from macroscope.tables import read_csv, write_csv

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
    permutation = permutation_of(theirs.keys, ours.keys)
    distances = compare_vectors(
        theirs.mean, ours.mean, options.neighbours, options.permutations, resampling, permutation
    )
    sides = Side(known[0].keys, known[0].mean), Side(known[1].keys, known[1].mean)
    tables = [
        rows_table(distances, (len(theirs), len(ours)), lambda _: "too few texts"),
        share_divergences(*sides, options.permutations, resampling),
    ]
    return Comparison(pd.concat(tables, ignore_index=True), sides)


WORDS_OF_A_TOPIC = 3
MIXED_SHOWN = 10


def compare_latents(
    texts: Path,
    control_latents: Path,
    latents: Path,
    inference: Path,
    *,
    options: LanguagesOptions,
    resampling: Resampling,
    evidence: Path,
) -> pd.DataFrame:
    """Compare the topic proportions of a system with the control's, and write the evidence; see `critics.split_half`.

    The folder `evidence` has shares.csv (how much of the texts is of each language; see `critics.topic_shares`) and mixed.csv
    (the texts whose largest share is the smallest: id, largest_share, languages, text).

    Parameters
    ----------
    texts
        Of the system.
    inference
        Folder of the model.
    """
    compared = compare_with_control(
        control_latents,
        latents,
        read=read_proportions,
        describe=lambda side: describe(side, resampling),
        compare=lambda reference, candidate: compare(reference, candidate, options, resampling),
        halves=_halves,
    )
    words = [" ".join(str(some).split()[:WORDS_OF_A_TOPIC]) for some in read_csv(inference / "languages.csv")["words"]]
    with atomic(evidence) as folder:
        folder.mkdir(parents=True)
        write_csv(share_differences(*compared.found.sides, words, resampling), folder / "shares.csv")
        write_csv(most_mixed(texts, compared.candidate, words), folder / "mixed.csv")
    return compared.table


def most_mixed(texts: Path, found: TopicProportions, words: list[str]) -> pd.DataFrame:
    """Texts whose largest share is the smallest, with all shares: id, largest_share, languages, text."""
    known = found.some(found.words > 0)
    order = np.argsort(known.mean.max(axis=1), kind="stable")[:MIXED_SHOWN]
    chosen = dict(zip(known.keys["id"].iloc[order], known.mean[order], strict=True))
    beginnings = {
        document.id: beginning(document.text, EXCERPT) for document in read_documents(texts) if document.id in chosen
    }
    rows = [
        (name, shares.max(), "; ".join(f"{w} ({s:.0%})" for w, s in zip(words, shares, strict=True)), beginnings[name])
        for name, shares in chosen.items()
    ]
    return pd.DataFrame(rows, columns=["id", "largest_share", "languages", "text"])


def _halves(side: TopicProportions) -> tuple[TopicProportions, TopicProportions]:
    known = side.with_words()
    return known.every_other(0), known.every_other(1)
