"""Progress of a run on the terminal: an estimate of its time, how far it is, and numbers as they are known."""

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from macroscope.criticize.early_numbers import EarlyNumbers
from macroscope.criticize.time_estimate import TimeEstimate, in_words, job_seconds
from macroscope.engine.pool import Watcher
from macroscope.engine.tasks import Task
from macroscope.gaps import Gap
from macroscope.phrases import format_count

LINE_EVERY_SECONDS = 15.0
"""Seconds between two lines of progress, if the output is not a terminal."""
NEWS = 0.1
"""Share of the jobs that end before another line says the same time left; one job, if it says more."""


class RunProgress(Watcher):
    """Progress of a run on the terminal.

    Parameters
    ----------
    words
        Mean number of words of a collection, for the estimated time.
    cores
        Number of cores.
    logs
        Folder of the logs, for people.
    news
        Numbers to show as they are known.
    terminal
        Stream to show the progress on.
    clock
        Function that returns the time in seconds.
    """

    def __init__(
        self,
        words: float,
        cores: int,
        logs: Path,
        news: EarlyNumbers,
        terminal: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.words, self.cores, self.logs = words, cores, logs
        self._news, self._terminal, self._clock = news, terminal or sys.stderr, clock
        self._estimate = TimeEstimate({}, {}, cores)
        self._began = self._last = clock()
        self._is_terminal, self._shown = self._terminal.isatty(), ("", math.inf, 0)

    def begin(self, tasks: Sequence[Task]) -> None:
        """Show the estimate, before the first job runs."""
        counts = Counter(task.name for task in tasks)
        self._estimate = TimeEstimate(counts, job_seconds(counts, self.words), self.cores)
        cores = format_count(self.cores, "core")
        self._write(
            f"{format_count(len(tasks), 'job')}; estimated time on {cores}: {in_words(self._estimate.total)}."
            f" Logs: {self.logs}\n"
        )
        self._began = self._last = self._clock()

    def finish(self, task: Task, folder: Path) -> None:
        """Count a job, and show its numbers."""
        self._estimate.done[task.name] += 1
        if lines := self._news(task, folder):
            self._write(f"\r\x1b[K{lines}" if self._is_terminal else lines)

    def leave_out(self, missing: Sequence[Gap]) -> None:
        """Say what failed, before the report is made without it."""
        for entry in missing:
            self._write(f"{entry.name} {entry.note}\n")

    def tick(self) -> None:
        """Show the time left: at once on a terminal, else every so often."""
        if self._is_terminal or self._clock() - self._last >= LINE_EVERY_SECONDS:
            self._show(self._estimate)

    def end(self) -> None:
        """End the line of progress."""
        if self._is_terminal:
            self._write("\r\x1b[K")

    def _show(self, estimate: TimeEstimate) -> None:
        self._last = self._clock()
        seconds = estimate.left(self._last - self._began)
        left, (before, at_most, done) = in_words(seconds), self._shown
        news = NEWS * sum(estimate.jobs.values()) if left == before else seconds >= at_most
        if not self._is_terminal and estimate.jobs_done < done + news:
            return
        self._shown = left, seconds, estimate.jobs_done
        text = f"{estimate.jobs_done} of {format_count(sum(estimate.jobs.values()), 'job')}, {left} left"
        self._write(f"\r\x1b[K{text}" if self._is_terminal else f"{text}\n")

    def _write(self, text: str) -> None:
        self._terminal.write(text)
        self._terminal.flush()
