"""Environment of a run's jobs: writable caches for libraries, and quoting for the shell."""

import logging
import os
import shlex
from os import PathLike
from pathlib import Path
from typing import Any

log = logging.getLogger("macroscope")


def caches(folder: Path) -> dict[str, str]:
    """Return environment variables for the jobs of a run in `folder`; none if the user's cache can be written.

    Without a writable cache numba compiles nothing, and matplotlib warns in every job. The replacement is in the run's
    folder, not in a temporary one that others can write to: numba runs the code in its cache.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    try:
        cache.mkdir(parents=True, exist_ok=True)
        if os.access(cache, os.W_OK | os.X_OK):
            return {}
    except OSError:
        pass  # it cannot be created
    run_cache = folder / ".snakemake" / "cache"
    run_cache.mkdir(parents=True, exist_ok=True)
    log.warning("%s cannot be written: this run keeps its cache in %s", cache, run_cache)
    variables = {"XDG_CACHE_HOME": str(run_cache), "MPLCONFIGDIR": str(run_cache / "matplotlib")}
    if (cache / "huggingface").is_dir():
        variables["HF_HOME"] = str(cache / "huggingface")  # models that it holds can still be read
    # Settings of the environment for a single library stay.
    return {name: value for name, value in variables.items() if name == "XDG_CACHE_HOME" or name not in os.environ}


def in_shell(word: str | PathLike[str]) -> str:
    """Quote a word for a shell command of a rule: Snakemake and the shell leave it unchanged."""
    return shlex.quote(str(word)).replace("{", "{{").replace("}", "}}")


_DEFAULT_LIMIT = (100, 1)
"""Snakemake's default limit: jobs, seconds."""


def turn_only_when_needed(workflow: Any) -> None:
    """Remove Snakemake's default limit of 100 jobs per second; a limit that the user gave is kept.

    Under a limit, every iteration of the loop starts a timer for another one a second later, in addition to those
    that ending jobs cause (snakemake/snakemake#3744). Every iteration checks the inputs of all ready jobs: with 3,000
    ready jobs, Snakemake takes 85 % of a core, without the limit 28 %.
    """
    limiter = workflow.scheduler.job_rate_limiter
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == _DEFAULT_LIMIT:
        workflow.scheduler.job_rate_limiter = None
