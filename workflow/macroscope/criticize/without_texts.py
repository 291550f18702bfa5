"""Runs without texts: numbers are computed in a folder that is removed, and the report is made of them alone.

What the stages of reporting read is kept as a kept reference is (`engine.kept_references`), of all sides. In the folder
of the output, only these stages run, on files that have no texts.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from macroscope.criticize import run
from macroscope.criticize.folder import lock_folder
from macroscope.criticize.inputs import CORPUS
from macroscope.criticize.profile import Profile
from macroscope.criticize.progress import EarlyNumbers, RunProgress
from macroscope.documents import read_documents
from macroscope.engine.kept_references import outputs_for, write_kept
from macroscope.engine.redaction import Passages
from macroscope.engine.run import run_plan
from macroscope.engine.tasks import Machine, find_tasks, steps_of
from macroscope.execution.job_environment import caches
from macroscope.execution.limits import Device, device_for_jobs
from macroscope.plan import Plan
from macroscope.readers.reading import KEPT_SUFFIX

_KEPT = f"numbers{KEPT_SUFFIX}"
"""Name of the file, in the folder of the output, with the numbers that the report is made of."""


def criticize_without_texts(
    config: Mapping[str, Any],
    profiles: Sequence[Profile],
    profile: pd.DataFrame,
    output: Path,
    cores: str,
    device: Device = "auto",
) -> Plan:
    """Judge texts as `criticize.run.criticize` does, and leave no sentence, title or id of them in the output.

    Raises
    ------
    MacroscopeError
        As there; or if a file of the output would hold a passage of a text.
    """
    run.require_output(output)
    with TemporaryDirectory(prefix="macroscope-") as name:
        folder = Path(name).resolve()
        os.environ.update(caches(folder))
        words = sum(sum(each.words) for each in profiles) / max(1, len(profiles))
        plan, number = run.plan_of(config), run.count_cores(cores)
        progress = RunProgress(words, number, folder / "logs", EarlyNumbers(plan))
        with device_for_jobs(device):
            plan = run_plan(plan, folder, number, lambda plan: [*_outputs(plan)], progress, keeps_logs=False)
        files = [plan.systems.samples(CORPUS, system) for system in plan.systems.all]
        files.append(plan.corpora.documents(CORPUS))
        there = [folder / file for file in files if (folder / file).exists()]
        passages = Passages(each.text for file in there for each in read_documents(file))
        kept = output.resolve() / _KEPT
        with lock_folder(output):
            write_kept(kept, folder, _outputs(plan), {}, passages)
    made = plan.config.model_dump(mode="json", exclude_defaults=True) if plan.config.failed else config
    corpus = {**made["corpora"][CORPUS], "files": [str(kept)]}
    return run.criticize({**made, "corpora": {CORPUS: corpus}}, profiles, profile, output, cores, device)


def _outputs(plan: Plan) -> dict[str, Sequence[str]]:
    """Return what the stages of reporting read."""
    tasks = find_tasks(steps_of(plan), plan.targets(), Machine(1), lambda path: True)
    return outputs_for(tasks, lambda task: task.words[0] == "reporting")
