"""The files of a comparison: topic proportions in, rows and evidence out."""

from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.excerpts import beginning
from macroscope.critics.halves import compare_with_control
from macroscope.critics.languages.comparison import compare, describe
from macroscope.critics.languages.latents import TopicProportions, read_proportions
from macroscope.critics.languages.options import LanguagesOptions
from macroscope.critics.shares import EXCERPT, share_differences
from macroscope.documents import read_documents
from macroscope.files import atomic
from macroscope.statistics.latent import Resampling
from macroscope.tables import read_csv, write_csv

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
    """Compare the topic proportions of a system with the control's, and write the evidence; see `critics.halves`.

    The folder `evidence` has shares.csv (how much of the texts is of each language; see `critics.shares`) and mixed.csv
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
