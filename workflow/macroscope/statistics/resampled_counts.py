"""Sums over random samples of very many documents, compiled: counts of categories, and columns of numbers.

`categorical` and `inversion` weigh every document in every draw: an array draws x documents, and for exchanges a sort
of each of its rows; `bootstrap` counts in a row at a time. Of more documents than `bootstrap.MANY` a few draws are made
at a time here: how often each has each document, from the first to the last, and then what they add up to in one pass
over the documents. The same distributions, from other random numbers. Apart from these modules, since compiled code is
slow to import.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from macroscope.statistics.document_sums import Array
from macroscope.statistics.p_values import usable_cores
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.random_subset_sums import splitmix

_DRAWS = 8
"""Draws that are made together: what they have of a category lies in one line of the cache."""
_STEP = np.uint64(0x9E3779B97F4A7C15)
_CELLS_AT_ONCE = 1 << 24
_UNIT = 2.0**53
_GUIDES = 1 << 16
_ROWS_AT_ONCE = 1 << 15
_CERTAIN = 1 << 16
_MOST_AT_ONCE = 16.0
"""Times that a document is drawn on average, beyond which it is drawn in parts."""
Integers = NDArray[np.int64]
Times = NDArray[np.float32]
"""documents x `_DRAWS`: how often a draw has a document."""
Rows: TypeAlias = "sparse.csr_matrix | Array"
"""Counts or numbers of documents: documents x columns."""


def permuted_counts(both: Rows, permutation: Permutation, draws: int, rng: np.random.Generator) -> Iterator[Array]:
    """Counts of the first sample after so many random exchanges.

    Parameters
    ----------
    both
        Counts of the documents of the first sample, then of the second x categories.

    Yields
    ------
    array, some of the draws x categories
    """
    first, second, members, sizes, quotas = permutation.parts()

    def fill(seed: np.uint64, times: Times) -> None:
        _permutation(first, second, members, sizes, quotas, seed, times)

    for (found,) in _drawn(lambda seed, times: fill(seed, times[0]), both, 1, draws, rng):
        yield found


def resampled_counts(both: Rows, weights: Array, size: int, draws: int, rng: np.random.Generator) -> Iterator[Array]:
    """Counts of random samples of `size` documents, with replacement, each document as likely as its weight says.

    Yields
    ------
    array, some of the draws x categories
    """
    shares = weights / weights.sum()
    cumulative = np.cumsum(shares)
    guide = np.searchsorted(cumulative, np.arange(_GUIDES + 1) / _GUIDES * cumulative[-1], side="right")
    # Poisson numbers of fewer documents than are wanted, hardly ever more; the few that are missing are drawn singly.
    means = shares * max(0.0, size - 3 * np.sqrt(size))

    def fill(seed: np.uint64, times: list[Times]) -> None:
        _resample(means, cumulative, guide, size, seed, times[0])

    for (found,) in _drawn(fill, both, 1, draws, rng):
        yield found


def disjoint_counts(
    counts: Rows, sizes: tuple[int, int], draws: int, rng: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    """Counts of two random subsets of documents of these sizes, without a document in common.

    Yields
    ------
    two arrays, some of the draws x categories
    """

    def fill(seed: np.uint64, times: list[Times]) -> None:
        _deal(sizes[0], sizes[1], seed, times[0], times[1])

    for found in _drawn(fill, counts, 2, draws, rng):
        yield found[0], found[1]


def resampled_sums(rows: Array, draws: int, rng: np.random.Generator) -> Array:
    """Column sums of random samples of as many rows as there are, with replacement: draws x columns."""
    return np.concatenate(list(resampled_counts(rows, np.ones(len(rows)), len(rows), draws, rng)))


def _drawn(
    fill: Callable[[np.uint64, list[Times]], None], rows: Rows, subsets: int, draws: int, rng: np.random.Generator
) -> Iterator[list[Array]]:
    """Sums of each of some subsets, many draws at a time; they depend on the generator alone, not on the cores."""
    documents, columns = rows.shape
    at_once = max(1, _CELLS_AT_ONCE // max(1, columns * subsets) // _DRAWS) * _DRAWS

    def sums(seed: np.uint64) -> list[Array]:
        times = [np.zeros((documents, _DRAWS), np.float32) for _ in range(subsets)]
        fill(seed, times)
        return [_added(some, rows) for some in times]

    with ThreadPoolExecutor(usable_cores()) as threads:
        for start in range(0, draws, at_once):
            wanted = min(at_once, draws - start)
            seeds = rng.integers(0, 2**63, -(-wanted // _DRAWS), dtype=np.uint64)
            parts = list(threads.map(sums, seeds))
            yield [np.concatenate([part[which] for part in parts])[:wanted] for which in range(subsets)]


def _added(times: Times, rows: Rows) -> Array:
    """What draws add up to: `_DRAWS` x columns."""
    found = np.zeros((rows.shape[1], _DRAWS))
    if isinstance(rows, np.ndarray):
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            some = slice(start, start + _ROWS_AT_ONCE)
            found += rows[some].T @ times[some].astype(float)
    else:
        _add_counts(times, rows.indptr, rows.indices, rows.data, found)
    return np.ascontiguousarray(found.T)


@njit(cache=True, nogil=True)
def _add_counts(
    times: Times, starts: NDArray[np.int32], columns: NDArray[np.int32], counts: Array, found: Array
) -> None:  # pragma: no cover - compiled
    for i in range(len(times)):
        of_document = times[i]
        for k in range(starts[i], starts[i + 1]):
            of_column = found[columns[k]]
            for p in range(_DRAWS):
                of_column[p] += of_document[p] * counts[k]


@njit(cache=True, nogil=True)
def _below(limit: int, state: np.uint64) -> np.int64:  # pragma: no cover - compiled
    """An integer below a limit, from 32 random bits: all equally likely but for limit in 2^32."""
    return np.int64(((splitmix(state) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def _fraction(state: np.uint64) -> float:  # pragma: no cover - compiled
    """A number in [0, 1)."""
    return np.float64(np.int64(splitmix(state) >> np.uint64(11))) / _UNIT


@njit(cache=True, nogil=True)
def _totals(times: Times) -> Array:  # pragma: no cover - compiled
    """Documents that each draw has."""
    found = np.zeros(_DRAWS)
    for i in range(len(times)):
        for p in range(_DRAWS):
            found[p] += times[i, p]
    return found


@njit(cache=True, nogil=True)
def _beyond(left: float, of_three: float, mean: float) -> int:  # pragma: no cover - compiled
    """By how much a Poisson number is above 4, from what is left of its share beyond 3."""
    number, term = 4, of_three * mean / 4
    while left >= term > 0:
        left -= term
        number += 1
        term *= mean / number
    return number - 4


@njit(cache=True, nogil=True)
def _resample(
    means: Array, cumulative: Array, guide: Integers, size: int, state: np.uint64, times: Times
) -> None:  # pragma: no cover - compiled
    """Draw documents with replacement: how often each is drawn is multinomial.

    Independent Poisson numbers are multinomial, given their sum; so they are with what is missing drawn singly, or all
    where the sum is too large.
    """
    for i in range(len(means)):
        of_document = times[i]
        parts = int(np.ceil(means[i] / _MOST_AT_ONCE))
        for _ in range(parts):
            mean = means[i] / parts
            none = np.exp(-mean)
            one, two, three = none * mean, none * mean**2 / 2, none * mean**3 / 6
            # Whole numbers of 53 bits are compared sooner than fractions.
            up_to_none, up_to_one = np.int64(none * _UNIT), np.int64((none + one) * _UNIT)
            up_to_two = np.int64((none + one + two) * _UNIT)
            up_to_three = np.int64((none + one + two + three) * _UNIT)
            beyond = 0
            for p in range(_DRAWS):
                u = np.int64(splitmix(state + np.uint64(p + 1) * _STEP) >> np.uint64(11))
                of_document[p] += (u >= up_to_none) + (u >= up_to_one) + (u >= up_to_two) + (u >= up_to_three)
                beyond += int(u >= up_to_three)
            if beyond:  # seldom: apart, or the loop above would not be one of vectors
                for p in range(_DRAWS):
                    left = np.float64(splitmix(state + np.uint64(p + 1) * _STEP) >> np.uint64(11)) - up_to_three
                    if left >= 0:
                        of_document[p] += _beyond(left / _UNIT, three, mean)
            state += np.uint64(_DRAWS) * _STEP
    drawn = _totals(times)
    for p in range(_DRAWS):
        if drawn[p] > size:
            times[:, p] = 0
            drawn[p] = 0
        while drawn[p] < size:
            state += _STEP
            times[_place(cumulative, guide, _fraction(state)), p] += 1
            drawn[p] += 1


@njit(cache=True, nogil=True)
def _place(cumulative: Array, guide: Integers, share: float) -> int:  # pragma: no cover - compiled
    """First document whose cumulative weight is above a share of all; none of weight 0 is one.

    Parameters
    ----------
    guide
        The same of some shares, evenly spaced: where to look.
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
def _permutation(
    first: Integers,
    second: Integers,
    members: Integers,
    sizes: Integers,
    quotas: Integers,
    state: np.uint64,
    times: Times,
) -> None:  # pragma: no cover - compiled
    """Draw which documents an exchange leaves in the first sample; see `Permutation.parts`."""
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
            while excess[p] != 0:  # the few too many or too few: any of them, so that all subsets stay equally likely
                state += _STEP
                document = members[start + _below(size, state)]
                if (times[document, p] > 0) == (excess[p] > 0):
                    times[document, p] = 1 - times[document, p]
                    excess[p] += 1 if times[document, p] > 0 else -1
        start += size


