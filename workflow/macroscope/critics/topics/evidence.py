"""Evidence of a system for readers: topics, pairs of topics, and its most unlikely documents."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.topic_shares import EXCERPT, share_differences
from macroscope.critics.topics.comparison import Comparison, compute_proportions, compute_relative_strengths
from macroscope.critics.topics.latents import Array, TopicStrengths
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.words import shorten
from macroscope.documents import Collection
from macroscope.files import atomic
from macroscope.resampling import Resampling
from macroscope.tables import read_csv, write_csv

WORDS_PER_TOPIC = 3
PAIRS_SHOWN = 20
OUTLIERS = 10
TOPICS_PER_DOCUMENT = 3


def write_evidence(
    output: Path,
    comparison: Comparison,
    system: TopicStrengths,
    texts: Collection,
    scores: Path,
    inference: Path,
    resampling: Resampling,
) -> None:
    """Write the evidence of a system into the folder `output`.

    topics.csv
        Share of each topic in the texts; see `critics.topic_shares`.
    pairs.csv
        Pairs of topics whose correlation differs most.
    outliers.csv
        Documents with the highest T(x) (deng2022 Table 14).
    """
    table = read_csv(inference / "topics.csv").sort_values("topic")
    words = [" ".join(str(top_words).split()[:WORDS_PER_TOPIC]) for top_words in table["words"]]
    model = CorrelatedTopicModel.load(inference / "model.npz")
    with atomic(output) as folder:
        folder.mkdir(parents=True)
        write_csv(share_differences(*comparison.shares, words, resampling), folder / "topics.csv")
        write_csv(tabulate_pairs(comparison, words, model), folder / "pairs.csv")
        write_csv(tabulate_outliers(texts, pd.read_parquet(scores), system, words, model), folder / "outliers.csv")


def tabulate_pairs(comparison: Comparison, words: Sequence[str], model: CorrelatedTopicModel) -> pd.DataFrame:
    """Tabulate the pairs of topics whose correlation over documents differs most between the two collections.

    Correlations are those of the topics' relative strengths.

    Returns
    -------
    data frame
        first, second (words of the topics), reference_correlation, candidate_correlation, in [-1, 1]; NaN if a
        strength is the same in all documents.
    """
    reference, candidate = (
        _correlations(compute_relative_strengths(strengths.mean, model)) for strengths in comparison.sides
    )
    first, second = np.triu_indices(len(reference), 1)
    differences = np.nan_to_num(np.abs(candidate[first, second] - reference[first, second]), nan=-1.0)
    chosen = np.argsort(-differences, kind="stable")[:PAIRS_SHOWN]
    return pd.DataFrame(
        {
            "first": [words[topic] for topic in first[chosen]],
            "second": [words[topic] for topic in second[chosen]],
            "reference_correlation": reference[first, second][chosen],
            "candidate_correlation": candidate[first, second][chosen],
        }
    )


def _correlations(strengths: Array) -> Array:
    if len(strengths) < 2:
        return np.full((strengths.shape[1],) * 2, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.array(np.corrcoef(strengths, rowvar=False), ndmin=2)


def tabulate_outliers(
    texts: Collection, scores: pd.DataFrame, system: TopicStrengths, words: Sequence[str], model: CorrelatedTopicModel
) -> pd.DataFrame:
    """Tabulate the documents of a system whose topic strengths are the least likely under the prior.

    Returns
    -------
    data frame
        id, nll (nats), known_words, topics (the largest, with their shares of the document), text (its beginning); the
        highest NLL first.
    """
    worst = scores.dropna(subset=["nll"]).sort_values(["nll", "id"], ascending=[False, True]).head(OUTLIERS)
    chosen = system.subset(system.keys["id"].isin(worst["id"]).to_numpy())
    shares = dict(zip(chosen.keys["id"], compute_proportions(chosen.mean, model), strict=True))
    beginnings = {document.id: shorten(document.text, EXCERPT) for document in texts if document.id in shares}
    rows = [
        (row.id, row.nll, row.words, _format_largest(shares[row.id], words), beginnings[row.id])
        for row in worst.itertuples()
    ]
    return pd.DataFrame(rows, columns=["id", "nll", "known_words", "topics", "text"])


def _format_largest(shares: Array, words: Sequence[str]) -> str:
    order = np.argsort(-shares)[:TOPICS_PER_DOCUMENT]
    return "; ".join(f"{words[topic]} ({shares[topic]:.0%})" for topic in order)
