"""What lies beside the numbers of a system, to read: topics, pairs of topics, and its most unlikely documents."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.topic_shares import EXCERPT, share_differences
from macroscope.critics.topics.comparison import Comparison, proportions, relative_strengths
from macroscope.critics.topics.latents import Array, TopicStrengths
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.words import beginning
from macroscope.documents import read_documents
from macroscope.files import atomic
from macroscope.statistics.latent import Resampling
from macroscope.tables import read_csv, write_csv

WORDS_OF_A_TOPIC = 3
PAIRS_SHOWN = 20
OUTLIERS = 10
TOPICS_OF_A_DOCUMENT = 3


def write_evidence(
    output: Path,
    found: Comparison,
    system: TopicStrengths,
    texts: Path,
    scores: Path,
    inference: Path,
    resampling: Resampling,
) -> None:
    """Write the evidence of a system into the folder `output`.

    topics.csv
        How much of the texts is about each topic; see `critics.topic_shares`.
    pairs.csv
        Pairs of topics whose correlation differs most.
    outliers.csv
        Documents with the highest T(x) (deng2022 Table 14).
    """
    table = read_csv(inference / "topics.csv").sort_values("topic")
    words = [" ".join(str(some).split()[:WORDS_OF_A_TOPIC]) for some in table["words"]]
    model = CorrelatedTopicModel.load(inference / "model.npz")
    with atomic(output) as folder:
        folder.mkdir(parents=True)
        write_csv(share_differences(*found.shares, words, resampling), folder / "topics.csv")
        write_csv(pairs(found, words, model), folder / "pairs.csv")
        write_csv(outliers(texts, pd.read_parquet(scores), system, words, model), folder / "outliers.csv")


def pairs(found: Comparison, words: Sequence[str], model: CorrelatedTopicModel) -> pd.DataFrame:
    """Pairs of topics whose relative strengths' correlations over documents differ most between the two sides.

    Returns
    -------
    data frame
        first, second (words of the topics), reference_correlation, candidate_correlation, in [-1, 1]; NaN where a
        strength is the same in all documents.
    """
    reference, candidate = (_correlations(relative_strengths(side.mean, model)) for side in found.sides)
    one, other = np.triu_indices(len(reference), 1)
    away = np.nan_to_num(np.abs(candidate[one, other] - reference[one, other]), nan=-1.0)
    chosen = np.argsort(-away, kind="stable")[:PAIRS_SHOWN]
    return pd.DataFrame(
        {
            "first": [words[topic] for topic in one[chosen]],
            "second": [words[topic] for topic in other[chosen]],
            "reference_correlation": reference[one, other][chosen],
            "candidate_correlation": candidate[one, other][chosen],
        }
    )


def _correlations(strengths: Array) -> Array:
    if len(strengths) < 2:
        return np.full((strengths.shape[1],) * 2, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.array(np.corrcoef(strengths, rowvar=False), ndmin=2)


def outliers(
    texts: Path, scores: pd.DataFrame, system: TopicStrengths, words: Sequence[str], model: CorrelatedTopicModel
) -> pd.DataFrame:
    """Documents of a system whose topic strengths are the least likely under the prior.

    Returns
    -------
    data frame
        id, nll (nats), known_words, topics (the largest ones, with their shares of the document), text (its beginning);
        the highest NLL first.
    """
    worst = scores.dropna(subset=["nll"]).sort_values(["nll", "id"], ascending=[False, True]).head(OUTLIERS)
    chosen = system.some(system.keys["id"].isin(worst["id"]).to_numpy())
    shares = dict(zip(chosen.keys["id"], proportions(chosen.mean, model), strict=True))
    beginnings = {
        document.id: beginning(document.text, EXCERPT) for document in read_documents(texts) if document.id in shares
    }
    rows = [
        (row.id, row.nll, row.words, _largest(shares[row.id], words), beginnings[row.id]) for row in worst.itertuples()
    ]
    return pd.DataFrame(rows, columns=["id", "nll", "known_words", "topics", "text"])


def _largest(shares: Array, words: Sequence[str]) -> str:
    order = np.argsort(-shares)[:TOPICS_OF_A_DOCUMENT]
    return "; ".join(f"{words[topic]} ({shares[topic]:.0%})" for topic in order)
