"""Where the libraries of a run's jobs keep what they compile and download: a place that can be written."""

import logging
import os
import shlex
from os import PathLike
from pathlib import Path

log = logging.getLogger("macroscope")


def caches(folder: Path) -> dict[str, str]:
    """Variables for the jobs of a run in `folder`; none where the user's own cache can be written.

    Without one numba compiles nothing, and matplotlib warns in every job. It is in the run's folder then, and not in a
    temporary one: numba runs what it finds in its cache.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    try:
        cache.mkdir(parents=True, exist_ok=True)
        if os.access(cache, os.W_OK | os.X_OK):
            return {}
    except OSError:
        pass  # nor can it be made
    own = folder / ".snakemake" / "cache"
    own.mkdir(parents=True, exist_ok=True)
    log.warning("%s cannot be written: this run keeps its cache in %s", cache, own)
    found = {"XDG_CACHE_HOME": str(own), "MPLCONFIGDIR": str(own / "matplotlib")}
    if (cache / "huggingface").is_dir():
        found["HF_HOME"] = str(cache / "huggingface")  # models that are there can be read all the same
    # What the environment says of one library stays.
    return {name: value for name, value in found.items() if name == "XDG_CACHE_HOME" or name not in os.environ}


def in_shell(word: str | PathLike[str]) -> str:
    """Quote a word, so that a shell takes it as it stands, whatever is in it."""
    return shlex.quote(str(word)).replace("{", "{{").replace("}", "}}")
