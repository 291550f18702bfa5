"""Cross-fitted tests: a p-value from one statistic per fold, computed with estimates from earlier folds.

Estimates from texts of both samples score other texts, and the scores of the samples are compared. Given the estimates,
permutations of the scored texts between the samples are an exact test. This is no longer true if folds take turns as in
cross-validation. The texts scored in one fold then contribute to the estimates that score the others, each pair of
folds enters twice, and the statistic varies about twice as much as permutations under fixed estimates do. The folds are
therefore ordered, and each is scored by estimates from the folds before it alone.

The value of a fold then ranks among those of its own permutations as any of them would, whatever the earlier folds
contained. The ranks of the folds are therefore independent, and so are functions of them. Their normal scores are
added, and the sum is compared with those of the permutations, the b-th permutation of one fold with the b-th of every
other. The p-value is exact for any number of texts, for any estimates, and for weights that do not depend on the scored
texts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from macroscope.statistics.document_features import Array
from macroscope.statistics.p_values import TIE
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.tidy import UNDEFINED


def midranks(values: ArrayLike) -> NDArray[np.float64]:
    """Return ranks from 1; equal values share their mean rank.

    Parameters
    ----------
    values
        One dimension, without NaN.
    """
    _, group, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[group]
    return ranks


Folds = NDArray[np.int64]


@dataclass(frozen=True)
class Order:
    """Ordered folds of the texts of both samples.

    Attributes
    ----------
    folds
        Fold of each text of both samples; folds are ordered by their numbers.
    estimated_from
        Number of texts per sample behind the estimates that score each fold; 0 if there are none, and the fold is not
        tested.
    paired_groups
        Group of each text of both samples that is paired with the other sample, numbered from 1; 0 for unpaired texts.
        None if no text is paired. All texts of a group are in one fold.
    """

    folds: tuple[Folds, Folds]
    estimated_from: NDArray[np.int64]
    paired_groups: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def tested(self) -> list[int]:
        """Return the folds that have estimates, and texts of both samples."""
        present = [set(folds.tolist()) for folds in self.folds]
        return [
            fold
            for fold in np.flatnonzero(self.estimated_from).tolist()
            if all(fold in folds_of_sample for folds_of_sample in present)
        ]

    def inside(self, fold: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return masks of the texts of both samples that are in a fold."""
        return self.folds[0] == fold, self.folds[1] == fold

    def permutation(self, fold: int) -> Permutation:
        """Return the permutations of the texts of a fold."""
        inside = self.inside(fold)
        sizes = int(inside[0].sum()), int(inside[1].sum())
        if self.paired_groups is None:
            return Permutation(sizes)
        return Permutation(
            sizes, np.concatenate([groups[mask] for groups, mask in zip(self.paired_groups, inside, strict=True)])
        )

    def weight(self, fold: int) -> float:
        """Return the root of (texts estimated from x texts scored), the weight that adds small differences best."""
        n, m = (int(mask.sum()) for mask in self.inside(fold))
        return float(np.sqrt(self.estimated_from[fold] * n * m / (n + m)))


@dataclass(frozen=True)
class FoldTest:
    """Statistic of one fold, observed and after each permutation; larger is more different."""

    value: float
    permuted: Array
    weight: float


def permuted_sums(
    reference: Array, candidate: Array, permutation: Permutation, permutations: int, rng: np.random.Generator
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Compute column sums of both samples of a fold, observed and after permutations of texts between the samples.

    Parameters
    ----------
    reference, candidate
        Texts x columns.

    Returns
    -------
    (sums, sums), (permutations x columns, permutations x columns)
    """
    reference_sums, candidate_sums = permutation.permuted_sums(reference, candidate, permutations, rng)
    if permutation.is_exact(permutations):  # few divisions: sampled with replacement
        chosen = rng.integers(0, len(reference_sums), permutations)
        reference_sums, candidate_sums = reference_sums[chosen], candidate_sums[chosen]
    return (reference.sum(axis=0), candidate.sum(axis=0)), (reference_sums, candidate_sums)


def fold_tests(
    order: Order,
    rows: Callable[[int], tuple[Array, Array]],
    statistics: Callable[[Array, Array, int, int], dict[str, Array]],
    permutations: int,
    rng: np.random.Generator,
) -> dict[str, list[FoldTest]]:
    """Compute the statistics of every tested fold.

    Parameters
    ----------
    order
        Ordered folds.
    rows
        Function of a fold that returns the columns of its texts of both samples.
    statistics
        Function of the sums of both samples (... x columns) and their numbers of texts that returns name -> values.
    permutations
        Number of permutations.
    """
    tests: dict[str, list[FoldTest]] = {}
    for fold in order.tested():
        reference, candidate = rows(fold)
        sums, permuted = permuted_sums(reference, candidate, order.permutation(fold), permutations, rng)
        values = statistics(*sums, len(reference), len(candidate))
        null = statistics(*permuted, len(reference), len(candidate))
        for name, value in values.items():
            tests.setdefault(name, []).append(FoldTest(float(value), null[name], order.weight(fold)))
    return tests


def combined_p_value(tests: Sequence[FoldTest], two_sided: bool = False) -> float:
    """Compute the p-value of all folds together, (c + 1) / (n + 1); NaN without a fold.

    Parameters
    ----------
    two_sided
        Whether small values count as well as large ones.
    """
    if not tests:
        return UNDEFINED
    sums = np.sum([test.weight * _normal_scores(test) for test in tests], axis=0)
    sizes = np.abs(sums) if two_sided else sums
    reached = np.count_nonzero(sizes[1:] >= sizes[0] - TIE * max(1.0, abs(sizes[0])))
    return float((reached + 1) / len(sizes))


def _normal_scores(test: FoldTest) -> Array:
    """Return normal quantiles of the ranks of the value, first, and of the permutations; ties share their mean rank."""
    values = np.concatenate([[test.value], test.permuted])
    unit = float(np.abs(values).max()) or 1.0
    ranks = midranks(np.round(values / unit, 10))
    return np.asarray(ndtri((ranks - 0.5) / len(values)))
