"""Judges of systems: one detector per task, a model of the order of sentences, and the scales of the incoherence."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from macroscope.critics.narrative.incoherence import Scale, describe_incoherence, fit_scales, write_scales
from macroscope.critics.narrative.latents import ORDER_MODEL
from macroscope.critics.narrative.options import JUDGE, NarrativeOptions
from macroscope.critics.narrative.sentence_order import OrderModel, fit_order, judge_orders
from macroscope.critics.narratives import Narratives
from macroscope.critics.sentence_vectors import read_corpus_narratives
from macroscope.files import atomic
from macroscope.options import Resampling


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
    """Collect the judges in the folder `output`, one per task (see `training.train_detector`); fit order and scales.

    Parameters
    ----------
    detectors
        Folders "<task>.judge" of trained detectors; default: the judges are trained here.
    embeddings
        Embeddings of the corpus's sentences; default: they are computed here, if a judge reads them.
    """
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
        order = fit_order(narratives, seed) if options.detector.reads_embeddings else None
        if order is not None:
            order.save(folder / ORDER_MODEL)
        write_scales(_fit_scales(narratives, options, folder, order), folder)


def _read_narratives(documents: Path, embeddings: Path | None, options: NarrativeOptions, language: str) -> Narratives:
    """Read the narratives of the corpus, with the embeddings that are given or, if a judge reads them, computed."""
    if embeddings is not None:
        return read_corpus_narratives(documents, options.segmenter(language), embeddings)
    from macroscope.critics.narrative.training import read_embedded_corpus

    return read_embedded_corpus(documents, language, options)


def _fit_scales(
    narratives: Narratives, options: NarrativeOptions, judges: Path, order: OrderModel | None
) -> dict[str, Scale]:
    """Fit the scales of the incoherence on whole validation narratives."""
    from macroscope.critics.narrative.detector import Detector, read_narratives
    from macroscope.critics.narrative.evaluation import select_narratives

    valid = select_narratives(narratives, narratives.of_split("valid"))
    probabilities = {task: read_narratives(Detector.load(judges / task), valid) for task in options.tasks}
    return fit_scales(describe_incoherence(probabilities, judge_orders(valid, order) if order else None))
