"""Which system is the least like real text: an order by critics that judged both of any two systems.

A mean over whichever critics were asked of a system compares unlike things: a system that was asked of two strict
critics alone would stand above one that was asked of these and of three mild ones, too. So any two systems are compared
by the mean of their differences over the critics that judged both. Such comparisons can go round in a circle; then the
clearest ones are kept (ranked pairs, Tideman 1987): they are taken by size, the largest first, and what contradicts
those before it is left out. Where all critics were asked of all systems, this is the order of the means. Effects of
systems and critics by least squares would let a third system decide: one that a single critic finds mild moves that
critic's effect, and with it a system past others that are worse than it to every critic that judged both.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from macroscope.statistics.document_sums import Array

APART, RATIO = "c2st_auc", "latent_ppl_ratio"
ALIKE = 0.005
"""Difference in c2st_auc that no reader sees in whole per cent; such systems are compared by their structure."""
BY_TEXTS, BY_STRUCTURE, BY_LITTLE, BY_OTHERS = range(4)
"""What a comparison rests on, the better reason first."""
_NO_DIFFERENCE = 1e-9


class Compared(NamedTuple):
    """One system that is worse than another, by their places, and why; the first reason weighs most.

    `size` orders comparisons of one reason, the largest first.
    """

    reason: int
    size: float
    worse: int
    better: int


def worst_first(cells: pd.DataFrame) -> list[str]:
    """Systems, the least like real text first.

    Two systems that are told from real text equally often, as a reader sees it, are often both told from it without
    fail. Then the one farther in structure is worse: in the logarithm of its ratio of latent PPL, as a share of the
    largest to each critic. Two that no critic judged both are compared by the means over their own critics, at last.

    Parameters
    ----------
    cells
        system, critic, c2st_auc and latent_ppl_ratio of those cells that have a verdict, one group of systems.
    """
    systems = list(cells["system"].unique())
    apart = _wide(cells, cells[APART])
    with np.errstate(divide="ignore"):
        distance = _wide(cells, np.log(cells[RATIO].astype(float)).abs().replace(np.inf, np.nan))
    distance /= distance.max().where(lambda largest: largest > 0, 1.0)
    worse = np.zeros((len(systems), len(systems)), dtype=bool)
    np.fill_diagonal(worse, val=True)
    for found in sorted(
        _comparisons(apart.to_numpy(), distance.to_numpy()), key=lambda some: (some.reason, -some.size)
    ):
        if not worse[found.better, found.worse]:
            worse |= np.outer(worse[:, found.worse], worse[found.better])
    return [systems[place] for place in np.argsort(-worse.sum(axis=1), kind="stable")]


def _comparisons(apart: Array, distance: Array) -> Iterator[Compared]:
    """Every two systems; those that nothing tells apart in the order that they are given in."""
    for one, other in combinations(range(len(apart)), 2):
        by_texts, by_structure = (_mean(values[one] - values[other]) for values in (apart, distance))
        if np.isnan(by_texts):
            reason, difference = BY_OTHERS, _mean(apart[one]) - _mean(apart[other])
        elif abs(by_texts) >= ALIKE:
            reason, difference = BY_TEXTS, by_texts
        elif abs(by_structure) > _NO_DIFFERENCE:
            reason, difference = BY_STRUCTURE, by_structure
        else:
            reason, difference = BY_LITTLE, by_texts
        first = difference > -_NO_DIFFERENCE
        yield Compared(reason, abs(difference), *((one, other) if first else (other, one)))


def _mean(values: Array) -> float:
    """Mean of what is known; NaN where nothing is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _wide(cells: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    """Systems x critics, in the order of the cells."""
    wide = cells.assign(value=values.astype(float)).pivot(index="system", columns="critic", values="value")
    return wide.reindex(index=cells["system"].unique(), columns=cells["critic"].unique())
