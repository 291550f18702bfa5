"""Environment of a run's jobs: writable caches for libraries, and quoting for the shell."""

import logging
import os
import shlex
import sys
from os import PathLike
from pathlib import Path
from typing import Any

from macroscope.files import IS_CHECKOUT, PACKAGE, user_cache

log = logging.getLogger("macroscope")


def keep_package_clean() -> None:
    """Let numba write its compiled functions to the user's cache, and not beside an installed package."""
    if not IS_CHECKOUT:
        os.environ.setdefault("NUMBA_CACHE_DIR", str(user_cache() / "macroscope" / "numba"))


def caches(folder: Path) -> dict[str, str]:
    """Return environment variables for the jobs of a run in `folder`; none if the user's cache can be written.

    Without a writable cache numba compiles nothing, and matplotlib warns in every job. The replacement is in the run's
    folder, not in a temporary one that others can write to: numba runs the code in its cache.
    """
    cache = user_cache()
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


def imports(folder: Path) -> str:
    """Return shell commands that let the jobs of a run in `folder` import this package.

    Jobs run the interpreter that runs Snakemake, unless Snakemake activated another environment for them (--sdm conda).
    """
    python = f'export PATH={in_shell(Path(sys.executable).parent)}":$PATH";'
    package = f'export PYTHONPATH={in_shell(_importable(folder))}":${{{{PYTHONPATH:-}}}}";'
    if IS_CHECKOUT:
        python = f"{package} {python}"
    return f'case "${{{{CONDA_PREFIX:-}}}}" in *.snakemake*) {package} ;; *) {python} ;; esac; '


def _importable(folder: Path) -> Path:
    """Return a folder to import this package from, without other packages beside it.

    A checkout has one. Beside an installed package are those of its interpreter, which another must not import; so its
    run gets a folder with a link to it.
    """
    if IS_CHECKOUT:
        return PACKAGE.parent
    link = folder / ".snakemake" / "import" / PACKAGE.name
    if not link.is_symlink() or link.readlink() != PACKAGE:
        link.parent.mkdir(parents=True, exist_ok=True)
        temporary = link.with_name(f"{PACKAGE.name}-{os.getpid()}")
        temporary.symlink_to(PACKAGE)
        os.replace(temporary, link)
    return link.parent


def quiet() -> dict[str, str]:
    """Return environment variables that silence libraries in logs: macroscope logs its own progress. Others stay."""
    variables = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "TQDM_DISABLE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    return {name: value for name, value in variables.items() if name not in os.environ}


def in_shell(word: str | PathLike[str]) -> str:
    """Quote a word for a shell command of a rule: Snakemake and the shell leave it unchanged."""
    return shlex.quote(str(word)).replace("{", "{{").replace("}", "}}")


_DEFAULT_LIMIT = (100, 1)
"""Snakemake's default limit: jobs, seconds."""


def remove_rate_limit(workflow: Any) -> None:
    """Remove Snakemake's default limit of 100 jobs per second; a limit that the user gave is kept.

    Under a limit, every iteration of the loop starts a timer for another one a second later, in addition to those
    that ending jobs cause (snakemake/snakemake#3744). Every iteration checks the inputs of all ready jobs: with 3,000
    ready jobs, Snakemake takes 85 % of a core, without the limit 28 %.
    """
    limiter = workflow.scheduler.job_rate_limiter
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == _DEFAULT_LIMIT:
        workflow.scheduler.job_rate_limiter = None
