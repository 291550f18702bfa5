"""Arrays that may be too large for memory: in files, so that memory holds only what is looked at.

What the system reads from a file it may forget again where memory is short; a process's own memory it may not.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_IN_MEMORY = 1 << 26
"""Bytes up to which an array stays in memory: a file would take longer than what is done with it."""


def mapped(shape: int | tuple[int, ...], dtype: Any = np.float64, folder: Path | None = None) -> NDArray:
    """Make an array of zeros; a large one lies in a file of its own that is gone when nothing maps it any more.

    Parameters
    ----------
    shape, dtype
        As NumPy's.
    folder
        Where the file lies; none: where the system keeps what is temporary.
    """
    if int(np.prod(shape)) * np.dtype(dtype).itemsize <= _MOST_IN_MEMORY:
        return np.zeros(shape, dtype)
    with tempfile.TemporaryFile(dir=folder) as file:
        return np.asarray(np.memmap(file, dtype, "w+", shape=shape))


def read_mapped(path: Path, dtype: Any) -> NDArray:
    """Map an array's file, or read it where it is small."""
    if path.stat().st_size <= _MOST_IN_MEMORY:
        return np.fromfile(path, dtype)
    return np.asarray(np.memmap(path, dtype, "r"))
