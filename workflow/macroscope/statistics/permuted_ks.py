"""The Kolmogorov-Smirnov distance of two samples after random exchanges of their documents, compiled.

A distance needs every document after every exchange: 10,000 exchanges of 20,000 documents are 200 million assignments.
Apart from `kolmogorov_smirnov`, since most that measure a distance draw none: compiled code is slow to import.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit
from numpy.typing import NDArray

from macroscope.statistics.document_sums import Array
from macroscope.statistics.p_values import usable_cores
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.random_subset_sums import splitmix

_DRAWS_PER_CHUNK = 64
Places = NDArray[np.int32]


def drawn_distances(values: Array, permutation: Permutation, draws: int, rng: np.random.Generator) -> Array:
    """D between the two samples after each of so many random exchanges.

    The result depends on the generator alone, not on the number of cores.

    Parameters
    ----------
    values
        Of the documents of the first sample, then of the second.

    Returns
    -------
    array of length `draws`, in [0, 1]
    """
    order = np.argsort(values, kind="stable")
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order))
    last = np.append(values[order][1:] != values[order][:-1], True)  # ends of runs of equal values
    first, second, members, sizes, quotas = permutation.parts()
    # The rarer side of a group is drawn; the other one is what is left.
    rarer = np.minimum(quotas, sizes - quotas)
    places = place[first], place[second], place[members]
    starts = range(0, draws, _DRAWS_PER_CHUNK)
    seeds = rng.integers(0, 2**63, len(starts), dtype=np.uint64)

    def draw(chunk: tuple[int, np.uint64]) -> Array:
        start, seed = chunk
        found = np.empty(min(_DRAWS_PER_CHUNK, draws - start))
        _fill(*places, sizes, rarer, rarer == quotas, last, permutation.sizes[0], seed, found)
        return found

    with ThreadPoolExecutor(usable_cores()) as threads:
        return np.concatenate(list(threads.map(draw, zip(starts, seeds, strict=True))))


@njit(cache=True)
def _below(limit: np.uint64, state: np.uint64) -> tuple[np.uint64, np.uint64]:  # pragma: no cover - compiled
    """A random integer below a limit of at most 32 bits, all equally likely, and the next state (Lemire 2019)."""
    while True:
        state += np.uint64(0x9E3779B97F4A7C15)
        product = (splitmix(state) >> np.uint64(32)) * limit
        low = product & np.uint64(0xFFFFFFFF)
        if low >= limit or low >= (np.uint64(0x100000000) - limit) % limit:
            return product >> np.uint64(32), state


@njit(cache=True, nogil=True)
def _fill(
    first: Places,
    second: Places,
    members: Places,
    sizes: NDArray[np.int64],
    rarer: NDArray[np.int64],
    is_first: NDArray[np.bool_],
    last: NDArray[np.bool_],
    n: int,
    state: np.uint64,
    found: Array,
) -> None:  # pragma: no cover - compiled
    """Fill `found` with the distances after random exchanges; documents go by their places in the order of values."""
    units = last.shape[0]
    inside = np.zeros(units, np.uint8)
    shuffled = members.copy()  # in any order to begin with: what is drawn from it is uniform all the same
    per_first, per_second = 1.0 / n, 1.0 / (units - n)
    for p in range(found.shape[0]):
        bits, left = np.uint64(0), 0
        for i in range(first.shape[0]):
            if left == 0:
                state += np.uint64(0x9E3779B97F4A7C15)
                bits, left = splitmix(state), 64
            stays = np.uint8(bits & np.uint64(1))
            bits >>= np.uint64(1)
            left -= 1
            inside[first[i]], inside[second[i]] = stays, np.uint8(1) - stays
        start = 0
        for group in range(sizes.shape[0]):
            end = start + sizes[group]
            chosen = start + rarer[group]
            drawn = np.uint8(1) if is_first[group] else np.uint8(0)
            for i in range(start, chosen):
                step, state = _below(np.uint64(end - i), state)
                other = i + np.int64(step)
                shuffled[i], shuffled[other] = shuffled[other], shuffled[i]
                inside[shuffled[i]] = drawn
            for i in range(chosen, end):
                inside[shuffled[i]] = np.uint8(1) - drawn
            start = end
        largest, in_first = 0.0, 0
        for i in range(units):
            in_first += inside[i]
            if last[i]:
                gap = abs(in_first * per_first - (i + 1 - in_first) * per_second)
                largest = max(largest, gap)
        found[p] = largest
