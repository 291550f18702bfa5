"""Judges of systems: one detector per task, and a model of the order of sentences."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from macroscope.critics.narrative.latents import ORDER_MODEL
from macroscope.critics.narrative.narratives import read_corpus_narratives
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
    with atomic(output) as folder:
        folder.mkdir()
        for task in options.tasks:
            if detectors:
                (given,) = (path for path in detectors if path.name == f"{task}.{JUDGE}")
                shutil.copytree(given, folder / task)
                continue
            from macroscope.critics.narrative.training import train_judge  # copying folders does not need torch

            train_judge(documents, task, options, language, seed, checkpoints / task, resampling, folder / task)
        if options.detector.reads_embeddings:
            _write_order(folder / ORDER_MODEL, documents, embeddings, options, language, seed)


def _write_order(
    path: Path, documents: Path, embeddings: Path | None, options: NarrativeOptions, language: str, seed: int
) -> None:
    """Fit the model of the order of sentences and write it, if the narratives are enough."""
    if embeddings is not None:
        narratives = read_corpus_narratives(documents, language, embeddings)
    else:
        from macroscope.critics.narrative.training import read_embedded_corpus

        narratives = read_embedded_corpus(documents, language, options)
    model = fit_order(narratives, seed)
    if model is not None:
        model.save(path)
