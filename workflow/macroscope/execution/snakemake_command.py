"""The command that runs the workflow on a config, whether it is in a checkout or in an installed package."""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from macroscope.files import SNAKEFILE, SNAKEMAKE_PROFILE

_PROFILE = "--workflow-profile"


def snakemake_command(config: Path, arguments: Sequence[str]) -> list[str]:
    """Return the words of the command.

    Parameters
    ----------
    arguments
        Further arguments of snakemake; a `--workflow-profile` among them takes the place of the one for one machine.
    """
    # By its path: Snakemake would prefer a folder of that name in the working directory.
    has_profile = any(word == _PROFILE or word.startswith(f"{_PROFILE}=") for word in arguments)
    profile = () if has_profile else (_PROFILE, str(SNAKEMAKE_PROFILE))
    return [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE), "--configfile", str(config)),
        *profile,
        *(("--nocolor",) if os.environ.get("NO_COLOR") else ()),
        *arguments,
    ]


def shown_command(command: Sequence[str]) -> str:
    """Return a command of `snakemake_command` for people to type."""
    return shlex.join(["snakemake", *command[3:]])
