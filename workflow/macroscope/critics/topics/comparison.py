"""Stage `compare` of the critic `topics`: comparison of topic strengths, and the evidence.

The evidence has topics, pairs of topics, and a system's most unlikely documents.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from macroscope.arrays import mapped
from macroscope.critics.split_half import compare_with_control
from macroscope.critics.topic_shares import (
    Comparison,
    compare_posteriors,
    describe,
    label_topics,
    read_beginnings,
    share_differences,
)
from macroscope.critics.topics.latents import Array, TopicStrengths, read_strengths
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.options import TopicsOptions
from macroscope.documents import Collection
from macroscope.files import atomic
from macroscope.options import Resampling
from macroscope.statistics.covariance import covariance_discrepancy
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.tidy import Estimate
from macroscope.tables import read_csv, write_csv

_ROWS = 1 << 16
"""Number of documents per block."""


def describe_strengths(strengths: TopicStrengths, resampling: Resampling) -> pd.DataFrame:
    """Compute the shares of texts without words and of unconverged texts, and words per text."""
    unconverged = int(((strengths.words > 0) & ~strengths.converged).sum())
    return describe(strengths, resampling, {"not_converged_share": unconverged})


def compare(
    reference: TopicStrengths,
    candidate: TopicStrengths,
    model: CorrelatedTopicModel,
    options: TopicsOptions,
    resampling: Resampling,
) -> Comparison[TopicStrengths]:
    """Compare posterior means of relative topic strengths, and topic proportions; see `compare_posteriors`.

    The first row is `covariance_discrepancy` (`statistics.covariance`).
    """

    def discrepancy(real: Array, generated: Array, permutation: Permutation) -> list[Estimate]:
        return [covariance_discrepancy(real, generated, options.permutations, resampling, permutation)]

    return compare_posteriors(
        reference,
        candidate,
        options,
        resampling,
        vectors=lambda means: compute_relative_strengths(means, model),
        shares=lambda means: compute_proportions(means, model),
        further=discrepancy,
    )


def compute_relative_strengths(means: Array, model: CorrelatedTopicModel) -> Array:
    """Compute the strength of each topic relative to the mean of all topics, in the prior's standard deviations.

    Only differences of strengths matter, and a pinned model gives them relative to the fixed topic. Relative to the
    mean of all topics (the centred log-ratio of the proportions), no topic is special.

    Returns
    -------
    array
        Documents x topics.
    """
    size = len(model.topics)
    centring = np.eye(size) - 1 / size
    loadings = centring[:, : model.dimensions]
    deviations = np.sqrt(np.einsum("ia,ab,ib->i", loadings, model.covariance.numpy(), loadings))

    def relative(block: Array) -> Array:
        strengths = model.strengths(torch.tensor(block)).numpy()
        return np.asarray((strengths @ centring - loadings @ model.mean.numpy()) / deviations)

    return _apply_by_blocks(relative, means, size)


def compute_proportions(means: Array, model: CorrelatedTopicModel) -> Array:
    """Compute each document's topic proportions at its posterior mean (documents x topics); rows sum to 1."""

    def shares(block: Array) -> Array:
        return torch.softmax(model.strengths(torch.tensor(block)), dim=1).numpy()

    return _apply_by_blocks(shares, means, len(model.topics))


def _apply_by_blocks(function: Callable[[Array], Array], means: Array, width: int) -> Array:
    """Apply a function of single documents block by block; large results are memory-mapped (`macroscope.arrays`)."""
    result = mapped((len(means), width))
    for start in range(0, len(means), _ROWS):
        result[start : start + _ROWS] = function(means[start : start + _ROWS])
    return result


# ---- evidence --------------------------------------------------------------------------------------------------------

PAIRS_SHOWN = 20
OUTLIERS = 10
TOPICS_PER_DOCUMENT = 3


def write_evidence(
    output: Path,
    comparison: Comparison[TopicStrengths],
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
    words = label_topics(table["words"])
    model = CorrelatedTopicModel.load(inference / "model.npz")
    with atomic(output) as folder:
        folder.mkdir(parents=True)
        write_csv(share_differences(*comparison.shares, words, resampling), folder / "topics.csv")
        write_csv(tabulate_pairs(comparison, words, model), folder / "pairs.csv")
        write_csv(tabulate_outliers(texts, pd.read_parquet(scores), system, words, model), folder / "outliers.csv")


def tabulate_pairs(
    comparison: Comparison[TopicStrengths], words: Sequence[str], model: CorrelatedTopicModel
) -> pd.DataFrame:
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
    beginnings = read_beginnings(texts, shares)
    rows = [
        (row.id, row.nll, row.words, _format_largest(shares[row.id], words), beginnings[row.id])
        for row in worst.itertuples()
    ]
    return pd.DataFrame(rows, columns=["id", "nll", "known_words", "topics", "text"])


def _format_largest(shares: Array, words: Sequence[str]) -> str:
    order = np.argsort(-shares)[:TOPICS_PER_DOCUMENT]
    return "; ".join(f"{words[topic]} ({shares[topic]:.0%})" for topic in order)


# ---- the stage -------------------------------------------------------------------------------------------------------


def compare_latents(
    texts: Collection,
    control_latents: Path,
    latents: Path,
    scores: Path,
    inference: Path,
    *,
    options: TopicsOptions,
    resampling: Resampling,
    evidence: Path,
) -> pd.DataFrame:
    """Compare the topic strengths of a system with the control's and write the evidence; see `critics.split_half`.

    Parameters
    ----------
    texts, scores
        Samples and scores of the system, for the evidence of its most unlikely documents.
    inference
        Folder of the topic model.
    """
    model = CorrelatedTopicModel.load(inference / "model.npz")
    compared = compare_with_control(
        control_latents,
        latents,
        read=read_strengths,
        describe=lambda strengths: describe_strengths(strengths, resampling),
        compare=lambda reference, candidate: compare(reference, candidate, model, options, resampling),
        halves=TopicStrengths.halves,
    )
    write_evidence(evidence, compared.result, compared.candidate, texts, scores, inference, resampling)
    return compared.table
