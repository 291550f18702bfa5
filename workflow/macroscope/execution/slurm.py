"""Resources of a Slurm cluster, the jobs that can never start there, and a check of a run's jobs against it."""

import json
import logging
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from macroscope.errors import MacroscopeError, nearest

log = logging.getLogger("macroscope")

_WITHIN_SECONDS = 60
_TIME = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)")
"""Slurm's [days-][hours:]minutes:seconds."""
_GPUS = re.compile(r"(?<![a-z])gpu(?::[^:,()]*[^\d:,()][^:,()]*)?:(\d+)")
"""Number of GPUs in gpu:2 or gpu:a100:2, with (S:0-1) behind it or not."""
_UNITS = {"threads": "processors", "mem_mb": "MB of memory", "gpu": "GPUs", "runtime": "minutes"}
_NEVER = re.compile(
    r"PartitionConfig|BadConstraints|PartitionTimeLimit|InvalidAccount|InvalidQOS|AccountNotAllowed|QOSNotAllowed"
    r"|(?:QOS|Assoc)Max\w*PerJob\w*"
)
"""Slurm's reasons for jobs that wait forever."""


@dataclass(frozen=True)
class Node:
    """Resources of a kind of node: processors, megabytes, GPUs."""

    threads: int
    mem_mb: int
    gpu: int


@dataclass(frozen=True)
class Partition:
    """Nodes of a cluster.

    Attributes
    ----------
    minutes
        Longest run time of a job; inf if there is no limit.
    nodes
        One node of each kind.
    """

    name: str
    is_default: bool
    minutes: float
    nodes: tuple[Node, ...]

    def most(self, resource: str) -> float:
        """Return the most that a job can request of threads, mem_mb, gpu or runtime."""
        return self.minutes if resource == "runtime" else max(getattr(node, resource) for node in self.nodes)

    def holds(self, requests: Mapping[str, int]) -> bool:
        """Return whether a job with these requests can ever start here."""
        on_a_node = {name: value for name, value in requests.items() if name != "runtime"}
        return requests.get("runtime", 0) <= self.minutes and any(
            all(value <= getattr(node, name) for name, value in on_a_node.items()) for node in self.nodes
        )


@dataclass(frozen=True)
class Waiting:
    """A pending job: its number, its comment, and the reason why it waits."""

    number: str
    comment: str
    reason: str

    @property
    def never_starts(self) -> bool:
        return _NEVER.fullmatch(self.reason) is not None


def partitions() -> dict[str, Partition]:
    return read_partitions(ask("sinfo", "--noheader", "--exact", "--format=%P|%l|%c|%m|%G"))


def read_partitions(listed: str) -> dict[str, Partition]:
    """Parse partitions from lines of `name|time limit|processors|megabytes|gres`, one for each kind of node."""
    partitions: dict[str, Partition] = {}
    for line in listed.splitlines():
        name, limit, threads, mem_mb, gres = line.split("|")
        node = Node(int(threads), int(mem_mb), sum(map(int, _GPUS.findall(gres))))
        plain = name.removesuffix("*")
        before = partitions[plain].nodes if plain in partitions else ()
        partitions[plain] = Partition(plain, name.endswith("*"), _minutes(limit), (*before, node))
    return partitions


def wanted(named: str | None, available: Mapping[str, Partition]) -> list[Partition]:
    """Return the partitions that a job may go to.

    Parameters
    ----------
    named
        Names with commas between them, as sbatch takes them; None for the cluster's default.
    """
    if not named:
        return [partition for partition in available.values() if partition.is_default]
    for name in named.split(","):
        if name not in available:
            raise MacroscopeError(f"the cluster has no partition '{name}'{nearest(name, available)}")
    return [available[name] for name in named.split(",")]


def too_large(rule: str, requests: Mapping[str, int], among: Iterable[Partition]) -> str | None:
    """Return a sentence about the requests of a job that no partition can satisfy; None if it can start.

    Parameters
    ----------
    requests
        threads, mem_mb, gpu and runtime (minutes).
    among
        Partitions that it may go to.
    """
    among = list(among)
    if not among or any(partition.holds(requests) for partition in among):
        return None
    names = " or ".join(partition.name for partition in among)
    most = {name: max(partition.most(name) for partition in among) for name in requests}
    over = [name for name in requests if requests[name] > most[name]]
    if not over:
        listed = ", ".join(f"{value} {_UNITS[name]}" for name, value in requests.items() if value)
        return f"rule {rule} asks for {listed}: no single node of partition {names} has all of it; ask for less of one"
    listed = " and ".join(f"{requests[name]} {_UNITS[name]} (the most is {int(most[name])})" for name in over)
    flags = [
        f"--set-threads {rule}={int(most[name])}"
        if name == "threads"
        else f"--set-resources {rule}:{name}={int(most[name])}"
        for name in over
    ]
    return (
        f"rule {rule} asks for {listed}, which no node of partition {names} has, so that it would never start; "
        f"set {' '.join(flags)}, or name another partition (--default-resources slurm_partition=...)"
    )


