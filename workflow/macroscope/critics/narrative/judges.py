"""What judges systems: a detector for each task."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from macroscope.critics.narrative.options import JUDGE, NarrativeOptions
from macroscope.files import atomic
from macroscope.statistics.latent import Resampling


def train(
    documents: Path,
    detectors: Sequence[Path] | None = None,
    *,
    options: NarrativeOptions,
    language: str,
    seed: int,
    checkpoints: Path,
    resampling: Resampling,
    output: Path,
) -> None:
    """Put together what judges systems: the folder `output` gets one of each task (see `training.train_detector`).

    Parameters
    ----------
    detectors
        Folders "<task>.judge" of trained detectors; default: they are trained here.
    """
    with atomic(output) as folder:
        folder.mkdir()
        for task in options.tasks:
            if detectors:
                (given,) = (path for path in detectors if path.name == f"{task}.{JUDGE}")
                shutil.copytree(given, folder / task)
                continue
            from macroscope.critics.narrative.training import train_judge  # to copy folders takes no torch

            train_judge(documents, task, options, language, seed, checkpoints / task, resampling, folder / task)
