"""Progress of a run of Snakemake on the terminal: a line per rule that begins, per failure, and per minute of work.

Of a dry run: a line per rule, with its number of jobs.
"""

import logging
import sys
import time
from collections import Counter
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from macroscope.execution.failures import FailedJob
from macroscope.phrases import format_count, list_names

LINE_EVERY_SECONDS = 60.0
_TARGET = "all"
"""Name of the rule that makes nothing itself: it stands for the results, and is not counted as a job."""
_FAILED = "At least one job did not complete successfully"
_DETAILS = (
    *("Building DAG", "Using shell", "Assuming unrestricted", "Group jobs:"),
    *("Conda environments:", "Singularity containers:", "Select jobs", "Exiting because a job", "Complete log"),
    *("Elapsed time", "Reasons:", "This was a dry-run"),
)
"""Beginnings of messages for those who debug a workflow; Snakemake's own log has them."""


class LogHandler(LogHandlerBase):
    """Handler of Snakemake's events."""

    writes_to_stream, writes_to_file, has_filter, has_formatter, needs_rulegraph = True, False, True, False, False

    def __post_init__(self) -> None:
        self._jobs_by_rule: Counter[str] = Counter()
        self._begun: set[str] = set()
        self._running: dict[int, str] = {}
        self._done = self._total = 0
        self._has_failures = False
        self._last = time.monotonic()

    def emit(self, record: logging.LogRecord) -> None:
        """Print the line of an event, if it has one."""
        if line := self._describe(getattr(record, "event", None), record):
            self._last = time.monotonic()
            print(line, file=sys.stderr, flush=True)

    def _describe(self, event: LogEvent | None, record: Any) -> str:
        match event:
            case LogEvent.RUN_INFO:
                is_again, self._jobs_by_rule = bool(self._jobs_by_rule), Counter(record.stats)
                self._total = record.stats["total"] - self._jobs_by_rule[_TARGET]
                if self.common_settings.dryrun:
                    return "" if is_again else self._list_rules()
                return f"{self._jobs}; their log files are in logs/" if self._total else ""
            case LogEvent.JOB_INFO if record.rule_name != _TARGET and not self.common_settings.dryrun:
                return self._begin(record)
            case LogEvent.JOB_FINISHED:
                self._running.pop(record.job_id, None)
            case LogEvent.PROGRESS:
                self._total, before = record.total - self._jobs_by_rule[_TARGET], self._done
                self._done = min(record.done, self._total)
                is_due = self._done == self._total or time.monotonic() >= self._last + LINE_EVERY_SECONDS
                if is_due and self._done > before:
                    running = f"; running: {list_names([*self._running.values()])}" if self._running else ""
                    return f"{self._done:,} of {self._jobs} done{running}"
            case LogEvent.JOB_ERROR:
                self._has_failures = True
                description, log = self._running.pop(record.jobid, record.rule_name), next(iter(record.log), "")
                return f"Failed: {description}: {FailedJob(log, frozenset()).reason}{f' ({log})' if log else ''}"
        is_message = event is None or (event == LogEvent.ERROR and record.exception != "RuleException")
        is_known = self._has_failures and _FAILED in record.getMessage()
        has_news = record.levelno >= logging.INFO and not (is_known or record.getMessage().startswith(_DETAILS))
        return self.format(record) if is_message and has_news else ""

    @property
    def _jobs(self) -> str:
        return format_count(self._total, "job")

    def _list_rules(self) -> str:
        """Return a line per rule with its number of jobs, of a dry run."""
        jobs = [(name, number) for name, number in self._jobs_by_rule.items() if name not in (_TARGET, "total")]
        lines = [f"{number:>6,} {name.replace('_', ' ')}" for name, number in jobs]
        return "\n".join([f"{self._jobs} would run:", *lines])

    def _begin(self, record: Any) -> str:
        """Note a job that begins; return a line if it is the first one of its rule."""
        rule, of_job = record.rule_name.replace("_", " "), " ".join(record.wildcards.values())
        self._running[record.jobid] = f"{rule} ({of_job})" if of_job else rule
        if rule in self._begun:
            return ""
        self._begun.add(rule)
        number = self._jobs_by_rule[record.rule_name]
        name = f"{rule} ({number:,} jobs)" if number > 1 else self._running[record.jobid]
        total = f"{self._total:,}"
        return f"{self._done:>{len(total)},} of {total} done; now: {name}"
