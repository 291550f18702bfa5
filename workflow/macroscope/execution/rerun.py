"""Another call of Snakemake from within a running one, with the same arguments and one more config file."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from macroscope.execution.job_client import SNAKEMAKE


def run_again(workflow: Any, config: Path) -> int | None:
    """Run Snakemake with the arguments of this call and one more config file, and return its exit status.

    It works under the lock of this call, and ends with it.

    Parameters
    ----------
    workflow
        Snakemake's workflow, in its `onerror`.
    config
        Config file whose keys are added to the config.

    Returns
    -------
    int or None
        None if Snakemake was not started by its command line.
    """
    folder = _folder_at_start()
    if folder is None:
        return None
    configs = map(str, [*workflow.overwrite_configfiles, config.resolve()])
    command = [sys.executable, "-m", "snakemake", *sys.argv[1:], "--nolock", "--configfile", *dict.fromkeys(configs)]
    environment = os.environ | {SNAKEMAKE: str(os.getpid())}
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


def _folder_at_start() -> Path | None:
    """Return the folder in which Snakemake's command line was called: it has gone to its `--directory` since."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        handler = getattr(frame.f_locals.get("workflow_api"), "_workdir_handler", None)
        if handler is not None:
            return handler.olddir or Path.cwd()
    return None
