"""A run without Snakemake: its tasks, each as soon as its inputs exist, in processes forked by a job server."""

import os
import select
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from macroscope.execution.failures import FailedJob
from macroscope.execution.job_client import read_status, submit
from macroscope.execution.job_pool import job_server
from macroscope.execution.job_server import THREADS
from macroscope.execution.tasks import Task

PRINTED = "jobs.out"
"""File with all that the tasks print. It is not a log (*.log): each task has its own, where its failure is read."""


def run_tasks(
    tasks: Sequence[Task], folder: Path, cores: int, finished: Callable[[Task], None] = lambda task: None
) -> list[FailedJob]:
    """Run tasks in a folder, several at the same time; return those that failed. All that need none of these run.

    Parameters
    ----------
    tasks
        The tasks, each after those that make its inputs.
    cores
        Number of cores: the threads of the tasks that run at the same time add up to no more.
    finished
        Function that is called after each task that has made its outputs.
    """
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    modules = list(dict.fromkeys(module for task in tasks for module in task.modules))
    with job_server(folder, modules) as server, (folder / "logs" / PRINTED).open("ab") as output:
        pool = _Pool(server, folder, cores, output.fileno())
        try:
            return pool.run(tasks, finished)
        finally:
            pool.end()


@dataclass
class _Pool:
    """The tasks that run at the moment.

    Attributes
    ----------
    server
        Path of the job server's socket.
    folder, cores
        See `run_tasks`.
    output
        File descriptor for what the tasks print.
    running
        Connection to the server -> task and the time when it began.
    """

    server: str
    folder: Path
    cores: int
    output: int
    running: dict[socket.socket, tuple[Task, float]] = field(default_factory=dict)

    def run(self, tasks: Sequence[Task], finished: Callable[[Task], None]) -> list[FailedJob]:
        """Run the tasks to the end, except those that need the outputs of one that failed; return the failed ones."""
        failed: list[FailedJob] = []
        waiting = dict(enumerate(tasks))
        missing = _inputs_to_make(tasks)
        urgency = _urgency(tasks)
        while waiting or self.running:
            ready = sorted((number for number in waiting if not missing[number]), key=lambda n: -urgency[n])
            for number in ready:
                if not self.running or waiting[number].threads <= self._free():
                    self._start(waiting.pop(number))
            for task, is_made in self._wait():
                if not is_made:
                    failed.append(FailedJob(task.log, _leave_out(waiting, task), self.folder))
                    continue
                made = set(task.outputs)
                for needed in missing.values():
                    needed -= made
                finished(task)
        return failed

    def end(self) -> None:
        """End the running tasks: the server ends a task whose connection is closed."""
        for connection in self.running:
            connection.close()

    def _free(self) -> int:
        return self.cores - sum(task.threads for task, _ in self.running.values())

    def _start(self, task: Task) -> None:
        environment = os.environ | {THREADS: str(task.threads)}
        words = ["--log", task.log, *task.words]
        connection = submit(self.server, words, str(self.folder), environment, (self.output, self.output))
        self.running[connection] = task, time.monotonic()

    def _wait(self) -> Iterable[tuple[Task, bool]]:
        """Wait for at least one task; return those that have ended, and whether each has made its outputs."""
        ended = []
        for connection in select.select(list(self.running), [], [])[0]:
            task, began = self.running.pop(connection)
            status = read_status(connection)
            connection.close()
            if not status:
                _write_benchmark(self.folder / task.log, time.monotonic() - began)
            ended.append((task, not status))
        return ended


def _leave_out(waiting: dict[int, Task], failed: Task) -> frozenset[str]:
    """Remove the tasks that need a failed one, directly or not; return the outputs of all of them."""
    unmade = set(failed.outputs)
    for number, task in list(waiting.items()):  # each task stands after those that make its inputs
        if unmade.intersection(task.inputs):
            unmade.update(waiting.pop(number).outputs)
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


def _write_benchmark(log: Path, seconds: float) -> None:
    """Write the wall-clock time of a task beside its log, as Snakemake does; the log has the rest."""
    log.with_suffix(".tsv").write_text(f"s\n{seconds:.4f}\n", encoding="utf-8")
