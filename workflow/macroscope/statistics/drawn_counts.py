"""Counts of categories in random samples of very many documents, compiled.

`categorical` and `inversion` weigh every document in every draw: an array draws x documents, and for exchanges a sort
of each of its rows; `bootstrap` counts in a row at a time. Of more documents than `bootstrap.MANY` each is drawn by
itself here, and what is drawn is added up: the same distributions, from other random numbers. Apart from these modules,
since compiled code is slow to import.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from macroscope.statistics.bootstrap import Array
from macroscope.statistics.exchange import Exchange
from macroscope.statistics.permutation import usable_cores
from macroscope.statistics.subsets import splitmix

_DRAWS_PER_CHUNK = 16
_STEP = np.uint64(0x9E3779B97F4A7C15)
_CELLS_AT_ONCE = 1 << 24
Integers = NDArray[np.int64]


def exchanged_counts(
    both: sparse.csr_matrix, exchange: Exchange, draws: int, rng: np.random.Generator
) -> Iterator[Array]:
    """Counts of the first sample after so many random exchanges.

    Parameters
    ----------
    both
        Counts of the documents of the first sample, then of the second x categories.

    Yields
    ------
    array, some of the draws x categories
    """
    first, second, members, sizes, quotas = exchange.parts()

    def fill(seed: np.uint64, found: Array) -> None:
        _exchange(first, second, members, sizes, quotas, both.indptr, both.indices, both.data, seed, found)

    yield from _filled(fill, draws, both.shape[1], rng)


def resampled_counts(
    both: sparse.csr_matrix, weights: Array, size: int, draws: int, rng: np.random.Generator
) -> Iterator[Array]:
    """Counts of random samples of `size` documents, with replacement, each document as likely as its weight says.

    Yields
    ------
    array, some of the draws x categories
    """
    shares, other = _alias_table(weights / weights.sum())

    def fill(seed: np.uint64, found: Array) -> None:
        _resample(shares, other, size, both.indptr, both.indices, both.data, seed, found)

    yield from _filled(fill, draws, both.shape[1], rng)


def resampled_sums(rows: Array, draws: int, rng: np.random.Generator) -> Array:
    """Column sums of random samples of as many rows as there are, with replacement: draws x columns."""
    found = np.empty((draws, rows.shape[1]))
    parts = [found[start : start + _DRAWS_PER_CHUNK] for start in range(0, draws, _DRAWS_PER_CHUNK)]

    def fill(seed: np.uint64, part: Array) -> None:
        _sum_resamples(rows, seed, part)

    with ThreadPoolExecutor(usable_cores()) as threads:
        list(threads.map(fill, rng.integers(0, 2**63, len(parts), dtype=np.uint64), parts))
    return found


def _filled(
    fill: Callable[[np.uint64, Array], None], draws: int, categories: int, rng: np.random.Generator
) -> Iterator[Array]:
    """Draws, several chunks of them at a time; the result depends on the generator alone, not on the cores."""
    at_once = max(1, _CELLS_AT_ONCE // max(1, categories) // _DRAWS_PER_CHUNK) * _DRAWS_PER_CHUNK
    with ThreadPoolExecutor(usable_cores()) as threads:
        for start in range(0, draws, at_once):
            found = np.zeros((min(at_once, draws - start), categories))
            parts = [found[some : some + _DRAWS_PER_CHUNK] for some in range(0, len(found), _DRAWS_PER_CHUNK)]
            list(threads.map(fill, rng.integers(0, 2**63, len(parts), dtype=np.uint64), parts))
            yield found


@njit(cache=True)
def _alias_table(shares: Array) -> tuple[Array, NDArray[np.int32]]:  # pragma: no cover - compiled
    """Walker's alias table (Vose 1991): a place drawn evenly stays with its share, and else becomes the other one."""
    size = len(shares)
    left = shares * size
    other = np.arange(size).astype(np.int32)
    small, large = np.empty(size, np.int32), np.empty(size, np.int32)
    smalls, larges = 0, 0
    for i in range(size):
        if left[i] < 1.0:
            small[smalls] = i
            smalls += 1
        else:
            large[larges] = i
            larges += 1
    while smalls and larges:
        less, more = small[smalls - 1], large[larges - 1]
        smalls -= 1
        other[less] = more
        left[more] -= 1.0 - left[less]
        if left[more] < 1.0:
            larges -= 1
            small[smalls] = more
            smalls += 1
    for i in range(smalls):  # what is left by rounding
        left[small[i]] = 1.0
    return left, other


