"""Check of a run's jobs against a Slurm cluster: jobs that can never start, and settings that the cluster needs."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from macroscope.errors import MacroscopeError
from macroscope.execution import slurm

_JOB = re.compile(r"^(?:rule|checkpoint) (\w+):\n((?: {4}.*\n)*)", re.MULTILINE)
"""A job in the output of a dry run, with the indented lines about it. Jobs of `localrule`s stay on this machine."""
_THREADS = re.compile(r"^ {4}threads: (\d+)$", re.MULTILINE)
_RESOURCES = re.compile(r"^ {4}resources: (.*)$", re.MULTILINE)

_NO_SHARDS = "documents_per_shard="  # null


@dataclass(frozen=True)
class Requests:
    """Requests of a job: processors, memory in MB, GPUs, minutes, and a partition ("": the default of the cluster)."""

    rule: str
    threads: int
    mem_mb: int
    gpu: int
    runtime: int
    partition: str

    def problem(self, partitions: dict[str, slurm.Partition]) -> str | None:
        """Return a sentence about why the job can never start; None if it can."""
        numbers = {name: getattr(self, name) for name in ("threads", "mem_mb", "gpu", "runtime")}
        return slurm.too_large(self.rule, numbers, slurm.wanted(self.partition, partitions))


def check_cluster(arguments: Sequence[str]) -> list[str]:
    """Check that every job of a run can start on this cluster, and return lines about the run and the cluster.

    Shards of documents, which are known only during the run, request what a single job would.

    Parameters
    ----------
    arguments
        Arguments of `snakemake`, with the profile, resources and config of the run.

    Raises
    ------
    MacroscopeError
        If jobs of the run request too much, or if pending jobs of this folder can never start.
    """
    partitions, jobs = slurm.partitions(), read_requests(_dry_run(arguments))
    problems = [problem for job in jobs if (problem := job.problem(partitions))]
    problems += [
        f"job {job.number} ({job.comment}) can never start: {job.reason}; end it with 'scancel {job.number}'"
        for job in slurm.waiting_jobs(os.getcwd())
        if job.never_starts
    ]
    if problems:
        raise MacroscopeError("\n".join(problems))
    rules = len({job.rule for job in jobs})
    return [f"the jobs of {rules} rules fit the nodes of this cluster", *_settings()]


def read_requests(dry_run: str) -> list[Requests]:
    """Return the different requests of the jobs in the output of a dry run, in its order."""
    return list(dict.fromkeys(_requests(rule, about) for rule, about in _JOB.findall(dry_run)))


def _requests(rule: str, about: str) -> Requests:
    threads, resources = _THREADS.search(about), _RESOURCES.search(about)
    named = dict(pair.split("=", 1) for pair in resources[1].split(", ")) if resources else {}
    # Requests that depend on files that do not exist yet are <TBD>: they count as 0.
    mem_mb, gpu, runtime = (int(n) if (n := named.get(k, "")).isdigit() else 0 for k in ("mem_mb", "gpu", "runtime"))
    return Requests(rule, int(threads[1]) if threads else 1, mem_mb, gpu, runtime, named.get("slurm_partition", ""))


def _dry_run(arguments: Sequence[str]) -> str:
    command = [sys.executable, "-m", "snakemake", *without_shards(arguments), "--dry-run", "--nocolor"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MacroscopeError(f"snakemake cannot plan this run: {(done.stdout + done.stderr).strip()[-2000:]}")
    return done.stdout


def without_shards(arguments: Sequence[str]) -> list[str]:
    """Return arguments that plan no shards of documents: a dry run knows no job after a checkpoint."""
    words = [part for word in arguments for part in _split_flag(word)]
    flag = next((word for word in ("--config", "-C") if word in words), None)
    if flag is None:
        return [*words, "--config", _NO_SHARDS]
    place = words.index(flag) + 1
    return [*words[:place], _NO_SHARDS, *words[place:]]


def _split_flag(word: str) -> tuple[str, ...]:
    """Split "--config=name=value" into the flag and its first value."""
    return ("--config", word.removeprefix("--config=")) if word.startswith("--config=") else (word,)


def _settings() -> Iterable[str]:
    """Yield the options that the cluster's configuration needs."""
    configured = slurm.settings()
    if "slurmdbd" not in configured.get("AccountingStorageType", ""):
        age = configured.get("MinJobAge", "unknown")
        yield f"no slurmdbd here: run with --slurm-status-command squeue (MinJobAge, {age}, must be above 180 s)"
