"""Tests of what earlier folds have learned on the texts of later ones: a p-value from one statistic a fold.

Estimates from some texts of both sides score other texts, and the sides are compared. Given the estimates, exchanging
the scored texts between the sides is an exact test. It is none any more where the folds take turns: the texts that are
scored here have taken part in the estimates that score the others there, each pair of folds enters twice, and the
statistic varies about twice as much as exchanges under fixed estimates do. So the folds have an order here, and each is
scored by estimates from the folds before it alone.

The value of a fold then ranks among those of its own exchanges as any of them would, whatever the earlier folds held.
So the ranks of the folds are independent, and so are functions of them: their normal scores are added up, and the sum
is compared with those of the exchanges, the b-th exchange of one fold with the b-th of every other. The p-value is
exact for any number of texts, for any estimates, and for weights that do not depend on the scored texts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from macroscope.statistics.document_sums import Array
from macroscope.statistics.p_values import TIE
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.tidy import UNDEFINED


def midranks(values: ArrayLike) -> NDArray[np.float64]:
    """Ranks from 1 on; equal values share the mean of theirs.

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
    """Folds of the texts of both sides, in the order of their numbers.

    Attributes
    ----------
    folds
        Fold of each text of either side.
    estimated_from
        Texts a side that the estimates behind the scores of each fold are from; 0 where there are none, and the fold
        is not tested.
    partners
        Group of each text of either side that has partners on the other, numbered from 1; 0 for those without. None:
        nobody has any. All of a group are in one fold.
    """

    folds: tuple[Folds, Folds]
    estimated_from: NDArray[np.int64]
    partners: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def tested(self) -> list[int]:
        """Folds that have estimates and texts of both sides."""
        present = [set(side.tolist()) for side in self.folds]
        return [fold for fold in np.flatnonzero(self.estimated_from).tolist() if all(fold in some for some in present)]

    def inside(self, fold: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which texts of either side are in a fold."""
        return self.folds[0] == fold, self.folds[1] == fold

    def permutation(self, fold: int) -> Permutation:
        """Exchange of the texts of a fold."""
        inside = self.inside(fold)
        sizes = int(inside[0].sum()), int(inside[1].sum())
        if self.partners is None:
            return Permutation(sizes)
        return Permutation(
            sizes, np.concatenate([side[some] for side, some in zip(self.partners, inside, strict=True)])
        )

    def weight(self, fold: int) -> float:
        """Root of (texts estimated from x texts scored): small differences add up so with the least noise."""
        n, m = (int(side.sum()) for side in self.inside(fold))
        return float(np.sqrt(self.estimated_from[fold] * n * m / (n + m)))


@dataclass(frozen=True)
class FoldTest:
    """A statistic of one fold, of its texts as they are and after each exchange; larger is more different."""

    value: float
    permuted: Array
    weight: float


def permuted_sums(
    first: Array, second: Array, permutation: Permutation, permutations: int, rng: np.random.Generator
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Column sums of both sides of a fold, as they are and after exchanging texts between the sides.

    Parameters
    ----------
    first, second
        Texts x columns.

    Returns
    -------
    (sums, sums), (permutations x columns, permutations x columns)
    """
    one, other = permutation.sums(first, second, permutations, rng)
    if permutation.is_exact(permutations):  # few divisions: each as often as chance takes it
        drawn = rng.integers(0, len(one), permutations)
        one, other = one[drawn], other[drawn]
    return (first.sum(axis=0), second.sum(axis=0)), (one, other)


def fold_tests(
    order: Order,
    rows: Callable[[int], tuple[Array, Array]],
    statistics: Callable[[Array, Array, int, int], dict[str, Array]],
    permutations: int,
    rng: np.random.Generator,
) -> dict[str, list[FoldTest]]:
    """Statistics of every tested fold.

    Parameters
    ----------
    rows
        Fold -> columns of its texts of either side.
    statistics
        Sums of both sides (... x columns) and their numbers of texts -> name -> values.
    """
    found: dict[str, list[FoldTest]] = {}
    for fold in order.tested():
        first, second = rows(fold)
        own, moved = permuted_sums(first, second, order.permutation(fold), permutations, rng)
        values = statistics(*own, len(first), len(second))
        null = statistics(*moved, len(first), len(second))
        for name, value in values.items():
            found.setdefault(name, []).append(FoldTest(float(value), null[name], order.weight(fold)))
    return found


def combined_p_value(tests: Sequence[FoldTest], two_sided: bool = False) -> float:
    """P-value of all folds together, (c + 1) / (n + 1); nan without a fold.

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


def jackknife_interval(value: float, without: Sequence[float], confidence: float) -> tuple[float, float]:
    """Interval by Student's t, from what the value is without each of some parts of all data in turn.

    A part that is missing is missing wherever it takes part, in what is scored as in what scores, so that the interval
    holds both. With K parts the standard error has K - 1 degrees of freedom.

    Parameters
    ----------
    without
        Value without each part; fewer than two give no interval (nan).
    """
    parts = len(without)
    if parts < 2:
        return UNDEFINED, UNDEFINED
    error = np.sqrt((parts - 1) / parts * np.sum((np.asarray(without) - np.mean(without)) ** 2))
    reach = float(stdtrit(parts - 1, (1 + confidence) / 2) * error)
    return value - reach, value + reach


def _normal_scores(test: FoldTest) -> Array:
    """Normal quantiles of the ranks of the value, first, and of the exchanges; equal ones share their mean rank."""
    values = np.concatenate([[test.value], test.permuted])
    unit = float(np.abs(values).max()) or 1.0
    ranks = midranks(np.round(values / unit, 10))
    return np.asarray(ndtri((ranks - 0.5) / len(values)))
