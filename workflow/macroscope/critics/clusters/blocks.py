"""Vectors too many for memory: in files (`macroscope.arrays`), and looked at a block at a time.

A million embeddings of 384 numbers are 1.5 GB, and every array made from all of them as much again.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from macroscope.arrays import mapped

Vectors = NDArray[np.float32]
ROWS = 1 << 16
"""Rows of a block."""


def blocks(rows: int) -> Iterator[slice]:
    """Divide so many rows into blocks."""
    for start in range(0, rows, ROWS):
        yield slice(start, min(start + ROWS, rows))


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
