"""Processing in blocks of vectors that do not fit into memory and are in files (`macroscope.arrays`).

A million embeddings of 384 numbers take 1.5 GB, and so does every array derived from all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from macroscope.arrays import mapped, usable_cores

Vectors = NDArray[np.float32]
ROWS = 1 << 16
"""Number of rows of a block."""
_MOST_IN_PART, _PRODUCTS_IN_PART = 1 << 13, 1 << 19
"""Largest number of rows of a part, and of products computed at once: 2 MB, which fit into a processor's cache."""


def blocks(rows: int) -> Iterator[slice]:
    """Yield the slices of blocks that cover this many rows."""
    for start in range(0, rows, ROWS):
        yield slice(start, min(start + ROWS, rows))


class Threads:
    """A pool of threads that process parts of rows in parallel; results do not depend on the number of threads."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool

    def map_parts(self, function: Callable[[slice], None], rows: int, columns: int) -> None:
        """Call a function on every part of the rows; it multiplies the rows with this many columns."""
        size = min(_MOST_IN_PART, max(1, _PRODUCTS_IN_PART // columns))
        list(self._pool.map(function, [slice(start, start + size) for start in range(0, rows, size)]))


@contextmanager
def threads() -> Iterator[Threads]:
    """Open a pool with one thread per usable core.

    Meanwhile BLAS is limited to one thread: nested threads would wait for each other, for long on a busy machine.
    """
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(usable_cores()) as pool:
        yield Threads(pool)


def map_blocks(function: Callable[[Vectors], Vectors], vectors: Vectors) -> Vectors:
    """Apply a function that maps rows to rows of the same width, block by block."""
    result = mapped(vectors.shape, np.float32)
    for block in blocks(len(vectors)):
        result[block] = function(vectors[block])
    return result


def take_rows(vectors: Vectors, indices: NDArray[np.int64]) -> Vectors:
    """Return the rows with these indices."""
    result = mapped((len(indices), vectors.shape[1]), np.float32)
    for block in blocks(len(indices)):
        result[block] = vectors[indices[block]]
    return result


def count_unique_rows(collections: Sequence[Vectors]) -> int:
    """Count the unique rows of all collections together.

    Rows are compared by a hash; only rows with a repeated hash are compared in full, so the count is exact.
    """
    parts = [_hashes(vectors[selection]) for vectors in collections for selection in blocks(len(vectors))]
    hashes = np.concatenate([np.empty(0, np.uint64), *parts])
    _, inverse, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    is_repeated = np.split(counts[inverse] > 1, np.cumsum([len(vectors) for vectors in collections])[:-1])
    repeated = np.concatenate([vectors[selection] for vectors, selection in zip(collections, is_repeated, strict=True)])
    return int((counts == 1).sum()) + len(np.unique(repeated, axis=0))


def _hashes(vectors: Vectors) -> NDArray[np.uint64]:
    """Return a multilinear hash of each row; equal rows have the same."""
    bits = np.ascontiguousarray(vectors + np.float32(0)).view(np.uint32)  # turns -0 into 0, which is equal
    factors = np.random.default_rng(0).integers(0, 2**64, bits.shape[1], dtype=np.uint64)
    return np.asarray((bits * factors).sum(axis=1, dtype=np.uint64))
