"""Kolmogorov-Smirnov distances of two samples after random permutations of their documents, compiled.

A distance needs every document after every permutation: 10,000 permutations of 20,000 documents are 200 million
assignments. This is a module of its own because compiled code is slow to import, and most uses of `kolmogorov_smirnov`
need no permutations.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit
from numpy.typing import NDArray

from macroscope.arrays import usable_cores
from macroscope.statistics.document_features import Array
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.random_subset_sums import splitmix

_DRAWS_PER_CHUNK = 64
Places = NDArray[np.int32]


def permuted_ks_distances(values: Array, permutation: Permutation, draws: int, rng: np.random.Generator) -> Array:
    """Compute D between the two samples after each of `draws` random permutations.

    The result depends on the generator, not on the number of cores.

    Parameters
    ----------
    values
        Values of the documents of the first sample, then of the second.

    Returns
    -------
    array
        Of length `draws`, in [0, 1].
    """
    order = np.argsort(values, kind="stable")
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order))
    last = np.append(values[order][1:] != values[order][:-1], True)  # ends of runs of equal values
    first, second, members, sizes, quotas = permutation.pairs_and_groups()
    # Of each group, the members of the smaller sample are sampled; the others are in the larger one.
    smaller = np.minimum(quotas, sizes - quotas)
    places = place[first], place[second], place[members]
    starts = range(0, draws, _DRAWS_PER_CHUNK)
    seeds = rng.integers(0, 2**63, len(starts), dtype=np.uint64)

    def compute(chunk: tuple[int, np.uint64]) -> Array:
        start, seed = chunk
        distances = np.empty(min(_DRAWS_PER_CHUNK, draws - start))
        _fill_distances(*places, sizes, smaller, smaller == quotas, last, permutation.sizes[0], seed, distances)
        return distances

    with ThreadPoolExecutor(usable_cores()) as threads:
        return np.concatenate(list(threads.map(compute, zip(starts, seeds, strict=True))))


@njit(cache=True)
def _random_below(limit: np.uint64, state: np.uint64) -> tuple[np.uint64, np.uint64]:  # pragma: no cover - compiled
    """Return a random integer below a limit of at most 32 bits, without bias, and the next state (Lemire 2019)."""
    while True:
        state += np.uint64(0x9E3779B97F4A7C15)
        product = (splitmix(state) >> np.uint64(32)) * limit
        low = product & np.uint64(0xFFFFFFFF)
        if low >= limit or low >= (np.uint64(0x100000000) - limit) % limit:
            return product >> np.uint64(32), state


@njit(cache=True, nogil=True)
def _fill_distances(
    first: Places,
    second: Places,
    members: Places,
    sizes: NDArray[np.int64],
    smaller: NDArray[np.int64],
    is_first: NDArray[np.bool_],
    last: NDArray[np.bool_],
    n: int,
    state: np.uint64,
    distances: Array,
) -> None:  # pragma: no cover - compiled
    """Fill `distances` with D after random permutations; documents are given by the ranks of their values."""
    units = last.shape[0]
    inside = np.zeros(units, np.uint8)
    shuffled = members.copy()  # its order does not matter: a partial shuffle of any order is uniform
    per_first, per_second = 1.0 / n, 1.0 / (units - n)
    for p in range(distances.shape[0]):
        bits, bits_left = np.uint64(0), 0
        for i in range(first.shape[0]):
            if bits_left == 0:
                state += np.uint64(0x9E3779B97F4A7C15)
                bits, bits_left = splitmix(state), 64
            stays = np.uint8(bits & np.uint64(1))
            bits >>= np.uint64(1)
            bits_left -= 1
            inside[first[i]], inside[second[i]] = stays, np.uint8(1) - stays
        start = 0
        for group in range(sizes.shape[0]):
            end = start + sizes[group]
            end_of_sampled = start + smaller[group]
            membership = np.uint8(1) if is_first[group] else np.uint8(0)
            for i in range(start, end_of_sampled):
                step, state = _random_below(np.uint64(end - i), state)
                swapped = i + np.int64(step)
                shuffled[i], shuffled[swapped] = shuffled[swapped], shuffled[i]
                inside[shuffled[i]] = membership
            for i in range(end_of_sampled, end):
                inside[shuffled[i]] = np.uint8(1) - membership
            start = end
        largest, in_first = 0.0, 0
        for i in range(units):
            in_first += inside[i]
            if last[i]:
                gap = abs(in_first * per_first - (i + 1 - in_first) * per_second)
                largest = max(largest, gap)
        distances[p] = largest
