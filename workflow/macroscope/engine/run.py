"""Make the files of a run on this machine, without what fails."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from macroscope.engine.kept_references import find_kept
from macroscope.engine.manifest import FILE, Manifest
from macroscope.engine.pool import Watcher, run_tasks
from macroscope.engine.tasks import Machine, tasks_of
from macroscope.errors import MacroscopeError
from macroscope.execution.failures import describe_failed
from macroscope.execution.job_environment import caches
from macroscope.execution.limits import Device, device_for_jobs, limits
from macroscope.files import write_text
from macroscope.gaps import UNFINISHED, rules_with_failed_stages
from macroscope.plan import Plan
from macroscope.plan.second_pass import without_failed
from macroscope.plan.user_files import Digests
from macroscope.runs.contents import remove_finished

Targets = Callable[[Plan], Iterable[str]]
"""Function of a plan that returns the files to make."""


def run_plan(
    plan: Plan,
    folder: Path,
    cores: int,
    device: Device,
    targets: Targets = Plan.targets,
    watcher: Watcher | None = None,
    keeps_logs: bool = True,
) -> Plan:
    """Make the files of a run that are not done yet, without what fails; return the plan of what was made.

    Killed and called again, it goes on where it stopped; called again after failures, it tries only what failed.

    Parameters
    ----------
    folder
        Folder of the run, which the plan's paths are relative to.
    cores
        Number of cores: the threads of the tasks that run at the same time add up to no more.
    device
        Device of the models.
    targets
        Function that returns the files to make; default: all.
    watcher
        What is told of the run while it goes on.
    keeps_logs
        Whether the folder stays, so that a reader of the reasons finds the logs.

    Raises
    ------
    MacroscopeError
        If nothing is left of the run, with the reasons.
    """
    os.environ.update(caches(folder))  # for libraries that are imported after the run, too
    watcher = watcher or Watcher()
    results = folder / plan.results
    results.mkdir(parents=True, exist_ok=True)
    (results / UNFINISHED).touch()  # from now on, its texts may be newer than its tables
    kept = find_kept(path for corpus in plan.config.corpora.values() for path in getattr(corpus, "files", ()))
    if kept is not None:
        kept.lay(folder, kept.of_jobs)
    while True:
        _write_descriptions(plan, folder)
        wanted = list(targets(plan))
        with device_for_jobs(device):
            available = limits()
            machine = Machine(cores, available["gpu"], available["mem_mb"])
            tasks = tasks_of(plan, machine, folder, wanted, kept.gives_output if kept else None)
            manifest = Manifest(folder, f"{plan.results}/{FILE}", tasks, Digests(folder))
            repeated = rules_with_failed_stages(results)
            for task in tasks:
                if task.name in repeated:
                    manifest.forget(task)
            failed = run_tasks(tasks, folder, machine, manifest, watcher)
        if not failed:
            break
        config = without_failed(plan, failed, wanted)
        if config is None:
            raise MacroscopeError(describe_failed(failed, keeps_logs))
        new = config.gaps[len(plan.config.gaps) :]
        watcher.leave_out(new)
        missing = [entry if keeps_logs else entry.model_copy(update={"log": ""}) for entry in new]
        plan = Plan(config.model_copy(update={"gaps": [*plan.config.gaps, *missing]}))
    if not plan.config.failed:
        remove_finished(results)
    (results / UNFINISHED).unlink(missing_ok=True)
    return plan


def _write_descriptions(plan: Plan, folder: Path) -> None:
    """Write the effective config and the contents; equal ones keep their dates, by which Snakemake judges."""
    for name, text in plan.descriptions().items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_text(path, text)
