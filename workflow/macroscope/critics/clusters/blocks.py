"""Vectors too many for memory: in files (`macroscope.arrays`), and looked at a block at a time.

A million embeddings of 384 numbers are 1.5 GB, and every array made from all of them as much again.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from macroscope.arrays import mapped
from macroscope.statistics.p_values import usable_cores

Vectors = NDArray[np.float32]
ROWS = 1 << 16
"""Rows of a block."""
_MOST_IN_PART, _PRODUCTS_IN_PART = 1 << 13, 1 << 19
"""Rows of a part, and products that are made of it at once: 2 MB, which stay in a processor's cache."""


def blocks(rows: int) -> Iterator[slice]:
    """Divide so many rows into blocks."""
    for start in range(0, rows, ROWS):
        yield slice(start, min(start + ROWS, rows))


class Threads:
    """Does parts of rows at the same time, each on one core; what is found does not depend on how many there are."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool

    def each(self, function: Callable[[slice], None], rows: int, columns: int) -> None:
        """Call a function, which multiplies rows with so many columns, with every part of the rows."""
        size = min(_MOST_IN_PART, max(1, _PRODUCTS_IN_PART // columns))
        list(self._pool.map(function, [slice(start, start + size) for start in range(0, rows, size)]))


@contextmanager
def threads() -> Iterator[Threads]:
    """As many threads as this process may use cores.

    Products of matrices use none of their own meanwhile: they would wait for each other, on a busy machine for long.
    """
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(usable_cores()) as pool:
        yield Threads(pool)


def by_blocks(function: Callable[[Vectors], Vectors], vectors: Vectors) -> Vectors:
    """Return what a function of single rows makes of all of them, as wide as they are."""
    found = mapped(vectors.shape, np.float32)
    for some in blocks(len(vectors)):
        found[some] = function(vectors[some])
    return found


def taken(vectors: Vectors, numbers: NDArray[np.int64]) -> Vectors:
    """Rows by their numbers."""
    found = mapped((len(numbers), vectors.shape[1]), np.float32)
    for some in blocks(len(numbers)):
        found[some] = vectors[numbers[some]]
    return found


def different(sides: Sequence[Vectors]) -> int:
    """How many different rows there are on all sides together.

    Rows are told apart by a hash; only those whose hash is there twice are looked at in full, so that the number is
    exact.
    """
    parts = [_hashes(side[some]) for side in sides for some in blocks(len(side))]
    hashes = np.concatenate([np.empty(0, np.uint64), *parts])
    _, which, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    again = np.split(counts[which] > 1, np.cumsum([len(side) for side in sides])[:-1])
    repeated = np.concatenate([side[some] for side, some in zip(sides, again, strict=True)])
    return int((counts == 1).sum()) + len(np.unique(repeated, axis=0))


def _hashes(vectors: Vectors) -> NDArray[np.uint64]:
    """Return a multilinear hash of each row; equal rows have the same."""
    bits = np.ascontiguousarray(vectors + np.float32(0)).view(np.uint32)  # -0 becomes 0, which it equals
    factors = np.random.default_rng(0).integers(0, 2**64, bits.shape[1], dtype=np.uint64)
    return np.asarray((bits * factors).sum(axis=1, dtype=np.uint64))
