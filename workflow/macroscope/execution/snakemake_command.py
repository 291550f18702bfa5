"""Runs of the workflow on a config, whether it is in a checkout or in an installed package."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from macroscope.execution.job_client import SNAKEMAKE
from macroscope.files import SNAKEFILE, SNAKEMAKE_PROFILE

SECOND_PASS = "MACROSCOPE_SECOND_PASS"
"""Environment variable of Snakemake: path of the config that it writes if a second pass can leave out what failed."""
_PROFILE = "--workflow-profile"
_OUTPUT = ("-p", "-np", "-q", "-nq", "--quiet", "--verbose", "--printshellcmds", "--debug-dag", "--logger")
"""Beginnings of arguments that choose what Snakemake prints; without them, it is the progress (`progress_log`)."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_snakemake(config: Path, arguments: Sequence[str]) -> int:
    """Run Snakemake, and again without what failed as long as a report can be made; return its exit status.

    Signals that this process gets are passed on, and Snakemake ends with it.
    """
    configs = [config]
    # With "=", so that a target may follow: the option takes any number of words.
    logger = () if any(word.startswith(_OUTPUT) for word in arguments) else ("--logger=macroscope",)
    with tempfile.TemporaryDirectory(prefix="macroscope-") as folder:
        for number in count(1):
            left_out = Path(folder) / f"missing-{number}.json"
            status = _run(snakemake_command(configs, [*logger, *arguments]), left_out)
            if not left_out.exists():
                return status
            configs = [config, left_out]
    raise AssertionError("each pass leaves out more")


def _run(command: Sequence[str], left_out: Path) -> int:
    """Run a command to its end, with the signals that this process gets, and return its exit status."""
    environment = os.environ | {SECOND_PASS: str(left_out), SNAKEMAKE: str(os.getpid())}
    # In a process group of its own: a terminal's interrupt reaches it once, through this process.
    with subprocess.Popen(command, env=environment, process_group=0) as process:
        before = {each: signal.signal(each, lambda number, frame: process.send_signal(number)) for each in _SIGNALS}
        try:
            status = process.wait()
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)
    return status if status >= 0 else 128 - status


def snakemake_command(configs: Sequence[Path], arguments: Sequence[str]) -> list[str]:
    """Return the words of the command.

    Parameters
    ----------
    configs
        Config files; a key of a later one replaces that of an earlier one.
    arguments
        Further arguments of snakemake; a `--workflow-profile` among them takes the place of the one for one machine.
    """
    # By its path: Snakemake would prefer a folder of that name in the working directory.
    has_profile = any(word == _PROFILE or word.startswith(f"{_PROFILE}=") for word in arguments)
    profile = () if has_profile else (_PROFILE, str(SNAKEMAKE_PROFILE))
    return [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE), "--configfile", *map(str, configs)),
        *profile,
        *(("--nocolor",) if os.environ.get("NO_COLOR") else ()),
        *arguments,
    ]