@njit(cache=True, nogil=True)
def _deal(
    of_first: int, of_second: int, state: np.uint64, first: Times, second: Times
) -> None:  # pragma: no cover - compiled
    """Draw two subsets of so many documents without a document in common; see `_permutation`."""
    size = len(first)
    to_first = np.uint64(np.round(of_first / size * _CERTAIN))
    to_either = np.uint64(np.round((of_first + of_second) / size * _CERTAIN))
    for i in range(size):
        for half in range(0, _DRAWS, 4):
            state += _STEP
            bits = splitmix(state)
            for p in range(4):
                number = (bits >> np.uint64(16 * p)) & np.uint64(_CERTAIN - 1)
                first[i, half + p] = number < to_first
                second[i, half + p] = to_first <= number < to_either
    of_either = _totals(first), _totals(second)
    for p in range(_DRAWS):
        too_many, others = int(of_either[0][p] - of_first), int(of_either[1][p] - of_second)
        while too_many != 0 or others != 0:
            state += _STEP
            any_one = _below(size, state)
            if first[any_one, p] > 0 and too_many > 0:  # to the other one, where that has too few
                first[any_one, p], second[any_one, p] = 0, others < 0
                too_many, others = too_many - 1, others + int(others < 0)
            elif second[any_one, p] > 0 and others > 0:
                second[any_one, p], first[any_one, p] = 0, too_many < 0
                others, too_many = others - 1, too_many + int(too_many < 0)
            elif first[any_one, p] == 0 and second[any_one, p] == 0:
                if too_many < 0:
                    first[any_one, p] = 1
                    too_many += 1
                elif others < 0:
                    second[any_one, p] = 1
                    others += 1
