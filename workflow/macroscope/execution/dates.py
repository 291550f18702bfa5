"""Dates of files in the future, after which everything that is made from them would count as old."""

import logging
import os
import time
from collections.abc import Iterable
from pathlib import Path

from macroscope.errors import MacroscopeError

log = logging.getLogger("macroscope")

_STEP = 1000
"""Nanoseconds between the new dates of files, which keep their order; Snakemake compares microseconds."""


def redate_future_files(folders: Iterable[str]) -> None:
    """Date files that are dated in the future to now, in their order."""
    now = time.time_ns()
    paths = (Path(root, name) for folder in folders for root, _, names in os.walk(folder) for name in names)
    future = sorted((date, path) for path in paths if (date := path.lstat().st_mtime_ns) > now)
    for number, (_, path) in enumerate(future, 1):
        date = now - _STEP * (len(future) - number)
        os.utime(path, ns=(date, date), follow_symlinks=False)
    if future:
        others = f" and {len(future) - 1} more" if len(future) > 1 else ""
        log.warning("%s%s: dated in the future; from now on, of today", future[0][1], others)


def require_past(path: str) -> None:
    """Check that a file of the user is not dated in the future, which Snakemake takes for a fault of the clocks.

    Raises
    ------
    MacroscopeError
        If it is.
    """
    if os.path.getmtime(path) > time.time():
        raise MacroscopeError(f"{path}: dated in the future, so that its results count as old; run `touch {path}`")
