"""Arrays that may be too large for memory, mapped from files so that memory holds only the parts in use; usable cores.

If memory is short, the system can drop pages of a file and read them again; it cannot drop a process's own memory.
"""

import mmap
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_IN_MEMORY = 1 << 26
"""Bytes up to which an array stays in memory: for smaller arrays, a file would take longer than the computation."""


def mapped(shape: int | tuple[int, ...], dtype: Any = np.float64, folder: Path | None = None) -> NDArray:
    """Return an array of zeros; a large one is mapped from a temporary file, which is removed with its last mapping.

    Parameters
    ----------
    shape, dtype
        Shape and type, as for `numpy.zeros`.
    folder
        Folder of the file; default: the system's folder for temporary files.
    """
    if int(np.prod(shape)) * np.dtype(dtype).itemsize <= _MOST_IN_MEMORY:
        return np.zeros(shape, dtype)
    with tempfile.TemporaryFile(dir=folder) as file:
        return np.asarray(np.memmap(file, dtype, "w+", shape=shape))


def read_mapped(path: Path, dtype: Any) -> NDArray:
    """Map an array's file, or read it if it is small."""
    if path.stat().st_size <= _MOST_IN_MEMORY:
        return np.fromfile(path, dtype)
    return np.asarray(np.memmap(path, dtype, "r"))


def release_pages(array: NDArray) -> None:
    """Give back the memory that an array's pages take if it is mapped from a file; its values stay."""
    pages = getattr(array, "_mmap", None)
    if pages is not None:
        pages.madvise(mmap.MADV_DONTNEED)


def usable_cores() -> int:
    """Return the number of cores for this process: OMP_NUM_THREADS, which Snakemake sets, or all available ones."""
    threads = os.environ.get("OMP_NUM_THREADS", "")
    if threads.isdecimal() and int(threads):
        return int(threads)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
