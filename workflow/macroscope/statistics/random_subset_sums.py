"""Random subsets of documents, and the sums over them: what permutation tests are made of.

For statistics that are functions of sums of per-document columns, a permutation is a random subset of the pooled
documents of a fixed size, and its sum is all that is needed. `subset_sums` draws a billion document-assignments in
seconds: a random bit a document decides who is in, the sums over eight documents at a time come from a table of their
256 subsets, and the few documents by which the subset is too large or too small are put right one by one.

Apart from `permutation`, since most that need a p-value never draw a subset: compiled code is slow to import.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from macroscope.statistics.document_sums import Array, as_rows
from macroscope.statistics.p_values import usable_cores

_DRAWS_PER_CHUNK = 128
PROBABILITY_BITS = 4
_ANY_SIZE = -1


def subset_sums(rows: ArrayLike, size: int, draws: int, rng: np.random.Generator) -> Array:
    """Column sums of random subsets of `size` documents, all subsets equally likely.

    The result depends on the generator alone, not on the number of cores.

    Returns
    -------
    array, draws x columns
    """
    rows = as_rows(rows)
    n = len(rows)
    if not 0 <= size <= n:
        raise ValueError(f"cannot draw {size} of {n} documents")
    wanted = min(size, n - size)  # the rarer side is drawn; the other is what is left
    sums = _drawn(rows, wanted, round(wanted / n * (1 << PROBABILITY_BITS)), draws, rng)
    return sums if wanted == size else rows.sum(axis=0) - sums


def coin_sums(rows: ArrayLike, draws: int, rng: np.random.Generator) -> Array:
    """Column sums of random subsets of any size: each document is in one with probability 1/2, whatever the others are.

    Returns
    -------
    array, draws x columns
    """
    return _drawn(as_rows(rows), _ANY_SIZE, 1 << (PROBABILITY_BITS - 1), draws, rng)


def _drawn(rows: Array, wanted: int, share: int, draws: int, rng: np.random.Generator) -> Array:
    n = len(rows)
    padded = np.zeros((-(-n // 64) * 64, rows.shape[1]))
    padded[:n] = rows
    starts = range(0, draws, _DRAWS_PER_CHUNK)
    seeds = rng.integers(0, 2**63, len(starts), dtype=np.uint64)

    def draw(chunk: tuple[int, np.uint64]) -> Array:
        start, seed = chunk
        sums = np.zeros((rows.shape[1], min(_DRAWS_PER_CHUNK, draws - start)))
        _draw_subsets(padded, n, wanted, share, seed, sums)
        return sums

    with ThreadPoolExecutor(usable_cores()) as threads:
        return np.concatenate(list(threads.map(draw, zip(starts, seeds, strict=True))), axis=1).T


@njit(cache=True)
def splitmix(state: np.uint64) -> np.uint64:  # pragma: no cover - compiled
    """Output function of SplitMix64 (Steele et al. 2014)."""
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True)
def _ones(bits: np.uint64) -> np.uint64:  # pragma: no cover - compiled
    """Number of bits that are set."""
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(cache=True, nogil=True)
def _draw_subsets(
    rows: Array, n: int, wanted: int, share: int, state: np.uint64, sums: Array
) -> None:  # pragma: no cover - compiled
    """Fill `sums` (columns x draws) with the sums of random subsets of `wanted` (or any number) of the first n rows."""
    step = np.uint64(0x9E3779B97F4A7C15)
    columns, draws = sums.shape
    words = rows.shape[0] // 64
    # Bits with probability share / 2^4 come from the binary digits of the share, the lowest first; those below the
    # lowest one that is set change nothing.
    first_digit = 0
    while share and not (share >> first_digit) & 1:
        first_digit += 1
    last_digit = PROBABILITY_BITS if share else first_digit
    inside = np.zeros((words * 8, draws), np.uint8)
    excess = np.full(draws, -wanted, np.int64)
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
            excess[p] += np.int64(_ones(bits))
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
    if wanted < 0:
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
