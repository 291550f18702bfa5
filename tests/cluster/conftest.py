"""A cluster for all tests of a session, and a config that is small enough for it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec

import psutil
import pytest

from ..workflow.conftest import Run, copy_checkout
from .slurm import running_slurm, why_not

TEXTS = 1100
"""More than the smallest shard has, so that there are two."""
SHORT_WAITS = ("--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "10")
NO_DATABASE = ("--slurm-status-command", "squeue")
"""Option that `macroscope cluster check` recommends for this cluster."""


@pytest.fixture(scope="session")
def slurm():
    """A cluster that runs; tests are skipped where there is none to be had."""
    if find_spec("snakemake_executor_plugin_slurm") is None:
        pytest.skip("no executor plugin: pip install 'macroscope-text[slurm]'")
    if reason := why_not():
        pytest.skip(reason)
    with running_slurm() as slurm:
        yield slurm


@pytest.fixture(scope="session")
def fresh(tmp_path_factory):
    """A small config of which nothing has run."""
    folder = tmp_path_factory.mktemp("small")
    run = Run(folder, copy_checkout(folder / "checkout"))
    lines = [{"id": f"t{n}", "text": f"The {n % 7}th cat saw a dog. It ran {n % 11} miles home."} for n in range(TEXTS)]
    run.candidate.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    run.config["systems"] = {"mine": run.config["systems"]["mine"]}
    run.config["critics"] = {name: run.config["critics"][name] for name in ("strings", "tendencies")}
    run.config["comparisons"] = [{"corpus": "real", "systems": ["mine"], "critics": ["strings", "tendencies"]}]
    run.config["documents_per_shard"] = 1000
    run.save()
    return run


@pytest.fixture
def on_cluster(slurm, fresh, tmp_path):
    """A working directory, and what calls Snakemake there with the profile of a cluster."""
    work = fresh.copied(tmp_path / "work")
    return Cluster(work)


class Cluster:
    """A working directory whose jobs go to the cluster."""

    def __init__(self, run: Run) -> None:
        self.run, self.work = run, run.work

    def command(self, *arguments: str) -> list[str]:
        """Snakemake as a user calls it, but with shorter waits."""
        return [
            *(sys.executable, "-m", "snakemake", "--snakefile", str(self.run.checkout / "Snakefile"), "--nocolor"),
            *("--directory", str(self.work), "--configfile", str(self.work / "config.yaml")),
            *(
                "--workflow-profile",
                str(self.run.checkout / "profiles" / "slurm"),
                *SHORT_WAITS,
                *NO_DATABASE,
                *arguments,
            ),
        ]

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run to the end."""
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, check=False, cwd=self.work)

    def check(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `macroscope cluster check` with the arguments of a call."""
        command = [sys.executable, "-m", "macroscope", "cluster", "check", *self.command(*arguments)[3:]]
        environment = os.environ | {"PYTHONPATH": str(self.run.checkout / "workflow")}
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.work, env=environment)

    def begun(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Run in the background; its words go to began.log in the working directory."""
        with (self.work / "began.log").open("ab") as log:
            return subprocess.Popen(self.command(*arguments), stdout=log, stderr=log, cwd=self.work)

    def processes(self, rule: str) -> Iterator[psutil.Process]:
        """Yield the processes of this package that run jobs of a rule, wherever they run."""
        for process in psutil.process_iter():
            with suppress(psutil.Error):  # it has ended
                command = process.cmdline()
                if command[1:3] == ["-m", "macroscope"] and f"logs/test/{rule}/" in " ".join(command):
                    yield process

    def times(self) -> dict[str, int]:
        """File of the results -> when it was written, in nanoseconds."""
        written = [path for path in (self.work / "results").rglob("*") if path.is_file()]
        return {str(path): path.stat().st_mtime_ns for path in written}