@njit(cache=True, nogil=True)
def _below(limit: int, state: np.uint64) -> np.int64:  # pragma: no cover - compiled
    """An integer below a limit, from 32 random bits: all equally likely but for limit in 2^32."""
    return np.int64(((splitmix(state) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def _fraction(state: np.uint64) -> float:  # pragma: no cover - compiled
    """A number in [0, 1)."""
    return np.float64(splitmix(state) >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)
def _resample(
    shares: Array,
    other: NDArray[np.int32],
    size: int,
    starts: NDArray[np.int32],
    columns: NDArray[np.int32],
    counts: Array,
    state: np.uint64,
    found: Array,
) -> None:  # pragma: no cover - compiled
    """Add up the categories of documents drawn with replacement, into a row of `found` for each draw."""
    units = len(shares)
    times = np.empty(units, np.int32)
    for p in range(found.shape[0]):
        times[:] = 0
        for _ in range(size):
            state += _STEP
            i = int(_below(units, state))
            if shares[i] < 1.0:
                state += _STEP
                if _fraction(state) >= shares[i]:
                    i = int(other[i])
            times[i] += 1
        # Document by document in their order: those that are drawn lie all over the memory.
        for i in range(units):
            for k in range(starts[i], starts[i + 1]):
                found[p, columns[k]] += times[i] * counts[k]


@njit(cache=True, nogil=True)
def _exchange(
    first: Integers,
    second: Integers,
    members: Integers,
    sizes: Integers,
    quotas: Integers,
    starts: NDArray[np.int32],
    columns: NDArray[np.int32],
    counts: Array,
    state: np.uint64,
    found: Array,
) -> None:  # pragma: no cover - compiled
    """Add up the categories of the documents that an exchange leaves in the first sample; see `Exchange.parts`."""
    inside = np.empty(len(starts) - 1, np.bool_)
    for p in range(found.shape[0]):
        inside[:] = False
        for i in range(len(first)):
            state += _STEP
            inside[first[i] if splitmix(state) & np.uint64(1) else second[i]] = True
        start = 0
        for group in range(len(sizes)):
            size, excess = sizes[group], -quotas[group]
            share = quotas[group] / size
            for i in range(start, start + size):
                state += _STEP
                inside[members[i]] = _fraction(state) < share
                excess += inside[members[i]]
            while excess != 0:  # the few too many or too few: any of them, so that all subsets stay equally likely
                state += _STEP
                document = members[start + _below(size, state)]
                if inside[document] == (excess > 0):
                    inside[document] = not inside[document]
                    excess += 1 if inside[document] else -1
            start += size
        # Document by document in their order: those that are drawn lie all over the memory.
        for i in range(len(inside)):
            if inside[i]:
                for k in range(starts[i], starts[i + 1]):
                    found[p, columns[k]] += counts[k]


@njit(cache=True, nogil=True)
def _sum_resamples(rows: Array, state: np.uint64, found: Array) -> None:  # pragma: no cover - compiled
    """Fill each row of `found` with the sums of a resample: first how often each row is in it, then one pass."""
    size, width = rows.shape
    times = np.empty(size, np.uint8)  # a row is in a resample about once: 256 times never
    for p in range(found.shape[0]):
        times[:] = 0
        for _ in range(size):
            state += _STEP
            times[_below(size, state)] += np.uint8(1)
        found[p] = 0.0
        for i in range(size):
            for c in range(width):
                found[p, c] += times[i] * rows[i, c]
