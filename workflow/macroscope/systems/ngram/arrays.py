"""Arrays as large as the counts of a text of any size: in files, so that memory holds only what is looked at."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SMALL_BYTES = 1 << 23
"""What is no larger stays in memory: a file would take longer than what is done with it."""


def mapped(folder: Path | None, size: int, dtype: type = np.float64) -> NDArray:
    """Make an array of zeros, in a file of its own that is gone when nothing maps it any more; or in memory."""
    if folder is None or size * np.dtype(dtype).itemsize <= _SMALL_BYTES:
        return np.zeros(size, dtype=dtype)
    with tempfile.TemporaryFile(dir=folder) as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=(size,))


def read_mapped(path: Path, dtype: Any) -> NDArray:
    """Map an array's file."""
    if path.stat().st_size <= _SMALL_BYTES:
        return np.fromfile(path, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="r")
