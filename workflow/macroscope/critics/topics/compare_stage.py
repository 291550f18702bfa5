"""Stage `compare` of the critic `topics`: topic strengths -> statistics and evidence."""

from pathlib import Path

import pandas as pd

from macroscope.critics.split_half import compare_with_control
from macroscope.critics.topics.comparison import compare, describe
from macroscope.critics.topics.evidence import write_evidence
from macroscope.critics.topics.latents import TopicStrengths, read_strengths
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.options import TopicsOptions
from macroscope.documents import Collection
from macroscope.resampling import Resampling


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
        describe=lambda strengths: describe(strengths, resampling),
        compare=lambda reference, candidate: compare(reference, candidate, model, options, resampling),
        halves=_split_into_halves,
    )
    write_evidence(evidence, compared.result, compared.candidate, texts, scores, inference, resampling)
    return compared.table


def _split_into_halves(strengths: TopicStrengths) -> tuple[TopicStrengths, TopicStrengths]:
    nonempty = strengths.with_words()
    return nonempty.every_other(0), nonempty.every_other(1)
