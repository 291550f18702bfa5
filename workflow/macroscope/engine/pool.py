"""Run tasks on this machine: each as soon as its inputs exist, in processes forked by a job server."""

import os
import select
import shutil
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from macroscope.engine.manifest import Manifest
from macroscope.engine.tasks import Machine, Task
from macroscope.execution.failures import FailedJob
from macroscope.execution.job_client import read_status, submit
from macroscope.execution.job_server import THREADS, job_server
from macroscope.gaps import Gap

PRINTED = "jobs.out"
"""File with all that the tasks print. It is not a log (*.log): each task has its own, where its failure is read."""
TICK_SECONDS = 0.5
"""Longest time between two calls of `Watcher.tick`."""


class Watcher:
    """Events of a run while it goes on; this watcher ignores them."""

    def begin(self, tasks: Sequence[Task]) -> None:
        """Learn which tasks will run."""

    def finish(self, task: Task, folder: Path) -> None:
        """Learn that a task has made its outputs in a folder."""

    def leave_out(self, missing: Sequence[Gap]) -> None:
        """Learn which parts of the run failed and will be missing from its tables."""

    def tick(self) -> None:
        """Learn that time has passed."""

    def end(self) -> None:
        """Learn that no task runs any more."""


def run_tasks(
    tasks: Sequence[Task], folder: Path, machine: Machine, manifest: Manifest, watcher: Watcher
) -> list[FailedJob]:
    """Run the tasks of which the manifest does not know that they are done; return those that failed.

    All run that need none of the failed ones.

    Parameters
    ----------
    tasks
        The tasks, each after those that make its inputs.
    folder
        Folder of the run, which their paths are relative to.
    machine
        What the tasks that run at the same time may use together.
    """
    todo = [task for task in tasks if not manifest.is_done(task)]
    if not todo:
        return []
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    modules = list(dict.fromkeys(module for task in todo for module in task.modules))
    watcher.begin(todo)
    with job_server(folder, modules) as server, (folder / "logs" / PRINTED).open("ab") as output:
        pool = _Pool(server, folder, machine, output.fileno(), manifest, watcher)
        try:
            return pool.run(todo)
        finally:
            pool.end()
            watcher.end()


@dataclass
class _Pool:
    """The tasks that run at the moment.

    Attributes
    ----------
    server
        Path of the job server's socket.
    output
        File descriptor for what the tasks print.
    folder, machine, manifest, watcher
        See `run_tasks`.
    running
        Connection to the server -> task and the time when it began.
    """

    server: str
    folder: Path
    machine: Machine
    output: int
    manifest: Manifest
    watcher: Watcher
    running: dict[socket.socket, tuple[Task, float]] = field(default_factory=dict)

    def run(self, tasks: Sequence[Task]) -> list[FailedJob]:
        """Run the tasks to the end, except those that need the outputs of one that failed; return the failed ones.

        They are sorted by log, so that two runs name the same log as the reason for a critic.
        """
        failed: list[Task] = []
        waiting = dict(enumerate(tasks))
        missing = _inputs_to_make(tasks)
        urgency = _urgency(tasks)
        while waiting or self.running:
            ready = sorted((number for number in waiting if not missing[number]), key=lambda n: -urgency[n])
            for number in ready:
                if self._fits(waiting[number]):
                    self._start(waiting.pop(number))
            for task, is_made in self._wait():
                if not is_made:
                    failed.append(task)
                    left_out = _unmade(task, tasks)
                    waiting = {n: later for n, later in waiting.items() if left_out.isdisjoint(later.outputs)}
                    continue
                made = set(task.outputs)
                for needed in missing.values():
                    needed -= made
                self.manifest.record(task)
                self.watcher.finish(task, self.folder)
        failed.sort(key=lambda task: task.log)
        return [FailedJob(task.log, _unmade(task, tasks), self.folder) for task in failed]

    def end(self) -> None:
        """End the running tasks: the server ends a task whose connection is closed."""
        for connection in self.running:
            connection.close()

    def _fits(self, task: Task) -> bool:
        """Return whether the machine has room for a task beside those that run; alone, each may run."""
        together = [task.uses, *(running.uses for running, _ in self.running.values())]
        return not self.running or (
            sum(uses.threads for uses in together) <= self.machine.threads
            and sum(uses.gpus for uses in together) <= self.machine.gpus
            and sum(uses.megabytes for uses in together) <= self.machine.megabytes
        )

    def _start(self, task: Task) -> None:
        self.manifest.forget(task)
        for output in task.outputs:
            _remove(self.folder / output)
        environment = os.environ | {THREADS: str(task.uses.threads)}
        words = ["--log", task.log, *task.words]
        connection = submit(self.server, words, str(self.folder), environment, (self.output, self.output))
        self.running[connection] = task, time.monotonic()

    def _wait(self) -> Iterator[tuple[Task, bool]]:
        """Wait until a task ends, or for a tick; yield those that have ended, and whether each has made its outputs."""
        for connection in select.select(list(self.running), [], [], TICK_SECONDS)[0]:
            task, began = self.running.pop(connection)
            status = read_status(connection)
            connection.close()
            if not status:
                _write_benchmark(self.folder / task.log, time.monotonic() - began)
            yield task, not status
        self.watcher.tick()


def _unmade(failed: Task, tasks: Sequence[Task]) -> frozenset[str]:
    """Return the outputs of a task and of all that need these, directly or not."""
    unmade = set(failed.outputs)
    for task in tasks:  # each stands after those that make its inputs
        if unmade.intersection(task.inputs):
            unmade.update(task.outputs)
    return frozenset(unmade)


def _inputs_to_make(tasks: Sequence[Task]) -> dict[int, set[str]]:
    """Return number of a task -> its inputs that other tasks make."""
    made = {output for task in tasks for output in task.outputs}
    return {number: made.intersection(task.inputs) for number, task in enumerate(tasks)}


def _urgency(tasks: Sequence[Task]) -> list[int]:
    """Return the longest expected time from the beginning of each task to the end of the run."""
    maker = {output: number for number, task in enumerate(tasks) for output in task.outputs}
    urgency = [0] * len(tasks)
    for number in reversed(range(len(tasks))):
        urgency[number] += tasks[number].minutes + 1
        for name in tasks[number].inputs:
            if name in maker:
                urgency[maker[name]] = max(urgency[maker[name]], urgency[number])
    return urgency


def _remove(path: Path) -> None:
    """Remove an earlier output: a task must not find parts of it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _write_benchmark(log: Path, seconds: float) -> None:
    """Write the wall-clock time of a task beside its log, as Snakemake does; the log has the rest."""
    log.with_suffix(".tsv").write_text(f"s\n{seconds:.4f}\n", encoding="utf-8")
