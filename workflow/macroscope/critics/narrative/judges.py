"""Judges of systems: one detector per task, and a model of the order of sentences."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from macroscope.critics.narrative.latents import ORDER_MODEL
from macroscope.critics.narrative.narratives import Narratives, read_corpus_narratives
from macroscope.critics.narrative.options import JUDGE, NarrativeOptions
from macroscope.critics.narrative.sentence_order import fit_order
from macroscope.files import atomic
from macroscope.resampling import Resampling


def train(
    documents: Path,
    detectors: Sequence[Path] | None = None,
    embeddings: Path | None = None,
    *,
    options: NarrativeOptions,
    language: str,
    seed: int,
    checkpoints: Path,
    resampling: Resampling,
    output: Path,
) -> None:
    """Collect the judges in the folder `output`, one per task (see `training.train_detector`), and fit the order.

    Parameters
    ----------
    detectors
        Folders "<task>.judge" of trained detectors; default: the judges are trained here.
    embeddings
        Embeddings of the corpus's sentences; default: they are computed here, if a judge reads them.
    """
    reads_embeddings = options.detector.reads_embeddings
    if not detectors or reads_embeddings:
        narratives = _read_narratives(documents, embeddings, options, language)
    with atomic(output) as folder:
        folder.mkdir()
        for task in options.tasks:
            if detectors:
                (given,) = (path for path in detectors if path.name == f"{task}.{JUDGE}")
                shutil.copytree(given, folder / task)
                continue
            from macroscope.critics.narrative.training import train_judge  # copying folders does not need torch

            train_judge(narratives, task, options, seed, checkpoints / task, resampling, folder / task)
        order = fit_order(narratives, seed) if reads_embeddings else None
        if order is not None:
            order.save(folder / ORDER_MODEL)


def _read_narratives(documents: Path, embeddings: Path | None, options: NarrativeOptions, language: str) -> Narratives:
    """Read the narratives of the corpus, with the embeddings that are given or, if a judge reads them, computed."""
    if embeddings is not None:
        return read_corpus_narratives(documents, language, embeddings)
    from macroscope.critics.narrative.training import read_embedded_corpus

    return read_embedded_corpus(documents, language, options)
