"""Jobs on a cluster: they fit its nodes, ask for more when they are tried again, and none waits for ever.

Everything here acts on Snakemake's `workflow`. Whether jobs go to Slurm is known once Snakemake executes, which is
after rules are read: resources are functions, then, that are asked job by job.
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
"""What a job that is tried again gets more of, by Snakemake's names: a first try may have died of it."""
_TURN = "turn"
"""A resource of grouped jobs, of which there is one in a group: they run one after another."""
_SHORT_MINUTES = 15
"""What a job of a group may take for all that."""
_MOST_NAMED = 3
"""Rules that ask for too much, in one message."""
_LOOK_EVERY_SECONDS = 20
_LONGEST_BETWEEN_LOOKS_SECONDS = 180
"""How long the plugin goes without asking after its jobs."""


class ClusterJobs:
    """What Snakemake's jobs ask of a Slurm; without one, jobs that are tried again still get more.

    Parameters
    ----------
    has_checkpoints
        Whether there are jobs that are known only once others have run. Snakemake then puts its groups together anew,
        and sends jobs a second time that run already: nothing is grouped.
    """

    def __init__(self, workflow: Any, has_checkpoints: bool) -> None:
        self._workflow = workflow
        self._has_checkpoints = has_checkpoints
        self._later: dict[str, str] = {}

    def later(self, rule: str, before: str) -> None:
        """Name a rule whose jobs are known once a checkpoint has run, and one that reads what they make."""
        self._later[before] = rule

    def ask_by_attempt(self) -> None:
        """Have every rule ask for twice the memory and run time at its second try, and for no more than there is."""
        for rule in self._workflow.rules:
            for name in _GROWING:
                if name in rule.resources:
                    rule.resources[name] = self._growing(rule, name, rule.resources[name])
            rule.resources["_cores"] = self._fitting(rule.resources["_cores"])

    def group(self) -> None:
        """Have jobs of a rule travel together, one after another: as many as `group-components` says of the rule.

        A group is of one rule, whose jobs never depend on each other, so that no two groups wait for one another.
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
        """Those of the cluster that jobs go to; none where they go to no Slurm, or this is one of the jobs."""
        plugin = self._workflow.executor_plugin
        is_slurm = plugin is not None and plugin.name == "slurm"
        return slurm.partitions() if is_slurm and self._workflow.is_main_process else {}

    def check(self) -> None:
        """Look at the cluster before the first job: each must be able to start, and nothing else write the same files.

        Raises
        ------
        MacroscopeError
            Which rule asks for too much of what; which jobs of an earlier call are still there.
        """
        if not self.partitions:
            return
        self._check_no_others()
        self._choose_status_command()
        jobs = [job for job in self._workflow.dag.needrun_jobs() if not job.is_local]
        asked = [(job.rule.name, self._asked(job)) for job in jobs]
        for job in jobs:
            if job.rule.name in self._later:
                rule = self._workflow.get_rule(self._later[job.rule.name])
                asked.append((rule.name, self._asked_later(rule, job.wildcards)))
        problems = {rule: problem for rule, of in asked if (problem := slurm.too_large(rule, of, self._wanted(of)))}
        if found := [problem for _, problem in sorted(problems.items())]:
            more = f"; {len(found) - _MOST_NAMED} rules more ask for too much" if len(found) > _MOST_NAMED else ""
            raise MacroscopeError("; ".join(found[:_MOST_NAMED]) + more)
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
        """Take squeue where no database keeps finished jobs: sacct would never answer, and jobs never end."""
        configured, chosen = slurm.settings(), self._workflow.executor_settings
        if "slurmdbd" in configured.get("AccountingStorageType", ""):
            return
        chosen.status_command = "squeue"
        kept = int(configured.get("MinJobAge", "0").split()[0])
        if kept <= _LONGEST_BETWEEN_LOOKS_SECONDS:
            raise MacroscopeError(
                f"this Slurm has no slurmdbd and forgets finished jobs after {kept} s (MinJobAge), before they are "
                f"asked after every {_LONGEST_BETWEEN_LOOKS_SECONDS} s: have its administrator set MinJobAge=300"
            )

    def _asked(self, job: Any) -> dict[str, Any]:
        known = {name: job.resources.get(name, 0) for name in ("mem_mb", "gpu", "runtime")}
        return {"threads": job.threads} | _numbers(known) | {"slurm_partition": job.resources.get("slurm_partition")}

    def _asked_later(self, rule: Any, wildcards: Any) -> dict[str, Any]:
        wanted = rule.resources["_cores"].evaluate(wildcards, input=[], attempt=1).value
        threads = min(wanted, self._workflow.resource_settings.max_threads)
        known = {"input": [], "attempt": 1, "threads": threads, **self._surroundings(rule)}
        found = {
            name: rule.resources[name].evaluate(wildcards, **known).value if name in rule.resources else 0
            for name in ("mem_mb", "gpu", "runtime", "slurm_partition")
        }
        return {"threads": threads} | _numbers(found) | {"slurm_partition": found["slurm_partition"] or None}

    def _surroundings(self, rule: Any) -> dict[str, Any]:
        """What resources from the command line are evaluated with."""
        return {"rulename": rule.name, "async_run": self._workflow.async_run}

    def _wanted(self, asked: dict[str, Any]) -> list[slurm.Partition]:
        return slurm.wanted(asked.pop("slurm_partition"), self.partitions)

    def _together(self, rule: Any) -> int:
        """How many jobs of a rule travel together."""
        settings = self._workflow.group_settings
        return 1 if settings is None or self._has_checkpoints else settings.group_components.get(rule.name, 1)

    def _grouped(self, rule: Any) -> Callable[[Any], str | None]:
        def grouped(wildcards: Any) -> str | None:
            if not self._workflow.is_main_process:
                # Snakemake does not tell its jobs; the others of a group do not depend on one that fails.
                self._workflow.execution_settings.keep_going = True
            return rule.name if self.partitions and self._together(rule) > 1 else None

        return grouped

    def _turn(self, rule: Any) -> Callable[[Any], int | None]:
        return lambda wildcards: 1 if self._together(rule) > 1 else None

    def _growing(self, rule: Any, name: str, first: Any) -> Any:
        def grown(wildcards: Any, input: Any, attempt: int, threads: int) -> Any:
            known = {"input": input, "attempt": attempt, "threads": threads, **self._surroundings(rule)}
            asked = first.evaluate(wildcards, **known).value
            if name == "runtime" and isinstance(asked, int) and self.partitions:
                # Those of a group add up: together they ask for about what one would.
                asked = max(min(asked, _SHORT_MINUTES), asked // self._together(rule))
            if attempt == 1 or not isinstance(asked, int):
                return asked
            return max(asked, int(min(asked * attempt, self._most(name))))

        return type(first)(name, grown, raw=first.raw)

    def _fitting(self, first: Any) -> Any:
        def fitted(wildcards: Any, input: Any, attempt: int) -> Any:
            if self.partitions:
                # Jobs learn of it by Snakemake's own flag, which it gives them.
                settings = self._workflow.resource_settings
                settings.max_threads = int(min(settings.max_threads or sys.maxsize, self._most("threads")))
            return first.evaluate(wildcards, input=input, attempt=attempt).value

        return type(first)("_cores", fitted, raw=first.raw)

    def _most(self, resource: str) -> float:
        """The most that a node has, of the partitions that jobs go to if nothing else is said."""
        default = self._workflow.resource_settings._parsed_default_resources
        named = default["slurm_partition"].raw if "slurm_partition" in default else None
        try:
            among = slurm.wanted(named, self.partitions)
        except MacroscopeError:
            return math.inf  # `check` says that there is no such partition
        return max((partition.most(resource) for partition in among), default=math.inf)

    def _watch(self) -> None:
        """Cancel what can never start for a reason that only Slurm knows, and say so; Snakemake then sees it fail."""
        folder = os.getcwd()
        while True:
            time.sleep(_LOOK_EVERY_SECONDS)
            try:
                for job in slurm.waiting_jobs(folder):
                    if job.never_starts:
                        print(
                            f"Slurm job {job.number} ({job.what}) can never start: {job.reason}; it is cancelled. "
                            "Ask for less (--set-resources, --set-threads) or for another partition, account or QOS",
                            file=sys.stderr,
                        )
                        slurm.cancel(job.number)
            except MacroscopeError:
                continue  # Slurm is away for a moment: the plugin itself says so if it stays away


def keep_finished_members(since: float) -> None:
    """Have Snakemake remove, of a group that failed, only what is not whole; it removes what all its members made.

    What is younger than this call took its place in one step, whole (`files.atomic`); what is older may be out of date.

    Parameters
    ----------
    since
        When the call began, in seconds since the epoch.
    """
    remove = Job.cleanup

    async def remove_unfinished(job: Job, skip_outputs: Any) -> None:
        is_whole = [await made.exists() and (await made.mtime()).local_or_storage() >= since for made in job.output]
        if job.group is None or not all(is_whole):
            await remove(job, skip_outputs)

    Job.cleanup = remove_unfinished


def _numbers(asked: Mapping[str, Any]) -> dict[str, int]:
    """Return what is known of mem_mb, gpu and runtime; what depends on files that are not there yet counts as 0."""
    return {name: value if isinstance(value, int) else 0 for name, value in asked.items() if name != "slurm_partition"}
