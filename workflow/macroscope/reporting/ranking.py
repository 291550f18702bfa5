"""Ranking of systems from least to most like real text, from pairwise comparisons over shared critics.

The mean over the critics that evaluated each system would compare unlike things: a system evaluated by two strict
critics alone would rank above one evaluated by these and three mild ones. Therefore any two systems are compared by the
mean of their differences over the critics that evaluated both. Such comparisons can form cycles. Cycles are broken by
ranked pairs (Tideman 1987): comparisons are accepted by size, largest first, and those that contradict accepted ones
are dropped. If all critics evaluated all systems, the ranking is that of the means.

Least-squares effects of systems and critics would let a third system decide: a system that a single critic finds mild
shifts that critic's effect, and with it moves one system past others that are worse for every critic that evaluated
both.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from macroscope.statistics.document_features import Array

DETECTABILITY, RATIO = "c2st_auc", "latent_ppl_ratio"
TIED = 0.005
"""Difference in c2st_auc below which systems count as tied (invisible in whole per cent) and structure decides."""
BY_DETECTABILITY, BY_STRUCTURE, BY_REMAINDER, BY_OWN_CRITICS = range(4)
"""Basis of a comparison, the strongest first: detectability, latent PPL, what is left of the detectability within a
tie, and means over different critics."""
_NO_DIFFERENCE = 1e-9


class RankedComparison(NamedTuple):
    """A comparison of two systems, given by their indices: which one is worse, on which basis, and by how much.

    Comparisons are ordered by basis, then by `size`, the largest first.
    """

    basis: int
    size: float
    worse: int
    better: int


def rank_systems(cells: pd.DataFrame) -> list[str]:
    """Return the systems, the least like real text first.

    Systems with equal detectability (within `TIED`) are often both at the ceiling. Then the one farther from real text
    in structure is worse: by the absolute logarithm of its latent PPL ratio, as a share of each critic's largest. Two
    systems without a shared critic are compared last, by the means over their own critics.

    Parameters
    ----------
    cells
        Columns system, critic, c2st_auc and latent_ppl_ratio, for cells with a verdict in one group of systems.
    """
    systems = list(cells["system"].unique())
    detectability = _pivot(cells, cells[DETECTABILITY])
    with np.errstate(divide="ignore"):
        distance = _pivot(cells, np.log(cells[RATIO].astype(float)).abs().replace(np.inf, np.nan))
    distance /= distance.max().where(lambda largest: largest > 0, 1.0)
    worse = np.zeros((len(systems), len(systems)), dtype=bool)
    np.fill_diagonal(worse, val=True)
    for comparison in sorted(
        _compare_all(detectability.to_numpy(), distance.to_numpy()), key=lambda item: (item.basis, -item.size)
    ):
        if not worse[comparison.better, comparison.worse]:
            worse |= np.outer(worse[:, comparison.worse], worse[comparison.better])
    return [systems[index] for index in np.argsort(-worse.sum(axis=1), kind="stable")]


def _compare_all(detectability: Array, distance: Array) -> Iterator[RankedComparison]:
    """Compare every two systems; indistinguishable ones keep the given order."""
    for a, b in combinations(range(len(detectability)), 2):
        by_detectability, by_structure = (_mean(values[a] - values[b]) for values in (detectability, distance))
        if np.isnan(by_detectability):
            basis, difference = BY_OWN_CRITICS, _mean(detectability[a]) - _mean(detectability[b])
        elif abs(by_detectability) >= TIED:
            basis, difference = BY_DETECTABILITY, by_detectability
        elif abs(by_structure) > _NO_DIFFERENCE:
            basis, difference = BY_STRUCTURE, by_structure
        else:
            basis, difference = BY_REMAINDER, by_detectability
        first = difference > -_NO_DIFFERENCE
        yield RankedComparison(basis, abs(difference), *((a, b) if first else (b, a)))


def _mean(values: Array) -> float:
    """Return the mean of the values that are not NaN; NaN if there are none."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


def _pivot(cells: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    """Return the values as systems x critics, in the order of the cells."""
    wide = cells.assign(value=values.astype(float)).pivot(index="system", columns="critic", values="value")
    return wide.reindex(index=cells["system"].unique(), columns=cells["critic"].unique())
