"""The judges of systems: one detector per task."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from macroscope.critics.narrative.options import JUDGE, NarrativeOptions
from macroscope.files import atomic
from macroscope.resampling import Resampling


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
    """Collect the judges in the folder `output`, one per task (see `training.train_detector`).

    Parameters
    ----------
    detectors
        Folders "<task>.judge" of trained detectors; default: the judges are trained here.
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
