"""The stage `compare`: topic strengths in, statistics and evidence out."""

from pathlib import Path

import pandas as pd

from macroscope.critics.split_half import compare_with_control
from macroscope.critics.topics.comparison import compare, describe
from macroscope.critics.topics.evidence import write_evidence
from macroscope.critics.topics.latents import TopicStrengths, read_strengths
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.options import TopicsOptions
from macroscope.statistics.latent import Resampling


def compare_latents(
    texts: Path,
    control_latents: Path,
    latents: Path,
    scores: Path,
    inference: Path,
    *,
    options: TopicsOptions,
    resampling: Resampling,
    evidence: Path,
) -> pd.DataFrame:
    """Compare the topic strengths of a system with the control's, and write the evidence; see `critics.split_half`.

    Parameters
    ----------
    texts, scores
        Of the system: its most unlikely documents are shown.
    inference
        Folder of the topic model.
    """
    model = CorrelatedTopicModel.load(inference / "model.npz")
    compared = compare_with_control(
        control_latents,
        latents,
        read=read_strengths,
        describe=lambda side: describe(side, resampling),
        compare=lambda reference, candidate: compare(reference, candidate, model, options, resampling),
        halves=_halves,
    )
    write_evidence(evidence, compared.found, compared.candidate, texts, scores, inference, resampling)
    return compared.table


def _halves(side: TopicStrengths) -> tuple[TopicStrengths, TopicStrengths]:
    known = side.with_words()
    return known.every_other(0), known.every_other(1)
