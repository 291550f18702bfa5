"""Progress of a run on the terminal: an estimate of its time, how far it is, and numbers as they are known."""

import math
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import pandas as pd

from macroscope.critics import critics
from macroscope.engine.pool import Watcher
from macroscope.engine.tasks import Task
from macroscope.files import RESOURCES
from macroscope.gaps import Gap
from macroscope.options import CONTROL, SPLIT_HALF, is_matched
from macroscope.phrases import format_count
from macroscope.plan import Plan
from macroscope.reporting.formats import format_percent
from macroscope.reporting.scorecard import TOO_FEW_TO_SAY, is_too_few_to_say
from macroscope.reporting.scorecard_text import readable_name
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC
from macroscope.tables import read_csv

RATES = RESOURCES / "job_seconds.csv"
"""Rule -> processor seconds of a job, and per 1000 words of a collection; `tests/benchmarks/rates.py` writes it."""
START_SECONDS = 1.0
"""Seconds of a job without measured rates: Snakemake's share and that of the process."""
EMBED = "embed_sentences"
"""Rule that embeds the sentences of a collection; see `plan.sentence_vectors`."""


def job_seconds(jobs: Mapping[str, int], words: float) -> dict[str, float]:
    """Return rule -> estimated seconds of a job on one core.

    If a single job embeds sentences, those of real texts, then the projections of one critic embed all others.

    Parameters
    ----------
    jobs
        Rule -> number of its jobs.
    words
        Mean number of words of a collection.
    """
    rates = read_csv(RATES).set_index("rule")
    measured = rates["seconds"] + rates["per_1000_words"] * words / 1000
    seconds = {rule: float(measured.get(rule, START_SECONDS)) for rule in jobs}
    if jobs.get(EMBED) == 1:
        embedding = seconds[EMBED] - START_SECONDS
        for rule in jobs.keys() & {f"project_{name}" for name, plugin in critics().items() if plugin.data.sentences}:
            seconds[rule] += embedding * (jobs[rule] - 1) / jobs[rule]  # one of them reads those of real texts
    return seconds


@dataclass
class TimeEstimate:
    """The time that a run takes, which is corrected by the jobs that end.

    Attributes
    ----------
    jobs
        Rule -> number of its jobs.
    seconds
        Rule -> estimated seconds of a job.
    cores
        Number of cores.
    done
        Rule -> number of finished jobs.
    """

    jobs: Mapping[str, int]
    seconds: Mapping[str, float]
    cores: int
    done: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def total(self) -> float:
        """Return the estimated seconds of the whole run: work on all cores, or the longest chain of jobs if longer."""
        chains: dict[str, float] = defaultdict(float)
        for rule in self.jobs:  # the stages of a critic wait for each other
            chains[rule.rpartition("_")[2]] += self.seconds[rule]
        work = sum(self.seconds[rule] * number for rule, number in self.jobs.items())
        return max(work / self.cores, *chains.values(), 0.0)

    @property
    def share_done(self) -> float:
        """Return the share of the work that is done, in [0, 1]."""
        work = sum(self.seconds[rule] * number for rule, number in self.jobs.items())
        done = sum(self.seconds[rule] * min(self.done[rule], number) for rule, number in self.jobs.items())
        return done / work if work else 1.0

    @property
    def jobs_done(self) -> int:
        return sum(self.done.values())

    def left(self, elapsed: float) -> float:
        """Return the estimated seconds left.

        The more is done, the more the measured pace of this run counts, and the less that of the rates.
        """
        share = self.share_done
        pace = elapsed / (share * self.total) if share and self.total else 1.0
        return (1 - share) * self.total * ((1 - share) + share * pace)


def in_words(seconds: float) -> str:
    """Return a duration for readers: rounded, since it is an estimate."""
    if seconds < 45:
        return "less than a minute"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{max(minutes, 1)} min"
    return f"{seconds / 3600:.1f} h"


HEADING = "Detectability as critics finish, 50 % is chance; verdicts and warnings follow at the end:"
MOST_SYSTEMS = 5
"""Largest number of systems in a line: those that differ most from real text."""


class EarlyNumbers:
    """The lines to print while a run goes on.

    Parameters
    ----------
    plan
        Plan of the run.
    """

    def __init__(self, plan: Plan) -> None:
        self._critics = {
            plan.critics.place("two_sample_test", critic, corpus=corpus): critic
            for (critic, corpus), systems in plan.critics.chapters.items()
            if systems
        }
        self._is_first = True

    def __call__(self, task: Task, folder: Path) -> str:
        """Return the new lines after a task has made its outputs in a folder; "" if there are none."""
        critic = self._critics.get(task.outputs[0])
        line = describe_detectability(critic, read_csv(folder / task.outputs[0])) if critic else ""
        heading = f"{HEADING}\n" if line and self._is_first else ""
        self._is_first = self._is_first and not line
        return f"{heading}{line}\n" if line else ""


def describe_detectability(critic: str, tests: pd.DataFrame) -> str:
    """Return a line about the systems that a critic tells from real text, the most different first; "" without any.

    Parameters
    ----------
    tests
        The critic's classifier two-sample tests, as in its table of statistics.
    """
    rows = tests[(tests["statistic"] == C2ST_AUC) & tests["value"].notna()].set_index("system")
    others = [name for name in rows.index if name in (CONTROL, SPLIT_HALF) or is_matched(name)]
    systems = rows.drop(index=others).sort_values("value", ascending=False, kind="stable")
    if systems.empty:
        return ""
    shown = [_describe(str(name), row) for name, row in systems.head(MOST_SYSTEMS).iterrows()]
    if len(systems) > MOST_SYSTEMS:
        shown.append(f"{len(systems) - MOST_SYSTEMS} more below these")
    if SPLIT_HALF in rows.index:
        shown.append(_describe(SPLIT_HALF, rows.loc[SPLIT_HALF]))
    return f"  {critic}: {'; '.join(shown)}"


def _describe(system: str, row: pd.Series) -> str:
    if is_too_few_to_say(system, row["n_reference"], row["n_candidate"]):
        return f"{readable_name(system)}: {TOO_FEW_TO_SAY}"
    low, high = (format_percent(row[end]) for end in ("ci_low", "ci_high"))
    return f"{readable_name(system)} {format_percent(row['value'])} % [{low}, {high}]"


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