def settings() -> dict[str, str]:
    """Return the cluster's configuration: MinJobAge, AccountingStorageType, ..."""
    lines = (line.partition("=") for line in ask("scontrol", "show", "config").splitlines())
    return {name.strip(): value.strip() for name, equals, value in lines if equals}


def jobs_of(folder: str) -> list[str]:
    """Return the numbers of the workflow's jobs, known by their comment, that wait or run for a working directory."""
    rows = (line.split("|", 2) for line in ask("squeue", "--noheader", "--me", "--format=%i|%k|%Z").splitlines())
    return [number for number, comment, place in rows if place == folder and comment.startswith(("rule_", "group_"))]


def waiting_jobs(folder: str) -> list[Waiting]:
    """Return the user's pending jobs of a working directory, with Slurm's reasons."""
    listed = ask("squeue", "--noheader", "--me", "--states=PENDING", "--format=%i|%r|%k|%Z").splitlines()
    rows = (line.split("|", 3) for line in listed)
    return [Waiting(number, comment, reason) for number, reason, comment, place in rows if place == folder]


def check_no_jobs_left(folder: str) -> None:
    """Check that no jobs of an earlier call of the workflow, whose Snakemake was killed, write to a working directory.

    Raises
    ------
    MacroscopeError
        If there are such jobs. Without Slurm there are none; if Slurm does not answer, a warning says so.
    """
    if shutil.which("squeue") is None:
        return
    try:
        left = jobs_of(folder)
    except MacroscopeError as error:
        log.warning("not checked whether jobs of an earlier call still run: %s", error)
        return
    if left:
        raise MacroscopeError(
            f"jobs of another call still write to {folder}: wait until they have ended, or end them with "
            f"'scancel {' '.join(left)}'"
        )


def ask(program: str, *arguments: str) -> str:
    """Return the output of a program of Slurm."""
    if shutil.which(program) is None:
        raise MacroscopeError(f"no {program} here: run this where Slurm's commands are, such as a login node")
    try:
        done = subprocess.run(
            [program, *arguments], capture_output=True, text=True, check=False, timeout=_WITHIN_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise MacroscopeError(f"{program}: Slurm does not answer within {_WITHIN_SECONDS} s; try again later") from None
    if done.returncode:
        raise MacroscopeError(f"{program}: Slurm says {json.dumps(done.stderr.strip())}; ask who runs the cluster")
    return done.stdout


def _minutes(limit: str) -> float:
    if match := _TIME.fullmatch(limit):
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return (days * 24 + hours) * 60 + minutes + seconds / 60
    return math.inf


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

    def problem(self, partitions: dict[str, Partition]) -> str | None:
        """Return a sentence about why the job can never start; None if it can."""
        numbers = {name: getattr(self, name) for name in ("threads", "mem_mb", "gpu", "runtime")}
        return too_large(self.rule, numbers, wanted(self.partition, partitions))


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
    offered, jobs = partitions(), read_requests(_dry_run(arguments))
    problems = [problem for job in jobs if (problem := job.problem(offered))]
    problems += [
        f"job {job.number} ({job.comment}) can never start: {job.reason}; end it with 'scancel {job.number}'"
        for job in waiting_jobs(os.getcwd())
        if job.never_starts
    ]
    if problems:
        raise MacroscopeError("\n".join(problems))
    rules = len({job.rule for job in jobs})
    return [f"the jobs of {rules} rules fit the nodes of this cluster", *_settings()]


def read_requests(dry_run: str) -> list[Requests]:
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
    configured = settings()
    if "slurmdbd" not in configured.get("AccountingStorageType", ""):
        age = configured.get("MinJobAge", "unknown")
        yield f"no slurmdbd here: run with --slurm-status-command squeue (MinJobAge, {age}, must be above 180 s)"
