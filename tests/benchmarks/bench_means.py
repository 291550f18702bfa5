"""Means of many columns of the same documents, and resampling of very many: against one at a time, in NumPy."""

import numpy as np
from _report import say, seconds

from macroscope.statistics.bootstrap import bootstrap_sums
from macroscope.statistics.document_features import Array
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.ratio import (
    Sample,
    difference_interval,
    difference_intervals,
    ratio_test,
    ratio_tests,
)

DOCUMENTS, COLUMNS, RESAMPLES, PERMUTATIONS = 20_000, 50, 1000, 10_000
OF_REFERENCE = 3
"""Columns that the reference is timed on."""
MANY, MOMENTS, OF_MANY = 1_000_000, 2, 20


def one_by_one(rows: Array, resamples: int, rng: np.random.Generator) -> Array:
    """Compute the sums of each resample from the counts of its rows, without bundles."""
    n = len(rows)
    return np.array([np.bincount(rng.integers(0, n, n), minlength=n) @ rows for _ in range(resamples)])


def main() -> None:
    """Print times of intervals and p-values of 50 means, and of resampling a million documents."""
    rng = np.random.default_rng(0)
    ones, permutation = np.ones(DOCUMENTS), Permutation((DOCUMENTS, DOCUMENTS))
    sides: list[list[Sample]] = [[(rng.random(DOCUMENTS), ones) for _ in range(COLUMNS)] for _ in range(2)]

    def together() -> None:
        difference_intervals(*sides, permutation, 0.95, RESAMPLES, rng)
        ratio_tests(*sides, permutation, PERMUTATIONS, rng)

    def apart() -> None:
        for theirs, ours in list(zip(*sides, strict=True))[:OF_REFERENCE]:
            difference_interval(theirs, ours, permutation, 0.95, RESAMPLES, rng)
            ratio_test(theirs, ours, permutation, PERMUTATIONS, rng)

    apart()  # compiles
    mine = seconds(together)
    theirs = seconds(apart) * COLUMNS / OF_REFERENCE
    say("means of 50 columns (s)", f"{mine:.1f}", f"{theirs:.1f}", theirs / mine, "> 1: column by column")
    rows = rng.random((MANY, MOMENTS))
    mine = seconds(lambda: bootstrap_sums(rows, OF_MANY, rng), 3)
    theirs = seconds(lambda: one_by_one(rows, OF_MANY, rng), 3)
    say("20 resamples of a million (s)", f"{mine:.2f}", f"{theirs:.2f}", theirs / mine, "> 1: NumPy")


if __name__ == "__main__":
    main()
