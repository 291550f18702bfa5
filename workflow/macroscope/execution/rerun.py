"""Jobs that run again: those of complete results, and another call of Snakemake from within a running one."""

import os
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from macroscope.execution.job_client import SNAKEMAKE


def force_rules(workflow: Any, rules: Collection[str]) -> None:
    """Let Snakemake run the jobs of rules again, though their results are complete, unless it is given targets.

    Its settings are not known before it executes the workflow.
    """
    execute = workflow.execute

    def execute_with_force(*arguments: Any, **named: Any) -> Any:
        settings = workflow.dag_settings
        if not settings.targets:
            settings.forcerun = {*settings.forcerun, *rules}
        return execute(*arguments, **named)

    workflow.execute = execute_with_force


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
