"""Sums over random subsets of documents, for permutation tests, compiled.

For statistics that are functions of sums of per-document columns, a permutation is a random subset of the pooled
documents of a fixed size, and its sum is all that is needed. `subset_sums` makes a billion assignments of documents in
seconds. A random bit per document decides on its membership, the sums over eight documents at a time come from a table
of their 256 subsets, and subsets that are a few documents too large or too small are corrected one document at a time.

This is a module of its own because compiled code is slow to import, and many p-values need no subsets.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from macroscope.arrays import usable_cores
from macroscope.statistics.document_features import Array, as_matrix

_DRAWS_PER_CHUNK = 128
PROBABILITY_BITS = 4
_ANY_SIZE = -1


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
