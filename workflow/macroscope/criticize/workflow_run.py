"""A run of the workflow for a user: its whole output goes to a file, its progress and the time left to the terminal."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from macroscope.criticize.time_estimate import TimeEstimate, in_words, job_seconds
from macroscope.phrases import format_count

LINE_EVERY_SECONDS = 15.0
"""Seconds between two lines of progress, if the output is not a terminal."""
NEWS = 0.1
"""Share of the jobs that end before another line says the same time left."""
_POLL_SECONDS = 0.3
_PATIENCE_SECONDS = 10.0
"""Seconds that Snakemake has to end its jobs after an interrupt."""
_COUNT = re.compile(r"(\w+) +(\d+)")
_FINISHED = re.compile(r"Finished jobid: \d+ \(Rule: (\w+)\)")
_NOT_JOBS = {"all", "total", "job"}


def run_workflow(
    command: Sequence[str],
    log_file: Path,
    words: float,
    cores: str,
    environment: Mapping[str, str] | None = None,
    news: Callable[[str], str] = lambda rule: "",
) -> int:
    """Run Snakemake with its output in a file, show its progress, and return its exit status.

    Parameters
    ----------
    log_file
        File for all that Snakemake and its jobs print.
    words
        Mean number of words of a collection, for the estimated time.
    cores
        Number of cores, or "all".
    environment
        Further environment variables for Snakemake and its jobs.
    news
        Function of the rule of a job that has ended; it returns lines to show, or "".
    """
    log_file.parent.mkdir(parents=True, exist_ok=True)
    number = len(os.sched_getaffinity(0)) if cores == "all" else int(cores)
    shown = RunProgress(words, number, log_file, sys.stderr, news=news)
    with log_file.open("w", encoding="utf-8") as output:
        variables = os.environ | dict(environment or {})
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=variables)
    with log_file.open(encoding="utf-8", errors="replace") as lines:
        try:
            while process.poll() is None:
                shown.read(lines)
                time.sleep(_POLL_SECONDS)
        except BaseException:  # an interrupt, which Snakemake gets too, unless only this process was meant
            _end(process)
            raise
        shown.read(lines)
    shown.end()
    return process.returncode


def _end(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class RunProgress:
    """Progress of a run, read from Snakemake's output.

    Parameters
    ----------
    words, cores, log_file
        See `run_workflow`.
    terminal
        Stream to show the progress on.
    clock
        Function that returns the time in seconds.
    news
        See `run_workflow`.
    """

    def __init__(
        self,
        words: float,
        cores: int,
        log_file: Path,
        terminal: TextIO,
        clock: Callable[[], float] = time.monotonic,
        news: Callable[[str], str] = lambda rule: "",
    ) -> None:
        self.words, self.cores, self.log_file = words, cores, log_file
        self._terminal, self._clock, self._news = terminal, clock, news
        self._counts: dict[str, int] | None = None
        self._estimate: TimeEstimate | None = None
        self._rest, self._began, self._last = "", clock(), clock()
        self._is_terminal, self._shown = terminal.isatty(), ("", 0)

    def read(self, lines: TextIO) -> None:
        """Read what was written since the last call, and show what changed."""
        *whole, self._rest = (self._rest + lines.read()).split("\n")
        for line in whole:
            self._take(line)
        if self._estimate is not None and (self._is_terminal or self._clock() - self._last >= LINE_EVERY_SECONDS):
            self._show(self._estimate)

    def end(self) -> None:
        """End the line of progress."""
        if self._is_terminal and self._estimate is not None:
            self._terminal.write("\r\x1b[K")
            self._terminal.flush()

    def _take(self, line: str) -> None:
        if line == "Job stats:" and self._estimate is None:
            self._counts = {}
        elif self._counts is not None and not line.strip():
            self._start({rule: number for rule, number in self._counts.items() if rule not in _NOT_JOBS})
            self._counts = None
        elif self._counts is not None and (count := _COUNT.fullmatch(line.strip())):
            self._counts[count[1]] = int(count[2])
        elif self._estimate is not None and (finished := _FINISHED.search(line)) and finished[1] in self._estimate.jobs:
            self._estimate.done[finished[1]] += 1
            if lines := self._news(finished[1]):
                self._write(f"\r\x1b[K{lines}" if self._is_terminal else lines)

    def _start(self, counts: dict[str, int]) -> None:
        """Show the estimate, as soon as the jobs are known and before the first one runs."""
        self._estimate = TimeEstimate(counts, job_seconds(counts, self.words), self.cores)
        cores = format_count(self.cores, "core")
        self._write(
            f"{format_count(sum(counts.values()), 'job')}; estimated time on {cores}: {in_words(self._estimate.total)}."
            f" Log: {self.log_file}\n"
        )
        self._began = self._last = self._clock()

    def _show(self, estimate: TimeEstimate) -> None:
        self._last = self._clock()
        left = in_words(estimate.left(self._last - self._began))
        before, done = self._shown
        if not self._is_terminal and left == before and estimate.jobs_done < done + NEWS * sum(estimate.jobs.values()):
            return
        self._shown = left, estimate.jobs_done
        text = f"{estimate.jobs_done} of {format_count(sum(estimate.jobs.values()), 'job')}, {left} left"
        self._write(f"\r\x1b[K{text}" if self._is_terminal else f"{text}\n")

    def _write(self, text: str) -> None:
        self._terminal.write(text)
        self._terminal.flush()
