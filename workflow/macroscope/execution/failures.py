"""Failed jobs of a run: their reasons, from their logs, and the files that they left unmade."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from macroscope.errors import FAILED, UNEXPECTED

_MOST = 3
_DEFECT = "a defect of macroscope, not of your input"
_NO_MESSAGE = "it ended without a message, as when it is killed for its memory or its time"


@dataclass(frozen=True)
class FailedJob:
    """A job that failed, after all its attempts.

    Attributes
    ----------
    log
        Path of its log; "" if it has none.
    unmade
        Paths of its outputs, and of those of all jobs that depend on it.
    folder
        Folder that these paths are relative to.
    """

    log: str
    unmade: frozenset[str]
    folder: Path = Path()

    @property
    def reason(self) -> str:
        """Return the error in the job's log, as a sentence."""
        return next(_errors(self.folder / self.log), _NO_MESSAGE) if self.log else _NO_MESSAGE


def describe_failed(jobs: Iterable[FailedJob], keeps_logs: bool) -> str:
    """Return the reasons of failed jobs, each once, with its log if it stays; at most the first three."""
    logs_by_reason: dict[str, Path] = {}
    for job in jobs:
        logs_by_reason.setdefault(job.reason, job.folder / job.log)
    named = list(logs_by_reason.items())[:_MOST]
    if keeps_logs:
        return "; ".join(f"{reason} ({log})" for reason, log in named)
    return "; ".join([*(reason for reason, _ in named), "give ⟨output⟩ a folder, and the logs stay there"])


def failed_jobs(workflow: Any) -> list[FailedJob]:
    """Return the failed jobs of a run that has ended, by log; none if it was stopped before all others were done.

    Parameters
    ----------
    workflow
        Snakemake's workflow, in its `onerror`.
    """
    scheduler, dag = workflow.scheduler, workflow.dag
    failed = [job for item in scheduler.failed for job in (item.jobs if item.is_group() else [item])]
    blocked = {job: set(dag.bfs(dag.depending, job)) for job in failed if not dag.finished(job)}
    if set(dag.needrun_jobs()).difference(*blocked.values()):
        return []
    unmade = {job: frozenset(str(path) for each in jobs for path in each.output) for job, jobs in blocked.items()}
    # In an order of their own, so that two calls name the same log as the reason for a critic.
    return sorted((FailedJob(str(next(iter(job.log), "")), unmade[job]) for job in blocked), key=lambda job: job.log)


def _errors(log: Path) -> Iterator[str]:
    """Yield the errors in a job's log, as sentences."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else ()
    for line in lines:
        if line.startswith(FAILED):
            yield line.removeprefix(FAILED)
        elif line.startswith(UNEXPECTED):
            yield _DEFECT
