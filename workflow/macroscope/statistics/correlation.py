"""Correlation of statistics with scores of the same systems, such as human judgements (pimentel2022 §2, eq. 2-4).

The unit is the system, and there are few: eight in the paper. So p-values are exact (all orders of the systems) up to
`EXACT_SYSTEMS` of them, and intervals are analytic: those of 95 % that a bootstrap over eight systems gives hold the
Pearson coefficient of normal data in 88 to 91 % of the cases, over four systems in 73 to 94 %. Those here do so in
95 %, and hold the Spearman coefficient in 94 to 96 %, with fewer than eight systems in up to 100 %.

A system may have several values, one a seed: groups of seeds hold one value of each system. The coefficient is then the
mean over the groups, its permutations exchange the same systems in all groups at once, and its interval is that of one
group: seeds are no further systems.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit
from scipy.stats import rankdata

from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_sums import Array
from macroscope.statistics.latent import Resampling
from macroscope.statistics.p_values import TIE

Coefficient = Literal["spearman", "pearson"]
COEFFICIENTS: tuple[Coefficient, ...] = ("spearman", "pearson")
_NULL = "no connection between the statistic and the scores of the systems"
STATISTICS = (
    Statistic("spearman", "rank correlation over all such systems", _NULL),
    Statistic("pearson", "correlation over all such systems, for normal data", _NULL),
)
EXACT_SYSTEMS = 9
"""Up to so many systems all orders are enumerated: 9! = 362,880."""
FEWEST_SYSTEMS = 3
_AT_ONCE = 1 << 23
"""Numbers that are in memory at once: permuted scores, or the correlations with them."""


@dataclass(frozen=True)
class Correlations:
    """Correlations of several statistics with one vector of scores; every array has one entry a statistic.

    Attributes
    ----------
    value
        In [-1, 1]; the mean over the groups of seeds.
    low, high
        Interval; NaN with fewer than four systems.
    seed_sd
        Standard deviation over the groups of seeds; NaN where there is one.
    p_value
        Two-tailed, by permutation of the systems.
    reason
        Why a value is NaN; "" where it is not.
    """

    value: Array
    low: Array
    high: Array
    seed_sd: Array
    p_value: Array
    reason: list[str]


def correlate(values: ArrayLike, scores: ArrayLike, coefficient: Coefficient, resampling: Resampling) -> Correlations:
    """Correlate every statistic with the scores, system by system.

    The p-value is the share of all n! orders of the scores under which |correlation| is as large; beyond
    `EXACT_SYSTEMS` systems (c + 1) / (permutations + 1) over random orders, the same for all statistics. Equal values
    have their mid-rank. Interval: see `correlation_interval`.

    Parameters
    ----------
    values
        Statistics x groups of seeds x systems; without NaN. Infinite values have a rank, and no Pearson correlation.
    scores
        One a system, finite.

    Returns
    -------
    correlations
        Signed; eq. 4 takes the absolute value. NaN, with a reason, for fewer than three systems, and where all values
        of a group or all scores are equal.
    """
    values, scores = np.asarray(values, dtype=float), np.asarray(scores, dtype=float)
    if values.ndim != 3 or values.shape[2:] != scores.shape:
        raise ValueError(f"values must be statistics x groups x {scores.size} systems, not of shape {values.shape}")
    reason = [_undefined(some, scores, coefficient) for some in values]
    defined = np.array([not why for why in reason], dtype=bool)
    value, seed_sd, p_value = (np.full(len(values), np.nan) for _ in range(3))
    if defined.any():
        theirs, ours = _standardised(scores, coefficient), _standardised(values[defined], coefficient)
        of_groups = ours @ theirs
        # A perfect correlation is 1, not what rounding leaves of it.
        value[defined] = np.clip(of_groups.mean(axis=1).round(12), -1, 1)
        if values.shape[1] > 1:
            seed_sd[defined] = of_groups.std(axis=1, ddof=1)
        p_value[defined] = _p_values(ours.mean(axis=1), theirs, resampling)
    low, high = correlation_interval(value, len(scores), coefficient, resampling.confidence)
    return Correlations(value, low, high, seed_sd, p_value, reason)


def correlation_interval(
    value: ArrayLike, n: int, coefficient: Coefficient, confidence: float = 0.95
) -> tuple[Array, Array]:
    """Interval of a correlation over n systems: Fisher's z (Pearson) or its form for ranks (Bonett and Wright 2000).

    tanh(artanh r ± z s), s² = 1 / (n - 3), for ranks (1 + r² / 2) / (n - 3). For Pearson it supposes normal data: an
    outlier among few systems makes it too short. A perfect rank correlation has the interval of one half a step below
    it, up to the perfect one, since z is infinite there: 1 - 6 / (n³ - n).

    Returns
    -------
    low, high
        Arrays of the shape of `value`; NaN for n < 4.
    """
    value = np.asarray(value, dtype=float)
    if n <= 3:
        return np.full_like(value, np.nan), np.full_like(value, np.nan)
    ranks = coefficient == "spearman"
    most = 1 - 6 / (n**3 - n) if ranks else 1.0
    inside = np.clip(value, -most, most)
    half = ndtri(0.5 + confidence / 2) * np.sqrt((1 + inside**2 / 2 if ranks else 1.0) / (n - 3))
    with np.errstate(divide="ignore"):  # Pearson's perfect correlation: an infinite z, and the interval is a point
        centre = np.arctanh(inside)
    low, high = np.tanh(centre - half), np.tanh(centre + half)
    return np.where(value <= -most, -1.0, low), np.where(value >= most, 1.0, high)


def critical_spearman(n: int, level: float = 0.05) -> float:
    """Smallest |rank correlation| of n systems without ties whose two-tailed p-value is at most `level`.

    Exact up to `EXACT_SYSTEMS` systems (0.738 for eight), by Student's t beyond; NaN where not even a perfect
    correlation gets there, as with four systems.
    """
    if n < FEWEST_SYSTEMS:
        return float("nan")
    if n > EXACT_SYSTEMS:
        t = stdtrit(n - 2, 1 - level / 2)
        return float(t / math.sqrt(n - 2 + t**2))
    ranks = _standardised(np.arange(n, dtype=float), "spearman")
    sizes = np.sort(np.abs(ranks[_all_orders(n)] @ ranks))
    possible = np.unique(sizes.round(9))
    p_values = 1 - np.searchsorted(sizes, possible - TIE) / len(sizes)
    enough = possible[p_values <= level + TIE]
    return float(enough[0]) if len(enough) else float("nan")


def _undefined(values: Array, scores: Array, coefficient: Coefficient) -> str:
    """Why the correlation of a statistic (groups x systems) is undefined; "" where it is not."""
    if len(scores) < FEWEST_SYSTEMS:
        return f"fewer than {FEWEST_SYSTEMS} systems"
    if (scores == scores[0]).all():
        return "all systems have the same score"
    if (values == values[:, :1]).all(axis=1).any():
        return "all systems have the same value"
    if coefficient == "pearson" and not np.isfinite(values).all():
        return "infinite for a system"
    return ""


def _standardised(values: Array, coefficient: Coefficient) -> Array:
    """Values, or their mid-ranks, with mean 0 and length 1 along the last axis: correlations are their products."""
    values = rankdata(values, axis=-1) if coefficient == "spearman" else values
    # The scale of tiny or huge values must not be lost in their squares.
    centred = values - values.mean(axis=-1, keepdims=True)
    centred = centred / np.abs(centred).max(axis=-1, keepdims=True)
    return centred / np.linalg.norm(centred, axis=-1, keepdims=True)


def _p_values(ours: Array, theirs: Array, resampling: Resampling) -> Array:
    """Two-tailed p-value of each row's product with the scores; rows are standardised values, or means of such."""
    exact = len(theirs) <= EXACT_SYSTEMS
    observed = np.abs(ours @ theirs) - TIE
    reached, drawn = np.zeros(len(ours), dtype=np.int64), 0
    for orders in _orders(theirs, exact, resampling, max(1, _AT_ONCE // max(ours.shape))):
        reached += np.count_nonzero(np.abs(ours @ orders.T) >= observed[:, None], axis=1)
        drawn += len(orders)
    return reached / drawn if exact else (reached + 1) / (drawn + 1)


def _orders(scores: Array, exact: bool, resampling: Resampling, at_once: int) -> Iterator[Array]:
    """Scores in all orders, or in random ones: batches of orders x systems."""
    total = math.factorial(len(scores)) if exact else resampling.permutations
    rng = np.random.default_rng(resampling.seed)
    for start in range(0, total, at_once):
        if exact:
            yield scores[_all_orders(len(scores))[start : start + at_once]]
        else:
            yield rng.permuted(np.tile(scores, (min(at_once, total - start), 1)), axis=1)


@lru_cache(maxsize=1)
def _all_orders(n: int) -> NDArray[np.int8]:
    return np.array(list(itertools.permutations(range(n))), dtype=np.int8)
