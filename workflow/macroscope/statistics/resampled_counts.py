"""Counts of categories in random samples of large collections of documents, compiled.

`categorical` and `intervals_by_inversion` weight every document in every draw: an array draws x documents and, for
permutations, a sort of each row. This module serves collections of more than `document_features.MANY` documents. It
generates a few draws at a time, as the number of times that each contains each document, and sums them in one pass over
the documents. The distributions are the same, from other random numbers. Bundles of documents (`document_features`)
would be faster, but a large reference and a small candidate cannot be bundled together. It is a module of its own
because compiled code is slow to import.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from macroscope.arrays import usable_cores
from macroscope.statistics.compiled_permutations import splitmix
from macroscope.statistics.document_features import Array
from macroscope.statistics.permutation_groups import Permutation

_DRAWS = 8
"""Draws that are generated together, so that their sums of a category lie in one line of the cache."""
_STEP = np.uint64(0x9E3779B97F4A7C15)
_CELLS_AT_ONCE = 1 << 24
_UNIT = 2.0**53
_GUIDES = 1 << 16
_ROWS_AT_ONCE = 1 << 15
_CERTAIN = 1 << 16
_MOST_AT_ONCE = 16.0
"""Mean number of times that a document is sampled, above which the number is a sum of several Poisson numbers."""
Integers = NDArray[np.int64]
Times = NDArray[np.float32]
"""documents x `_DRAWS`: number of times that a draw contains a document."""
Rows: TypeAlias = "sparse.csr_matrix | Array"
"""Counts or numbers per document: documents x columns."""


def permuted_counts(both: Rows, permutation: Permutation, draws: int, rng: np.random.Generator) -> Iterator[Array]:
    """Compute the counts of the first sample after random permutations.

    Parameters
    ----------
    both
        Counts of the documents of the first sample, then of the second: documents x categories.
    draws
        Number of permutations.

    Yields
    ------
    array
        Batch of draws x categories.
    """
    first, second, members, sizes, quotas = permutation.pairs_and_groups()

    def fill(seed: np.uint64, times: Times) -> None:
        _sample_permutations(first, second, members, sizes, quotas, seed, times)

    for (counts,) in _sums_of_draws(lambda seed, times: fill(seed, times[0]), both, 1, draws, rng):
        yield counts


def resampled_counts(both: Rows, weights: Array, size: int, draws: int, rng: np.random.Generator) -> Iterator[Array]:
    """Compute the counts of random samples of `size` documents, with replacement.

    Parameters
    ----------
    weights
        Weight of each document, proportional to its probability.

    Yields
    ------
    array
        Batch of draws x categories.
    """
    shares = weights / weights.sum()
    cumulative = np.cumsum(shares)
    guide = np.searchsorted(cumulative, np.arange(_GUIDES + 1) / _GUIDES * cumulative[-1], side="right")
    # Poisson numbers whose sum rarely exceeds `size`; the few missing documents are sampled one by one.
    means = shares * max(0.0, size - 3 * np.sqrt(size))

    def fill(seed: np.uint64, times: list[Times]) -> None:
        _sample_multinomial(means, cumulative, guide, size, seed, times[0])

    for (counts,) in _sums_of_draws(fill, both, 1, draws, rng):
        yield counts


def disjoint_counts(
    counts: Rows, sizes: tuple[int, int], draws: int, rng: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    """Compute the counts of two random subsets of documents of these sizes, without a document in common.

    Yields
    ------
    two arrays
        Batches of draws x categories.
    """

    def fill(seed: np.uint64, times: list[Times]) -> None:
        _sample_disjoint(sizes[0], sizes[1], seed, times[0], times[1])

    for subsets in _sums_of_draws(fill, counts, 2, draws, rng):
        yield subsets[0], subsets[1]


def _sums_of_draws(
    fill: Callable[[np.uint64, list[Times]], None], rows: Rows, subsets: int, draws: int, rng: np.random.Generator
) -> Iterator[list[Array]]:
    """Yield the sums of each of `subsets` subsets, in batches of draws; they depend on the generator, not the cores."""
    documents, columns = rows.shape
    at_once = max(1, _CELLS_AT_ONCE // max(1, columns * subsets) // _DRAWS) * _DRAWS

    def sums(seed: np.uint64) -> list[Array]:
        times = [np.zeros((documents, _DRAWS), np.float32) for _ in range(subsets)]
        fill(seed, times)
        return [_sum_draws(times_of_subset, rows) for times_of_subset in times]

    with ThreadPoolExecutor(usable_cores()) as threads:
        for start in range(0, draws, at_once):
            batch = min(at_once, draws - start)
            seeds = rng.integers(0, 2**63, -(-batch // _DRAWS), dtype=np.uint64)
            parts = list(threads.map(sums, seeds))
            yield [np.concatenate([part[subset] for part in parts])[:batch] for subset in range(subsets)]


def _sum_draws(times: Times, rows: Rows) -> Array:
    """Sum the rows of each draw: `_DRAWS` x columns."""
    sums = np.zeros((rows.shape[1], _DRAWS))
    if isinstance(rows, np.ndarray):
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            batch = slice(start, start + _ROWS_AT_ONCE)
            sums += rows[batch].T @ times[batch].astype(float)
    else:
        _add_counts(times, rows.indptr, rows.indices, rows.data, sums)
    return np.ascontiguousarray(sums.T)


@njit(cache=True, nogil=True)
def _add_counts(
    times: Times, starts: NDArray[np.int32], columns: NDArray[np.int32], counts: Array, sums: Array
) -> None:  # pragma: no cover - compiled
    for i in range(len(times)):
        of_document = times[i]
        for k in range(starts[i], starts[i + 1]):
            of_column = sums[columns[k]]
            for p in range(_DRAWS):
                of_column[p] += of_document[p] * counts[k]


@njit(cache=True, nogil=True)
def _random_below(limit: int, state: np.uint64) -> np.int64:  # pragma: no cover - compiled
    """Return an integer below a limit from 32 random bits; all are equally likely up to limit / 2^32."""
    return np.int64(((splitmix(state) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def _random_fraction(state: np.uint64) -> float:  # pragma: no cover - compiled
    return np.float64(np.int64(splitmix(state) >> np.uint64(11))) / _UNIT


@njit(cache=True, nogil=True)
def _count_documents(times: Times) -> Array:  # pragma: no cover - compiled
    """Return the number of documents of each draw."""
    totals = np.zeros(_DRAWS)
    for i in range(len(times)):
        for p in range(_DRAWS):
            totals[p] += times[i, p]
    return totals


@njit(cache=True, nogil=True)
def _poisson_excess(left: float, of_three: float, mean: float) -> int:  # pragma: no cover - compiled
    """Return the excess over 4 of a Poisson number, from the rest of its cumulative probability beyond 3."""
    number, term = 4, of_three * mean / 4
    while left >= term > 0:
        left -= term
        number += 1
        term *= mean / number
    return number - 4


@njit(cache=True, nogil=True)
def _sample_multinomial(
    means: Array, cumulative: Array, guide: Integers, size: int, state: np.uint64, times: Times
) -> None:  # pragma: no cover - compiled
    """Sample documents with replacement: their numbers of times are multinomial.

    Independent Poisson numbers are multinomial given their sum. They stay so if missing documents are added one by one,
    or, if the sum is too large, all documents are sampled one by one.
    """
    for i in range(len(means)):
        of_document = times[i]
        parts = int(np.ceil(means[i] / _MOST_AT_ONCE))
        for _ in range(parts):
            mean = means[i] / parts
            p_0 = np.exp(-mean)
            p_1, p_2, p_3 = p_0 * mean, p_0 * mean**2 / 2, p_0 * mean**3 / 6
            # Comparing integers of 53 bits is faster than comparing fractions.
            up_to_0, up_to_1 = np.int64(p_0 * _UNIT), np.int64((p_0 + p_1) * _UNIT)
            up_to_2 = np.int64((p_0 + p_1 + p_2) * _UNIT)
            up_to_3 = np.int64((p_0 + p_1 + p_2 + p_3) * _UNIT)
            beyond = 0
            for p in range(_DRAWS):
                u = np.int64(splitmix(state + np.uint64(p + 1) * _STEP) >> np.uint64(11))
                of_document[p] += (u >= up_to_0) + (u >= up_to_1) + (u >= up_to_2) + (u >= up_to_3)
                beyond += int(u >= up_to_3)
            if beyond:  # rare, and separate so that the loop above can be vectorised
                for p in range(_DRAWS):
                    left = np.float64(splitmix(state + np.uint64(p + 1) * _STEP) >> np.uint64(11)) - up_to_3
                    if left >= 0:
                        of_document[p] += _poisson_excess(left / _UNIT, p_3, mean)
            state += np.uint64(_DRAWS) * _STEP
    totals = _count_documents(times)
    for p in range(_DRAWS):
        if totals[p] > size:
            times[:, p] = 0
            totals[p] = 0
        while totals[p] < size:
            state += _STEP
            times[_find_document(cumulative, guide, _random_fraction(state)), p] += 1
            totals[p] += 1


@njit(cache=True, nogil=True)
def _find_document(cumulative: Array, guide: Integers, share: float) -> int:  # pragma: no cover - compiled
    """Return the first document whose cumulative weight exceeds a share of the total; its own weight is not 0.

    Parameters
    ----------
    guide
        The same for evenly spaced shares, which bounds the binary search.
    """
    between = int(share * _GUIDES)
    value = share * cumulative[-1]
    low, high = guide[between], min(guide[between + 1], len(cumulative) - 1)
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True, nogil=True)
def _sample_permutations(
    first: Integers,
    second: Integers,
    members: Integers,
    sizes: Integers,
    quotas: Integers,
    state: np.uint64,
    times: Times,
) -> None:  # pragma: no cover - compiled
    """Sample which documents stay in the first sample; see `Permutation.pairs_and_groups`."""
    for i in range(len(first)):
        state += _STEP
        bits = splitmix(state)
        for p in range(_DRAWS):
            stays = np.float32((bits >> np.uint64(p)) & np.uint64(1))
            times[first[i], p], times[second[i], p] = stays, 1 - stays
    excess = np.zeros(_DRAWS, np.int64)
    start = 0
    for group in range(len(sizes)):
        size = sizes[group]
        share = np.uint64(np.round(quotas[group] / size * _CERTAIN))
        excess[:] = -quotas[group]
        for i in members[start : start + size]:
            for half in range(0, _DRAWS, 4):
                state += _STEP
                bits = splitmix(state)
                for p in range(4):
                    inside = ((bits >> np.uint64(16 * p)) & np.uint64(_CERTAIN - 1)) < share
                    times[i, half + p] = inside
                    excess[half + p] += inside
        for p in range(_DRAWS):
            while excess[p] != 0:  # random documents correct the size, so that all subsets stay equally likely
                state += _STEP
                document = members[start + _random_below(size, state)]
                if (times[document, p] > 0) == (excess[p] > 0):
                    times[document, p] = 1 - times[document, p]
                    excess[p] += 1 if times[document, p] > 0 else -1
        start += size


@njit(cache=True, nogil=True)
def _sample_disjoint(
    first_size: int, second_size: int, state: np.uint64, first: Times, second: Times
) -> None:  # pragma: no cover - compiled
    """Sample two subsets of the given sizes without a document in common; see `_sample_permutations`."""
    size = len(first)
    to_first = np.uint64(np.round(first_size / size * _CERTAIN))
    to_either = np.uint64(np.round((first_size + second_size) / size * _CERTAIN))
    for i in range(size):
        for half in range(0, _DRAWS, 4):
            state += _STEP
            bits = splitmix(state)
            for p in range(4):
                number = (bits >> np.uint64(16 * p)) & np.uint64(_CERTAIN - 1)
                first[i, half + p] = number < to_first
                second[i, half + p] = to_first <= number < to_either
    totals = _count_documents(first), _count_documents(second)
    for p in range(_DRAWS):
        first_excess, second_excess = int(totals[0][p] - first_size), int(totals[1][p] - second_size)
        while first_excess != 0 or second_excess != 0:
            state += _STEP
            document = _random_below(size, state)
            if first[document, p] > 0 and first_excess > 0:  # moves to the second subset if that is too small
                first[document, p], second[document, p] = 0, second_excess < 0
                first_excess, second_excess = first_excess - 1, second_excess + int(second_excess < 0)
            elif second[document, p] > 0 and second_excess > 0:
                second[document, p], first[document, p] = 0, first_excess < 0
                second_excess, first_excess = second_excess - 1, first_excess + int(first_excess < 0)
            elif first[document, p] == 0 and second[document, p] == 0:
                if first_excess < 0:
                    first[document, p] = 1
                    first_excess += 1
                elif second_excess < 0:
                    second[document, p] = 1
                    second_excess += 1
