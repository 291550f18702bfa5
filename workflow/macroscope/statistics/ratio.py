"""Means, and ratios of sums over documents such as the latent PPL: their intervals, and tests of a difference.

R = sum y / sum x over documents, a mean where every x is 1. Its standard error is that of the mean residual y - R x,
so R and its error are functions of sums over documents, which resampling only re-adds.

Intervals are studentised (bootstrap-t; Hall 1988): on skewed documents the percentile interval is too short, the more
the fewer there are. Tests exchange documents and compare studentised differences (Janssen 1997; Chung and Romano 2013):
exact where the two samples have one distribution, and of the right level where only R is the same and the spread or the
size differs; the bare difference would be a test of equal distributions.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from macroscope.statistics.bootstrap import Array, bootstrap_sums
from macroscope.statistics.exchange import Exchange
from macroscope.statistics.permutation import p_value_of

Interval = tuple[float, float, float]
"""(value, low, high)"""
Sample = tuple[ArrayLike, ArrayLike]
"""(y, x): one number a document each, x >= 0."""
_UNDEFINED = (float("nan"),) * 3
STUDENTISED_TIE = 0.005
"""Where all that differs is in one document, its studentised difference is about 1 on whichever side it is: what is
left between exchanges is noise of the standard error, and counts as a tie."""
_ROUNDING = 1e-12


def ratio_interval(sample: Sample, confidence: float, resamples: int, rng: np.random.Generator) -> Interval:
    """R = sum y / sum x with its bootstrap-t interval over documents.

    Returns
    -------
    value, low, high
        NaN without a document or where all x are 0. With fewer than two documents, or where no residual differs from 0,
        there is nothing to tell the error from: the ends are NaN.
    """
    rows = _rows(sample)
    return _interval([rows], [len(rows)], (1.0,), confidence, resamples, rng)


def difference_interval(
    reference: Sample,
    candidate: Sample,
    exchange: Exchange,
    confidence: float,
    resamples: int,
    rng: np.random.Generator,
) -> Interval:
    """R of the candidate minus that of the reference, with its bootstrap-t interval; see `ratio_interval`.

    Parameters
    ----------
    exchange
        Tells who has partners: a group of partners is resampled as one.
    """
    rows = [_rows(side) for side in (reference, candidate)]
    empty = [np.zeros_like(side) for side in rows]
    units = np.concatenate([np.hstack([rows[0], empty[0]]), np.hstack([empty[1], rows[1]])])
    of_reference = np.arange(len(units)) < len(rows[0])
    groups = np.zeros(len(units), dtype=int) if exchange.groups is None else exchange.groups
    alone = groups == 0
    codes, which = np.unique(groups[~alone], return_inverse=True)
    together = np.zeros((len(codes), units.shape[1]))
    np.add.at(together, which, units[~alone])
    strata = [units[alone & of_reference], units[alone & ~of_reference], together]
    filled = [some for some in strata if len(some)]
    sizes = [len(some) + len(together) for some in strata[:2]]
    return _interval(filled, sizes, (-1.0, 1.0), confidence, resamples, rng)


def ratio_test(reference: Sample, candidate: Sample, exchange: Exchange, draws: int, rng: np.random.Generator) -> float:
    """Two-tailed p-value of equal R in two samples, by exchanging documents; studentised.

    The standard error is that under the null: of residuals from R of both samples together, which no exchange changes.

    Returns
    -------
    p in (0, 1]; NaN where R of a side is undefined. 1 where nothing differs.
    """
    sides = [_rows(reference), _rows(candidate)]
    if not all(side[:, 1].sum() for side in sides):
        return float("nan")
    both = np.concatenate(sides)
    residuals = _residuals(both)
    rows = np.column_stack([residuals, residuals**2, both[:, 1]])
    n = exchange.sizes[0]
    observed = _studentised(rows[:n].sum(axis=0), rows[n:].sum(axis=0))
    null = _studentised(*exchange.sums(rows[:n], rows[n:], draws, rng))
    return p_value_of(float(observed), null, exchange.is_exact(draws), STUDENTISED_TIE)


def minimum_detectable(
    reference: Sample, candidate: Sample, exchange: Exchange | None = None, level: float = 0.05, power: float = 0.8
) -> float:
    """Return the difference in R that a two-tailed test at `level` finds with probability `power`.

    By Student's t with the smaller sample's degrees of freedom. NaN where a side has fewer than two documents.

    Parameters
    ----------
    exchange
        Tells who has partners, whose errors cancel where they are alike. Default: nobody has any.
    """
    sides = [_rows(side) for side in (reference, candidate)]
    if not all(len(side) and side[:, 1].sum() for side in sides):
        return float("nan")
    influence = np.concatenate(
        [sign * _residuals(side) / side[:, 1].sum() for sign, side in zip((-1, 1), sides, strict=True)]
    )
    groups = np.zeros(len(influence), dtype=int) if exchange is None or exchange.groups is None else exchange.groups
    alone, of_reference = groups == 0, np.arange(len(influence)) < len(sides[0])
    together = np.bincount(np.unique(groups[~alone], return_inverse=True)[1], influence[~alone])
    strata = [influence[alone & of_reference], influence[alone & ~of_reference], together]
    fewest = min(len(some) + len(together) for some in strata[:2])
    if fewest < 2:
        return float("nan")
    variance = sum((some**2).sum() * len(some) / max(len(some) - 1, 1) for some in strata)
    quantiles = stdtrit(fewest - 1, [1 - level / 2, power]).sum()
    return float(quantiles * np.sqrt(variance))


def _rows(sample: Sample) -> Array:
    """Documents x (y, x)."""
    return np.column_stack([np.asarray(some, dtype=float) for some in sample])


def _residuals(rows: Array) -> Array:
    """Return y - R x of documents; what is rounding counts as 0, so that equal values have no spread."""
    ratio = rows[:, 0].sum() / rows[:, 1].sum()
    residuals = rows[:, 0] - ratio * rows[:, 1]
    residuals[np.abs(residuals) <= _ROUNDING * np.abs(rows[:, 0]).max(initial=0)] = 0.0
    return residuals


def _interval(
    strata: Sequence[Array],
    sizes: Sequence[int],
    signs: Sequence[float],
    confidence: float,
    resamples: int,
    rng: np.random.Generator,
) -> Interval:
    """Bootstrap-t interval of a sum of signed ratios.

    Parameters
    ----------
    strata
        What is resampled apart: each units x (y, x of the first ratio, y, x of the second ...).
    sizes
        Units behind each ratio: documents, or groups of partners.
    """
    whole = np.concatenate(strata) if strata else np.empty((0, 2 * len(signs)))
    totals = whole.sum(axis=0)
    if not len(whole) or not totals[1::2].all():
        return _UNDEFINED
    ratios = totals[::2] / totals[1::2]
    value = float(np.dot(signs, ratios))
    # Around the observed ratios: squares of what is left do not cancel.
    centred = [some.copy() for some in strata]
    for some in centred:
        some[:, ::2] -= ratios * some[:, 1::2]
    scale = np.abs(whole[:, ::2]).max()
    moments = [_moments(some, scale) for some in centred]
    error = float(_estimate(np.sum([some.sum(axis=0) for some in moments], axis=0), signs)[1])
    if min(sizes) < 2 or not error > 0:
        return value, float("nan"), float("nan")
    drawn = np.sum([bootstrap_sums(some, resamples, rng) for some in moments], axis=0)
    shift, errors = _estimate(drawn, signs)
    with np.errstate(invalid="ignore", divide="ignore"):
        pivots = shift / errors
    return value, *_ends(value, error, pivots[np.isfinite(pivots)], confidence, min(sizes) - 1)


def _moments(units: Array, scale: float) -> Array:
    """Columns of units, then all their products; of so many units as to make the variance unbiased."""
    units = np.where(np.abs(units) <= _ROUNDING * scale, 0.0, units)
    products = (units[:, :, None] * units[:, None, :]).reshape(len(units), -1)
    return np.hstack([units, products * (len(units) / max(len(units) - 1, 1))])


def _estimate(sums: Array, signs: Sequence[float]) -> tuple[Array, Array]:
    """Signed sum of ratios, and its standard error, from sums of moments; NaN where an x adds up to 0."""
    width = 2 * len(signs)
    first, products = sums[..., :width], sums[..., width:].reshape(*sums.shape[:-1], width, width)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = first[..., ::2] / first[..., 1::2]
        influence = np.empty(first.shape)
        influence[..., ::2] = np.asarray(signs) / first[..., 1::2]
        influence[..., 1::2] = -influence[..., ::2] * ratios
        variance = np.einsum("...i,...ij,...j->...", influence, products, influence)
    return ratios @ np.asarray(signs), np.sqrt(np.maximum(variance, 0.0))


def _studentised(first: Array, second: Array) -> Array:
    """|Difference| in units of its standard error, from sums of residual, squared residual and x; finite."""
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = first[..., 0] / first[..., 2] - second[..., 0] / second[..., 2]
        error = np.sqrt(first[..., 1] / first[..., 2] ** 2 + second[..., 1] / second[..., 2] ** 2)
        found = np.abs(difference) / error
    return np.nan_to_num(found, nan=0.0, posinf=np.finfo(float).max)


def _ends(value: float, error: float, pivots: Array, confidence: float, freedom: int) -> tuple[float, float]:
    """Ends from the quantiles of the resampled pivots, each at least as far out as Student's t.

    The errors of resamples of few or heavy-tailed documents are too much alike.
    """
    tail = (1 - confidence) / 2
    student = float(stdtrit(freedom, 1 - tail))
    low, high = np.quantile(pivots, [tail, 1 - tail]) if len(pivots) else (0.0, 0.0)
    return value - max(float(high), student) * error, value + max(-float(low), student) * error
