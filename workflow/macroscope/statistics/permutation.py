"""Permutation tests: what a difference between two samples would be if it did not matter which one a document is in.

For statistics that are functions of sums of per-document columns, a permutation is a random subset of the pooled
documents of a fixed size, and its sum is all that is needed. `subset_sums` draws a billion document-assignments in
seconds: a random bit a document decides who is in, the sums over eight documents at a time come from a table of their
256 subsets, and the few documents by which the subset is too large or too small are put right one by one.
"""

import itertools
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from macroscope.statistics.bootstrap import Array, Statistic, as_rows, value_of

_DRAWS_PER_CHUNK = 128
PROBABILITY_BITS = 4
_BATCH_BYTES = 1 << 26
TIE = 1e-9
"""Equal multisets add up in another order: differences within this relative rounding count as equal."""

TwoSampleStatistic = Callable[[Array, Array], Array]
"""(first sample: ... x n, second sample: ... x m) -> values: ..."""


def permutation_sums(a: ArrayLike, b: ArrayLike, permutations: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Column sums of the two samples after exchanging documents between them at random, sizes kept.

    Returns
    -------
    two arrays, permutations x columns
        Sums of the n_a documents that came to stand in the first sample, and of the n_b others. Where there are no
        more than `permutations` ways to divide the documents, all of them, once each.
    """
    a, b = as_rows(a), as_rows(b)
    rows = np.concatenate([a, b])
    total = rows.sum(axis=0)
    if math.comb(len(rows), len(a)) <= permutations:
        first = np.stack([rows[list(chosen)].sum(axis=0) for chosen in _divisions(len(rows), len(a))])
    else:
        first = subset_sums(rows, len(a), permutations, rng)
    return first, total - first


def sums_within_groups(
    a: ArrayLike,
    b: ArrayLike,
    groups: tuple[ArrayLike, ArrayLike],
    permutations: int,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """Column sums of the two samples after exchanging documents at random between those of the same group only.

    Parameters
    ----------
    groups
        Group of each document of either sample.

    Returns
    -------
    two arrays, permutations x columns
    """
    a, b = as_rows(a), as_rows(b)
    of_a, of_b = (np.asarray(some) for some in groups)
    first, second = np.zeros((permutations, a.shape[1])), np.zeros((permutations, a.shape[1]))
    for group in np.unique(np.concatenate([of_a, of_b])):
        some, others = a[of_a == group], b[of_b == group]
        if not len(some) or not len(others):
            first, second = first + some.sum(axis=0), second + others.sum(axis=0)
            continue
        inside, outside = permutation_sums(some, others, permutations, rng)
        if len(inside) != permutations:  # few divisions: each as often as chance takes it
            drawn = rng.integers(0, len(inside), permutations)
            inside, outside = inside[drawn], outside[drawn]
        first, second = first + inside, second + outside
    return first, second


def permutation_p_value(
    a: ArrayLike, b: ArrayLike, statistic: Statistic, permutations: int, rng: np.random.Generator
) -> float:
    """Two-tailed permutation p-value of statistic(a) - statistic(b) (meister2021 §4.1, Algorithm 1).

    The paper's pseudocode compares |distribution| with the statistic itself, which gives p = 1 for every negative
    difference; here both are absolute. The Monte Carlo p-value is (c + 1) / (n + 1) (Phipson and Smyth 2010): never
    0, and the test keeps its level. Where all divisions were enumerated, p is exact: c / n.

    Returns
    -------
    float in (0, 1], or nan where the observed difference is undefined.
    """
    a, b = as_rows(a), as_rows(b)
    observed = value_of(statistic, a) - value_of(statistic, b)
    if not np.isfinite(observed):
        return float("nan")
    first, second = permutation_sums(a, b, permutations, rng)
    differences = statistic(first, np.full(len(first), len(a))) - statistic(second, np.full(len(first), len(b)))
    return p_value_of(observed, differences, exact=is_exact(len(a), len(b), permutations))


def permutation_test(
    a: ArrayLike, b: ArrayLike, statistic: TwoSampleStatistic, permutations: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Statistic of two samples of numbers, any at all, with its two-tailed permutation p-value.

    The distribution is centred by its mean before the tails are compared, as in meister2021, Algorithm 1. Batches
    bound the memory whatever the number of permutations.

    Parameters
    ----------
    a, b
        Vectors of lengths n and m.
    statistic
        Works along the last axis.

    Returns
    -------
    value, p
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    pool = np.concatenate([a, b])
    value = float(statistic(a, b))
    if not np.isfinite(value):
        return value, float("nan")
    exact = is_exact(len(a), len(b), permutations)
    batches = _all_divisions(pool, len(a)) if exact else _random_orders(pool, permutations, rng)
    values = np.concatenate([np.atleast_1d(statistic(p[:, : len(a)], p[:, len(a) :])) for p in batches])
    centre = values.mean()
    return value, p_value_of(value - centre, values - centre, exact)


def p_value_of(observed: float, distribution: ArrayLike, exact: bool = False) -> float:
    """Share of |distribution| that reaches |observed|; (c + 1) / (n + 1) unless all permutations are in it."""
    sizes = np.abs(np.asarray(distribution, dtype=float))
    observed = abs(observed)
    reached = np.count_nonzero(~(sizes < observed - TIE * max(1.0, observed)))
    return float(reached / len(sizes) if exact else (reached + 1) / (len(sizes) + 1))


def is_exact(n: int, m: int, permutations: int) -> bool:
    """Whether there are no more ways to divide n + m documents than permutations are asked for."""
    return math.comb(n + m, n) <= permutations


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
    padded = np.zeros((-(-n // 64) * 64, rows.shape[1]))
    padded[:n] = rows
    share = round(wanted / n * (1 << PROBABILITY_BITS))
    starts = range(0, draws, _DRAWS_PER_CHUNK)
    seeds = rng.integers(0, 2**63, len(starts), dtype=np.uint64)

    def draw(chunk: tuple[int, np.uint64]) -> Array:
        start, seed = chunk
        sums = np.zeros((rows.shape[1], min(_DRAWS_PER_CHUNK, draws - start)))
        _draw_subsets(padded, n, wanted, share, seed, sums)
        return sums

    with ThreadPoolExecutor(usable_cores()) as threads:
        sums = np.concatenate(list(threads.map(draw, zip(starts, seeds, strict=True))), axis=1).T
    return sums if wanted == size else rows.sum(axis=0) - sums


def random_memberships(
    units: int, size: int, permutations: int, at_once: int, rng: np.random.Generator
) -> Iterator[Array]:
    """Zero-one rows that put `size` of the units into the first sample; every division once where there are few.

    Yields
    ------
    array, up to `at_once` x units
    """
    first = np.zeros(units)
    first[:size] = 1
    if is_exact(size, units - size, permutations):
        divisions = _divisions(units, size)
        while batch := list(itertools.islice(divisions, at_once)):
            inside = np.zeros((len(batch), units))
            inside[np.arange(len(batch))[:, None], np.array(batch, dtype=int)] = 1
            yield inside
        return
    for start in range(0, permutations, at_once):
        yield rng.permuted(np.tile(first, (min(at_once, permutations - start), 1)), axis=1)


def usable_cores() -> int:
    """Cores that this process may use: OMP_NUM_THREADS, which Snakemake sets to a job's threads, or what there are."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _divisions(n: int, size: int) -> Iterator[tuple[int, ...]]:
    return itertools.combinations(range(n), size)


def _all_divisions(pool: Array, size: int) -> Iterator[Array]:
    everyone = np.arange(len(pool))
    for chosen in _divisions(len(pool), size):
        yield pool[np.concatenate([chosen, np.setdiff1d(everyone, chosen)]).astype(int)][None]


def _random_orders(pool: Array, permutations: int, rng: np.random.Generator) -> Iterator[Array]:
    at_once = max(1, _BATCH_BYTES // pool.nbytes)
    for start in range(0, permutations, at_once):
        yield rng.permuted(np.tile(pool, (min(at_once, permutations - start), 1)), axis=1)


@njit(cache=True)
def _splitmix(state: np.uint64) -> np.uint64:  # pragma: no cover - compiled
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
    """Fill `sums` (columns x draws) with the sums of random subsets of `wanted` of the first n rows."""
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
                random = _splitmix(state)
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
    for p in range(draws):
        while excess[p] != 0:
            state += step
            i = np.int64(_splitmix(state) % np.uint64(n))
            mask = np.uint8(1 << (i & 7))
            taken = (inside[i >> 3, p] & mask) != 0
            if taken == (excess[p] > 0):
                inside[i >> 3, p] ^= mask
                sign = -1.0 if taken else 1.0
                excess[p] += np.int64(sign)
                for c in range(columns):
                    sums[c, p] += sign * rows[i, c]
