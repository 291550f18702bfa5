"""Statistics of the critic `languages`, except those of its scores: comparison of topic proportions."""

from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.languages.latents import TopicProportions, read_proportions
from macroscope.critics.languages.options import LanguagesOptions
from macroscope.critics.split_half import compare_with_control
from macroscope.critics.topic_shares import (
    Comparison,
    compare_posteriors,
    describe,
    label_topics,
    read_beginnings,
    share_differences,
)
from macroscope.documents import Collection
from macroscope.files import atomic
from macroscope.options import Resampling
from macroscope.tables import read_csv, write_csv

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

    def compare(reference: TopicProportions, candidate: TopicProportions) -> Comparison[TopicProportions]:
        return compare_posteriors(
            reference, candidate, options, resampling, vectors=lambda means: means, shares=lambda means: means
        )

    compared = compare_with_control(
        control_latents,
        latents,
        read=read_proportions,
        describe=lambda proportions: describe(proportions, resampling),
        compare=compare,
        halves=TopicProportions.halves,
    )
    words = label_topics(read_csv(inference / "languages.csv")["words"])
    with atomic(evidence) as folder:
        folder.mkdir(parents=True)
        write_csv(share_differences(*compared.result.shares, words, resampling), folder / "shares.csv")
        write_csv(select_most_mixed(texts, compared.candidate, words), folder / "mixed.csv")
    return compared.table


def select_most_mixed(texts: Collection, proportions: TopicProportions, words: list[str]) -> pd.DataFrame:
    """Select the texts with the smallest largest share, with all shares: id, largest_share, languages, text."""
    nonempty = proportions.subset(proportions.words > 0)
    order = np.argsort(nonempty.mean.max(axis=1), kind="stable")[:MIXED_SHOWN]
    chosen = dict(zip(nonempty.keys["id"].iloc[order], nonempty.mean[order], strict=True))
    beginnings = read_beginnings(texts, chosen)
    rows = [
        (name, shares.max(), "; ".join(f"{w} ({s:.0%})" for w, s in zip(words, shares, strict=True)), beginnings[name])
        for name, shares in chosen.items()
    ]
    return pd.DataFrame(rows, columns=["id", "largest_share", "languages", "text"])
