"""Statistics of the critic `languages`, except those of its scores: comparison of topic proportions."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.languages.latents import TopicProportions, read_proportions
from macroscope.critics.languages.options import LanguagesOptions
from macroscope.critics.split_half import compare_with_control
from macroscope.critics.topic_shares import EXCERPT, TopicShares, sample_mask, share_differences, share_divergences
from macroscope.documents import Collection
from macroscope.files import atomic
from macroscope.options import Resampling
from macroscope.phrases import shorten
from macroscope.statistics.columns import mean_interval
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.permutation_groups import build_permutation
from macroscope.statistics.tidy import Estimate, rows_table, shares_table
from macroscope.statistics.vectors import compare_vectors
from macroscope.tables import read_csv, write_csv

STATISTICS = (
    Statistic("without_words_share", "share of the system's texts"),
    Statistic("known_words", "mean number of words of the vocabulary in a text of the system"),
)


@dataclass(frozen=True)
class Comparison:
    """Comparison of two collections under one model.

    Attributes
    ----------
    rows
        Statistics, with columns `statistics.tidy.ROWS`.
    sides
        Expected proportions in the documents of reference and candidate that have words of the vocabulary.
    """

    rows: pd.DataFrame
    sides: tuple[TopicShares, TopicShares]


def describe(texts: TopicProportions, resampling: Resampling) -> pd.DataFrame:
    """Compute the share of texts without words of the vocabulary, and words per text."""
    counts = {"without_words_share": int((texts.words == 0).sum())}
    words = Estimate("known_words", *mean_interval(texts.words.astype(float), resampling))
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
        `statistics.categorical` between the shares of topics in all documents, with equal weights. NaN if a collection
        has fewer than two texts with words of the vocabulary.
    """
    nonempty = reference.with_words(), candidate.with_words()
    rng = np.random.default_rng(resampling.seed)
    real, generated = (texts.subset(sample_mask(len(texts), options.most_vectors, rng)) for texts in nonempty)
    permutation = build_permutation(real.keys, generated.keys)
    distances = compare_vectors(
        real.mean, generated.mean, options.neighbours, options.permutations, resampling, permutation
    )
    sides = TopicShares(nonempty[0].keys, nonempty[0].mean), TopicShares(nonempty[1].keys, nonempty[1].mean)
    tables = [
        rows_table(distances, (len(real), len(generated)), lambda _: "too few texts"),
        share_divergences(*sides, options.permutations, resampling),
    ]
    return Comparison(pd.concat(tables, ignore_index=True), sides)


WORDS_PER_TOPIC = 3
MIXED_SHOWN = 10


def compare_latents(
    texts: Collection,
    control_latents: Path,
    latents: Path,
    inference: Path,
    *,
    options: LanguagesOptions,
    resampling: Resampling,
    evidence: Path,
) -> pd.DataFrame:
    """Compare the topic proportions of a system with the control's and write the evidence; see `critics.split_half`.

    The folder `evidence` has shares.csv (share of each language in the texts; see `critics.topic_shares`) and mixed.csv
    (texts with the smallest largest share: id, largest_share, languages, text).

    Parameters
    ----------
    texts
        Samples of the system.
    inference
        Folder of the model.
    """
    compared = compare_with_control(
        control_latents,
        latents,
        read=read_proportions,
        describe=lambda proportions: describe(proportions, resampling),
        compare=lambda reference, candidate: compare(reference, candidate, options, resampling),
        halves=_split_into_halves,
    )
    words = [
        " ".join(str(top_words).split()[:WORDS_PER_TOPIC])
        for top_words in read_csv(inference / "languages.csv")["words"]
    ]
    with atomic(evidence) as folder:
        folder.mkdir(parents=True)
        write_csv(share_differences(*compared.result.sides, words, resampling), folder / "shares.csv")
        write_csv(select_most_mixed(texts, compared.candidate, words), folder / "mixed.csv")
    return compared.table


def select_most_mixed(texts: Collection, proportions: TopicProportions, words: list[str]) -> pd.DataFrame:
    """Select the texts with the smallest largest share, with all shares: id, largest_share, languages, text."""
    nonempty = proportions.subset(proportions.words > 0)
    order = np.argsort(nonempty.mean.max(axis=1), kind="stable")[:MIXED_SHOWN]
    chosen = dict(zip(nonempty.keys["id"].iloc[order], nonempty.mean[order], strict=True))
    beginnings = {document.id: shorten(document.text, EXCERPT) for document in texts if document.id in chosen}
    rows = [
        (name, shares.max(), "; ".join(f"{w} ({s:.0%})" for w, s in zip(words, shares, strict=True)), beginnings[name])
        for name, shares in chosen.items()
    ]
    return pd.DataFrame(rows, columns=["id", "largest_share", "languages", "text"])


def _split_into_halves(proportions: TopicProportions) -> tuple[TopicProportions, TopicProportions]:
    nonempty = proportions.with_words()
    return nonempty.every_other(0), nonempty.every_other(1)
