"""Sums and Kolmogorov-Smirnov distances of two samples after random permutations of their documents, compiled.

For statistics that are functions of sums of per-document columns, a permutation is a random subset of the pooled
documents of a fixed size, and its sum is all that is needed. `subset_sums` makes a billion assignments of documents in
seconds. A random bit per document decides on its membership, the sums over eight documents at a time come from a table
of their 256 subsets, and subsets that are a few documents too large or too small are corrected one document at a time.
A distance needs every document after every permutation: 10,000 permutations of 20,000 documents are 200 million
assignments.

This is a module of its own because compiled code is slow to import, and many p-values need none.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from macroscope.arrays import usable_cores
from macroscope.statistics.document_features import Array, as_matrix
from macroscope.statistics.document_groups import Integers

_DRAWS_PER_CHUNK, _DISTANCES_PER_CHUNK = 128, 64
PROBABILITY_BITS = 4
_ANY_SIZE = -1
Places = NDArray[np.int32]
PairsAndGroups: TypeAlias = tuple[Integers, Integers, Integers, Integers, Integers]


def subset_sums(rows: ArrayLike, size: int, draws: int, rng: np.random.Generator) -> Array:
    """Compute column sums of random subsets of `size` documents, all subsets equally likely.

    The result depends on the generator, not on the number of cores.

    Returns
    -------
    array
        draws x columns.
    """
    rows = as_matrix(rows)
    n = len(rows)
    if not 0 <= size <= n:
        raise ValueError(f"subset of {size} documents: there are {n}")
    smaller = min(size, n - size)  # the smaller subset is sampled; the other is its complement
    sums = _sample_sums(rows, smaller, round(smaller / n * (1 << PROBABILITY_BITS)), draws, rng)
    return sums if smaller == size else rows.sum(axis=0) - sums


def coin_sums(rows: ArrayLike, draws: int, rng: np.random.Generator) -> Array:
    """Compute column sums of random subsets of any size: each document is included independently with probability 1/2.

    Returns
    -------
    array
        draws x columns.
    """
    return _sample_sums(as_matrix(rows), _ANY_SIZE, 1 << (PROBABILITY_BITS - 1), draws, rng)


def _sample_sums(rows: Array, subset_size: int, share: int, draws: int, rng: np.random.Generator) -> Array:
    n = len(rows)
    padded = np.zeros((-(-n // 64) * 64, rows.shape[1]))
    padded[:n] = rows
    starts = range(0, draws, _DRAWS_PER_CHUNK)
    seeds = rng.integers(0, 2**63, len(starts), dtype=np.uint64)

    def compute(chunk: tuple[int, np.uint64]) -> Array:
        start, seed = chunk
        sums = np.zeros((rows.shape[1], min(_DRAWS_PER_CHUNK, draws - start)))
        _fill_sums(padded, n, subset_size, share, seed, sums)
        return sums

    with ThreadPoolExecutor(usable_cores()) as threads:
        return np.concatenate(list(threads.map(compute, zip(starts, seeds, strict=True))), axis=1).T


@njit(cache=True)
def splitmix(state: np.uint64) -> np.uint64:  # pragma: no cover - compiled
    """Return the output function of SplitMix64 (Steele et al. 2014) at a state."""
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True)
def _count_ones(bits: np.uint64) -> np.uint64:  # pragma: no cover - compiled
    """Return the number of set bits."""
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(cache=True, nogil=True)
def _fill_sums(
    rows: Array, n: int, subset_size: int, share: int, state: np.uint64, sums: Array
) -> None:  # pragma: no cover - compiled
    """Fill `sums` (columns x draws) with sums of random subsets of the first n rows, of `subset_size` or any size."""
    step = np.uint64(0x9E3779B97F4A7C15)
    columns, draws = sums.shape
    words = rows.shape[0] // 64
    # Bits with probability share / 2^4 come from the binary digits of the share, the lowest first; digits below the
    # lowest set one have no effect.
    first_digit = 0
    while share and not (share >> first_digit) & 1:
        first_digit += 1
    last_digit = PROBABILITY_BITS if share else first_digit
    inside = np.zeros((words * 8, draws), np.uint8)
    excess = np.full(draws, -subset_size, np.int64)
    table = np.zeros(256)
    for word in range(words):
        valid = n - word * 64
        for p in range(draws):
            bits = np.uint64(0)
            for digit in range(first_digit, last_digit):
                state += step
                random = splitmix(state)
                bits = (bits | random) if (share >> digit) & 1 else (bits & random)
            if valid < 64:
                bits &= (np.uint64(1) << np.uint64(valid)) - np.uint64(1)
            excess[p] += np.int64(_count_ones(bits))
            for byte in range(8):
                inside[word * 8 + byte, p] = (bits >> np.uint64(8 * byte)) & np.uint64(255)
        for c in range(columns):
            for byte in range(8):
                block = word * 8 + byte
                for bit in range(8):
                    value = rows[block * 8 + bit, c]
                    for k in range(1 << bit):
                        table[(1 << bit) + k] = table[k] + value
                for p in range(draws):
                    sums[c, p] += table[inside[block, p]]
    if subset_size < 0:
        return
    for p in range(draws):
        while excess[p] != 0:
            state += step
            i = np.int64(splitmix(state) % np.uint64(n))
            mask = np.uint8(1 << (i & 7))
            taken = (inside[i >> 3, p] & mask) != 0
            if taken == (excess[p] > 0):
                inside[i >> 3, p] ^= mask
                sign = -1.0 if taken else 1.0
                excess[p] += np.int64(sign)
                for c in range(columns):
                    sums[c, p] += sign * rows[i, c]


def permuted_ks_distances(values: Array, n: int, groups: PairsAndGroups, draws: int, rng: np.random.Generator) -> Array:
    """Compute D between the two samples after each of `draws` random permutations.

    The result depends on the generator, not on the number of cores.

    Parameters
    ----------
    values
        Values of the documents of the first sample, then of the second.
    n
        Number of documents of the first sample.
    groups
        Structure of the permutations: `Permutation.pairs_and_groups`.

    Returns
    -------
    array
        Of length `draws`, in [0, 1].
    """
    order = np.argsort(values, kind="stable")
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order))
    last = np.append(values[order][1:] != values[order][:-1], True)  # ends of runs of equal values
    first, second, members, sizes, quotas = groups
    # Of each group, the members of the smaller sample are sampled; the others are in the larger one.
    smaller = np.minimum(quotas, sizes - quotas)
    places = place[first], place[second], place[members]
    starts = range(0, draws, _DISTANCES_PER_CHUNK)
    seeds = rng.integers(0, 2**63, len(starts), dtype=np.uint64)

    def compute(chunk: tuple[int, np.uint64]) -> Array:
        start, seed = chunk
        distances = np.empty(min(_DISTANCES_PER_CHUNK, draws - start))
        _fill_distances(*places, sizes, smaller, smaller == quotas, last, n, seed, distances)
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
