"""Permutation test of a difference in means: against a naive loop, and against scipy.stats.permutation_test."""

import numpy as np
from _report import peak_megabytes, say, seconds
from scipy import stats

from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.ratio import ratio_test

VALUES, PERMUTATIONS, OF_REFERENCE = 100_000, 10_000, 50


def naive(a: np.ndarray, b: np.ndarray, permutations: int, rng: np.random.Generator) -> float:
    """One permutation after another (meister2021, Algorithm 1)."""
    pool, n = np.concatenate([a, b]), len(a)
    observed = abs(a.mean() - b.mean())
    reached = 0
    for _ in range(permutations):
        order = rng.permutation(pool)
        reached += abs(order[:n].mean() - order[n:].mean()) >= observed
    return (reached + 1) / (permutations + 1)


def samples() -> np.ndarray:
    """Two samples."""
    return np.random.default_rng(0).normal(size=(2, VALUES))


def ours() -> None:
    """The test of the difference, with all permutations."""
    a, b = samples()
    ones, rng = np.ones(VALUES), np.random.default_rng(1)
    ratio_test((a, ones), (b, ones), Permutation((VALUES, VALUES)), PERMUTATIONS, rng)


def scipy() -> None:
    """SciPy's test, with the permutations of a batch."""
    a, b = samples()
    stats.permutation_test(
        (a, b),
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
        vectorized=True,
        n_resamples=OF_REFERENCE,
        batch=OF_REFERENCE,
        rng=np.random.default_rng(1),
    )


def main() -> None:
    """Print times for 10,000 permutations, and memory."""
    a, b = samples()
    ours()
    mine = seconds(ours, 3)
    loop = seconds(lambda: naive(a, b, OF_REFERENCE, np.random.default_rng(1))) * PERMUTATIONS / OF_REFERENCE
    peer = seconds(scipy) * PERMUTATIONS / OF_REFERENCE
    say("permutation test (s)", f"{mine:.2f}", f"{loop:.1f}", loop / mine, "50: a naive loop")
    say("permutation test (s)", f"{mine:.2f}", f"{peer:.1f}", peer / mine, "> 1: scipy, batches of 50")
    memory, theirs = peak_megabytes(ours), peak_megabytes(scipy)
    say("its peak memory (MB)", f"{memory:.0f}", f"{theirs:.0f}", theirs / memory, "> 1: scipy, batches of 50")


if __name__ == "__main__":
    main()
