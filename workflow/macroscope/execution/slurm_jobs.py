"""Slurm jobs: fit requests to nodes, raise them on retry, cancel jobs that can never start.

Everything here acts on Snakemake's `workflow`. Only when Snakemake executes, after the rules are read, is it known
whether jobs go to Slurm: resources are therefore functions, evaluated for each job.
"""

import functools
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from snakemake.jobs import Job

from macroscope.errors import MacroscopeError
from macroscope.execution import slurm

_GROWING = ("mem_mb", "runtime")
"""Resources that a job gets more of on retry, by Snakemake's names: their lack may have ended its first attempt."""
_TURN = "turn"
"""Resource of grouped jobs. A group has one unit of it, so that its jobs run one after another."""
_SHORT_MINUTES = 15
"""Minutes that a job of a group may request in any case."""
_MOST_NAMED = 3
"""Largest number of rules with excessive requests in one message."""
_LOOK_EVERY_SECONDS = 20
_LONGEST_BETWEEN_LOOKS_SECONDS = 180
"""Longest time between two queries of the plugin about its jobs."""


class ClusterJobs:
    """Requests of Snakemake's jobs to Slurm; without Slurm, jobs still get more on retry.

    Parameters
    ----------
    has_checkpoints
        Whether some jobs are known only after others have run. Snakemake then forms its groups again and submits
        running jobs a second time, so nothing is grouped.
    """

    def __init__(self, workflow: Any, has_checkpoints: bool) -> None:
        self._workflow = workflow
        self._has_checkpoints = has_checkpoints
        self._later: dict[str, str] = {}

    def later(self, rule: str, before: str) -> None:
        """Register a rule whose jobs are known only after a checkpoint, and a rule that reads their outputs."""
        self._later[before] = rule

    def ask_by_attempt(self) -> None:
        """Make every rule request twice the memory and run time on its second attempt, within the cluster's limits."""
        for rule in self._workflow.rules:
            for name in _GROWING:
                if name in rule.resources:
                    rule.resources[name] = self._growing(rule, name, rule.resources[name])
            rule.resources["_cores"] = self._fitting(rule.resources["_cores"])

    def group(self) -> None:
        """Submit short jobs of a rule in groups of the size that `group-components` gives; they run one after another.

        A group holds jobs of one rule, which never depend on each other, so no two groups wait for each other.
        """
        is_sent = not self._workflow.is_main_process
        if is_sent or self._workflow.global_resources["_nodes"].value is not None:
            self._workflow.register_resource(_TURN, 1)
        self._workflow.resource_scopes[_TURN] = "local"
        for rule in self._workflow.rules:
            rule.group = self._grouped(rule)
            rule.resources[_TURN] = type(rule.resources["_cores"])(_TURN, self._turn(rule), raw="1")

    @functools.cached_property
    def partitions(self) -> Mapping[str, slurm.Partition]:
        """Return the cluster's partitions; none if jobs do not go to Slurm, or if this process is a job."""
        plugin = self._workflow.executor_plugin
        is_slurm = plugin is not None and plugin.name == "slurm"
        return slurm.partitions() if is_slurm and self._workflow.is_main_process else {}

    def check(self) -> None:
        """Check before the first job that each can start, and that no jobs of an earlier call write the same files.

        Raises
        ------
        MacroscopeError
            If rules request too much, or jobs of an earlier call still exist.
        """
        if not self.partitions:
            return
        self._check_no_others()
        self._choose_status_command()
        jobs = [job for job in self._workflow.dag.needrun_jobs() if not job.is_local]
        requests = [(job.rule.name, self._requests(job)) for job in jobs]
        for job in jobs:
            if job.rule.name in self._later:
                rule = self._workflow.get_rule(self._later[job.rule.name])
                requests.append((rule.name, self._later_requests(rule, job.wildcards)))
        problems = {
            rule: problem
            for rule, requested in requests
            if (problem := slurm.too_large(rule, requested, self._wanted(requested)))
        }
        if sentences := [problem for _, problem in sorted(problems.items())]:
            more = (
                f"; {len(sentences) - _MOST_NAMED} more rules request too much" if len(sentences) > _MOST_NAMED else ""
            )
            raise MacroscopeError("; ".join(sentences[:_MOST_NAMED]) + more)
        keep_finished_members(time.time())
        threading.Thread(target=self._watch, daemon=True).start()

    def _check_no_others(self) -> None:
        if left := slurm.jobs_of(os.getcwd()):
            numbers = " ".join(left)
            raise MacroscopeError(
                f"jobs of another call still write to {os.getcwd()}: wait until they have ended, or end them with "
                f"'scancel {numbers}'"
            )

    def _choose_status_command(self) -> None:
        """Use squeue if no database keeps finished jobs: sacct would never answer, and jobs would never end."""
        configured, chosen = slurm.settings(), self._workflow.executor_settings
        if "slurmdbd" in configured.get("AccountingStorageType", ""):
            return
        chosen.status_command = "squeue"
        kept = int(configured.get("MinJobAge", "0").split()[0])
        if kept <= _LONGEST_BETWEEN_LOOKS_SECONDS:
            raise MacroscopeError(
                f"this Slurm has no slurmdbd and forgets finished jobs after {kept} s (MinJobAge), but they may be "
                f"queried only every {_LONGEST_BETWEEN_LOOKS_SECONDS} s; have its administrator set MinJobAge=300"
            )

    def _requests(self, job: Any) -> dict[str, Any]:
        resources = {name: job.resources.get(name, 0) for name in ("mem_mb", "gpu", "runtime")}
        return (
            {"threads": job.threads} | _numbers(resources) | {"slurm_partition": job.resources.get("slurm_partition")}
        )

    def _later_requests(self, rule: Any, wildcards: Any) -> dict[str, Any]:
        wanted = rule.resources["_cores"].evaluate(wildcards, input=[], attempt=1).value
        threads = min(wanted, self._workflow.resource_settings.max_threads)
        arguments = {"input": [], "attempt": 1, "threads": threads, **self._surroundings(rule)}
        resources = {
            name: rule.resources[name].evaluate(wildcards, **arguments).value if name in rule.resources else 0
            for name in ("mem_mb", "gpu", "runtime", "slurm_partition")
        }
        return {"threads": threads} | _numbers(resources) | {"slurm_partition": resources["slurm_partition"] or None}

    def _surroundings(self, rule: Any) -> dict[str, Any]:
        """Return the arguments with which resources from the command line are evaluated."""
        return {"rulename": rule.name, "async_run": self._workflow.async_run}

    def _wanted(self, requests: dict[str, Any]) -> list[slurm.Partition]:
        return slurm.wanted(requests.pop("slurm_partition"), self.partitions)

    def _together(self, rule: Any) -> int:
        """Return the number of jobs of a rule in a group."""
        settings = self._workflow.group_settings
        return 1 if settings is None or self._has_checkpoints else settings.group_components.get(rule.name, 1)

    def _grouped(self, rule: Any) -> Callable[[Any], str | None]:
        def grouped(wildcards: Any) -> str | None:
            if not self._workflow.is_main_process:
                # Snakemake does not pass this on to its jobs; the jobs of a group do not depend on one that fails.
                self._workflow.execution_settings.keep_going = True
            return rule.name if self.partitions and self._together(rule) > 1 else None

        return grouped

    def _turn(self, rule: Any) -> Callable[[Any], int | None]:
        return lambda wildcards: 1 if self._together(rule) > 1 else None

    def _growing(self, rule: Any, name: str, first: Any) -> Any:
        def grown(wildcards: Any, input: Any, attempt: int, threads: int) -> Any:
            arguments = {"input": input, "attempt": attempt, "threads": threads, **self._surroundings(rule)}
            request = first.evaluate(wildcards, **arguments).value
            if name == "runtime" and isinstance(request, int) and self.partitions:
                # Run times of a group add up: together they request about as much as a single job.
                request = max(min(request, _SHORT_MINUTES), request // self._together(rule))
            if attempt == 1 or not isinstance(request, int):
                return request
            return max(request, int(min(request * attempt, self._most(name))))

        return type(first)(name, grown, raw=first.raw)

    def _fitting(self, first: Any) -> Any:
        def fitted(wildcards: Any, input: Any, attempt: int) -> Any:
            if self.partitions:
                # Snakemake passes this on to its jobs with its own flag.
                settings = self._workflow.resource_settings
                settings.max_threads = int(min(settings.max_threads or sys.maxsize, self._most("threads")))
            return first.evaluate(wildcards, input=input, attempt=attempt).value

        return type(first)("_cores", fitted, raw=first.raw)

    def _most(self, resource: str) -> float:
        """Return the most that a node has, in the partitions that jobs go to by default."""
        default = self._workflow.resource_settings._parsed_default_resources
        named = default["slurm_partition"].raw if "slurm_partition" in default else None
        try:
            among = slurm.wanted(named, self.partitions)
        except MacroscopeError:
            return math.inf  # `check` reports that there is no such partition
        return max((partition.most(resource) for partition in among), default=math.inf)

    def _watch(self) -> None:
        """Cancel and report jobs that can never start for a reason that only Slurm knows; Snakemake sees them fail."""
        folder = os.getcwd()
        while True:
            time.sleep(_LOOK_EVERY_SECONDS)
            try:
                for job in slurm.waiting_jobs(folder):
                    if job.never_starts:
                        print(
                            f"Slurm job {job.number} ({job.comment}) can never start: {job.reason}; it is cancelled. "
                            "Ask for less (--set-resources, --set-threads) or for another partition, account or QOS",
                            file=sys.stderr,
                        )
                        slurm.cancel(job.number)
            except MacroscopeError:
                continue  # Slurm does not answer for a moment; if this lasts, the plugin reports it


def keep_finished_members(since: float) -> None:
    """Make Snakemake keep the complete outputs of a failed group; by default, it removes those of all its members.

    Outputs that are younger than this call are complete (`files.atomic`); older ones may be out of date.

    Parameters
    ----------
    since
        Start of the call, in seconds since the epoch.
    """
    remove = Job.cleanup

    async def remove_unfinished(job: Job, skip_outputs: Any) -> None:
        is_whole = [await made.exists() and (await made.mtime()).local_or_storage() >= since for made in job.output]
        if job.group is None or not all(is_whole):
            await remove(job, skip_outputs)

    Job.cleanup = remove_unfinished


def _numbers(requests: Mapping[str, Any]) -> dict[str, int]:
    """Return mem_mb, gpu and runtime as numbers; those that depend on files that do not exist yet count as 0."""
    return {
        name: value if isinstance(value, int) else 0 for name, value in requests.items() if name != "slurm_partition"
    }
