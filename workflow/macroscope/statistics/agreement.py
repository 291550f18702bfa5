"""Agreement of annotators: Krippendorff's alpha (Krippendorff 2011, "Computing Krippendorff's alpha-reliability").

    alpha = 1 - D_o / D_e

D_o is the mean difference of two values of the same unit, D_e that of any two values. A unit of m values adds to the
coincidences o_ck each of its ordered pairs with the weight 1 / (m - 1); n_c are their row sums, n is their sum. Then
D_o = sum o_ck d²_ck / n and D_e = sum n_c n_k d²_ck / (n (n - 1)), without the pairs of a value with itself.
1 is perfect agreement, 0 agreement by chance; below 0, annotators disagree systematically. Units may have any number
of values; those with one value say nothing about agreement and do not count.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from macroscope.statistics.document_sums import Array

Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's alpha.

    Attributes
    ----------
    alpha
        At most 1; NaN if undefined.
    low, high
        Interval over units; NaN if undefined.
    units, values
        Numbers of units with at least two values, and of their values.
    reason
        Reason why alpha or its interval is undefined; "" if both are defined.
    """

    alpha: float
    low: float
    high: float
    units: int
    values: int
    reason: str


def krippendorff(
    units: Sequence[Hashable],
    values: Sequence[Hashable],
    level: Level,
    *,
    confidence: float = 0.95,
) -> Agreement:
    """Compute alpha of annotators' values, with an interval over units.

    Parameters
    ----------
    units, values
        Judged unit and value of each annotation, in any order. Values of ordinal and interval scales are numbers;
        values of nominal scales are of any type.
    level
        Level of measurement of the values.
    confidence
        Level of the interval, in (0, 1).

    Returns
    -------
    agreement
        The interval is about these annotators: resampling two or three people would not show how others agree. It is
        Student's, with the jackknife's standard error of log(1 - alpha). On simulated ratings, intervals of 95 % hold
        alpha in 94 to 95 % of the cases with 40 units or more, and with 20 in 89 to 93 %; percentiles of a bootstrap
        over units did so in 86 to 94 %. If all values are equal, disagreement is impossible and alpha is undefined.
    """
    kinds = sorted(set(values), key=(lambda v: (str(type(v)), str(v))) if level == "nominal" else None)  # type: ignore[arg-type, type-var]
    number = {value: position for position, value in enumerate(kinds)}
    by_unit: dict[Hashable, list[int]] = {}
    for unit, value in zip(units, values, strict=True):
        by_unit.setdefault(unit, []).append(number[value])
    pairable = [codes for codes in by_unit.values() if len(codes) > 1]
    count = sum(map(len, pairable))
    if not pairable:
        return Agreement(np.nan, np.nan, np.nan, 0, 0, "nothing was judged twice")
    rows = np.stack([_coincidences(np.array(codes), len(kinds)).ravel() for codes in pairable])
    scale = np.arange(len(kinds), dtype=float) if level == "nominal" else np.array(kinds, dtype=float)
    alpha = float(_alpha(rows.sum(axis=0)[None], scale, level)[0])
    if np.isnan(alpha):
        return Agreement(np.nan, np.nan, np.nan, len(pairable), count, "all values are equal")
    low, high, reason = _interval(rows, alpha, scale, level, confidence)
    return Agreement(alpha, low, high, len(pairable), count, reason)


def _interval(rows: Array, alpha: float, scale: Array, level: Level, confidence: float) -> tuple[float, float, str]:
    """Compute the jackknife interval over units of log(1 - alpha) = log(D_o / D_e), where alpha is about symmetric."""
    units = len(rows)
    if units < 2:
        return np.nan, np.nan, "only one unit was judged twice"
    left_out = _alpha(rows.sum(axis=0)[None] - rows, scale, level)
    if not (left_out < 1).all():
        return np.nan, np.nan, "fewer than two units show disagreement, too few for an interval of alpha"
    spread = float(np.log1p(-left_out).std()) * (units - 1) ** 0.5
    half = float(stdtrit(units - 1, 0.5 + confidence / 2)) * spread
    low, high = (1 - (1 - alpha) * np.exp(sign * half) for sign in (1, -1))
    return float(low), float(high), ""


def _coincidences(codes: np.ndarray, kinds: int) -> Array:
    """Return the addition of one unit to the coincidence matrix, kinds x kinds."""
    counts = np.bincount(codes, minlength=kinds).astype(float)
    return (np.outer(counts, counts) - np.diag(counts)) / (len(codes) - 1)


def _alpha(coincidences: Array, scale: Array, level: Level) -> Array:
    """Compute alpha of each row, a flattened coincidence matrix; NaN if all values are equal."""
    kinds = len(scale)
    o = coincidences.reshape(-1, kinds, kinds)
    n_c = o.sum(axis=2)
    n = n_c.sum(axis=1)
    difference = _differences(n_c, scale, level)
    observed = (o * difference).sum(axis=(1, 2)) / n
    expected = np.einsum("bc,bk,bck->b", n_c, n_c, difference) / (n * (n - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - observed / expected, np.nan)


def _differences(n_c: Array, scale: Array, level: Level) -> Array:
    """Compute squared differences d²_ck, of each row of marginals: (rows or 1) x kinds x kinds."""
    if level == "nominal":
        return (1 - np.eye(len(scale)))[None]
    if level == "interval":
        return ((scale[:, None] - scale[None]) ** 2)[None]
    # Ordinal: (sum of n_g for g from c to k, minus half of both ends)², which is the squared distance of the mid-ranks.
    middle = np.cumsum(n_c, axis=1) - n_c / 2
    return np.asarray((middle[:, :, None] - middle[:, None, :]) ** 2, dtype=float)
