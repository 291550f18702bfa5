"""Bootstrap over documents of functions of sums; bootstrap-t intervals (Hall 1988) of their ratios and differences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from macroscope.statistics.document_features import BUNDLES, MANY, Array, as_matrix, sum_into_bundles

_DRAWS_AT_ONCE = 100_000


def bootstrap_sums(rows: ArrayLike, resamples: int, rng: np.random.Generator) -> Array:
    """Compute column sums of `resamples` samples of n documents with replacement; of very many, bundles are sampled.

    Returns
    -------
    array
        resamples x columns.
    """
    rows = sum_into_bundles(as_matrix(rows))
    n = len(rows)
    sums = np.empty((resamples, rows.shape[1]))
    at_once = max(1, _DRAWS_AT_ONCE // n)  # a call of `integers` takes as long as a hundred numbers
    for start in range(0, resamples, at_once):
        drawn = rng.integers(0, n, (min(at_once, resamples - start), n))
        for r, chosen in enumerate(drawn, start):
            sums[r] = np.bincount(chosen, minlength=n) @ rows
    return sums


def percentile_interval(values: ArrayLike, confidence: float) -> tuple[float, float]:
    """Compute the percentile interval (Efron and Tibshirani 1993, ch. 13); (nan, nan) if a value is undefined."""
    values = np.asarray(values, dtype=float)
    if not np.isfinite(values).all():
        return (float("nan"), float("nan"))
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return (float(low), float(high))


Interval = tuple[float, float, float]
"""(value, low, high)"""
ROUNDING = 1e-12
"""Fraction of the largest number of a column below which numbers count as 0."""
_CELLS_AT_ONCE = 1 << 25
"""Numbers of the units of several ratios that are resampled together: 256 MB."""


@dataclass(frozen=True)
class Ratios:
    """Sum of signed ratios of sums over units: documents, or groups of paired documents.

    Attributes
    ----------
    strata
        Units that are resampled separately: each units x (y, x of the first ratio, y, x of the second ...).
    sizes
        Number of units behind each ratio.
    signs
        Sign of each ratio.
    """

    strata: tuple[Array, ...]
    sizes: tuple[int, ...]
    signs: tuple[float, ...]


@dataclass(frozen=True)
class _Stratum:
    """Units, by the fewest columns from which sums of all columns and of all their products follow.

    Attributes
    ----------
    columns
        units x (columns that are not constant, products of two of these).
    varying
        Indices of the columns that are not constant.
    first
        First unit, which has the values of all constant columns.
    """

    columns: Array
    varying: NDArray[np.int64]
    first: Array

    @classmethod
    def from_units(cls, units: Array, scale: float) -> "_Stratum":
        units = np.where(np.abs(units) <= ROUNDING * scale, 0.0, units)
        varying = np.flatnonzero(units.min(axis=0) != units.max(axis=0))
        products = [units[:, i] * units[:, j] for i, j in combinations_with_replacement(varying, 2)]
        return cls(np.column_stack([units[:, varying], *products]), varying, units[0])

    def moments(self, sums: Array) -> Array:
        """Compute sums of all columns, then of all products; the latter are scaled to make the variance unbiased.

        Parameters
        ----------
        sums
            ... x columns: sums over as many units as there are.
        """
        size, width, n_varying = len(self.columns), len(self.first), len(self.varying)
        constant = np.setdiff1d(np.arange(width), self.varying)
        totals = np.broadcast_to(size * self.first, (*sums.shape[:-1], width)).copy()
        totals[..., self.varying] = sums[..., :n_varying]
        products = np.empty((*totals.shape, width))
        products[..., constant, :] = self.first[constant, None] * totals[..., None, :]
        products[..., :, constant] = totals[..., :, None] * self.first[constant]
        for number, (i, j) in enumerate(combinations_with_replacement(self.varying, 2), start=n_varying):
            products[..., i, j] = products[..., j, i] = sums[..., number]
        products *= size / max(size - 1, 1)
        return np.concatenate([totals, products.reshape(*totals.shape[:-1], -1)], axis=-1)


@dataclass(frozen=True)
class _Centred:
    """Ratios with their value and its standard error, and strata of residuals of each y from its ratio.

    There are no strata if the value is undefined. Squares of residuals do not cancel.
    """

    ratios: Ratios
    value: float
    error: float
    strata: tuple[_Stratum, ...]

    @classmethod
    def from_ratios(cls, ratios: Ratios) -> "_Centred":
        units = sum(map(len, ratios.strata))
        totals = np.sum([stratum.sum(axis=0) for stratum in ratios.strata], axis=0) if units else np.zeros(2)
        if not totals[1::2].all():
            return cls(ratios, np.nan, np.nan, ())
        each = totals[::2] / totals[1::2]
        scale = max(np.abs(stratum[:, ::2]).max() for stratum in ratios.strata)
        strata = []
        for stratum in ratios.strata:
            residuals = stratum.copy()
            residuals[:, ::2] -= each * residuals[:, 1::2]
            strata.append(_Stratum.from_units(residuals, scale))
        moments = np.sum([stratum.moments(stratum.columns.sum(axis=0)) for stratum in strata], axis=0)
        error = float(_estimate(moments, ratios.signs)[1])
        return cls(ratios, float(np.dot(ratios.signs, each)), error, tuple(strata))

    @property
    def is_resampled(self) -> bool:
        return bool(self.strata) and min(self.ratios.sizes) >= 2 and self.error > 0

    @property
    def cells(self) -> int:
        return sum(stratum.columns.size for stratum in self.strata)


def bootstrap_t_intervals(
    problems: Iterable[Ratios], confidence: float, resamples: int, rng: np.random.Generator
) -> list[Interval]:
    """Compute the value of each sum of signed ratios with its bootstrap-t interval.

    Parameters
    ----------
    problems
        Sums of ratios with strata of the same units, which are resampled together, as many problems at a time as memory
        allows.
    confidence
        Level of the intervals, in (0, 1).
    resamples
        Number of resamples.

    Returns
    -------
    list of (value, low, high)
        NaN without a unit or if an x adds up to 0. The ends are NaN with fewer than two units behind a ratio, or if no
        residual differs from 0, since the error is then unknown.
    """
    intervals: list[Interval] = []
    batch: list[_Centred] = []
    for problem in map(_Centred.from_ratios, map(_bundled, problems)):
        batch.append(problem)
        if sum(centred.cells for centred in batch) >= _CELLS_AT_ONCE:
            intervals += _resampled(batch, confidence, resamples, rng)
            batch = []
    return intervals + _resampled(batch, confidence, resamples, rng)


def _bundled(ratios: Ratios) -> Ratios:
    """Return the same ratios over bundles of units, if there are very many units."""
    if max(map(len, ratios.strata), default=0) <= MANY:
        return ratios
    sizes = tuple(min(size, BUNDLES) for size in ratios.sizes)
    return Ratios(tuple(map(sum_into_bundles, ratios.strata)), sizes, ratios.signs)


def _resampled(
    problems: Sequence[_Centred], confidence: float, resamples: int, rng: np.random.Generator
) -> list[Interval]:
    """Compute intervals of several ratios from the same resamples."""
    resampled = [problem for problem in problems if problem.is_resampled]
    moments: list[Any] = [0.0] * len(resampled)
    for strata in zip(*(problem.strata for problem in resampled), strict=True):
        columns = np.concatenate([stratum.columns for stratum in strata], axis=1)
        sums = bootstrap_sums(columns, resamples, rng)
        ends = np.cumsum([stratum.columns.shape[1] for stratum in strata])[:-1]
        parts = np.split(sums, ends, axis=1)
        moments = [total + stratum.moments(part) for total, stratum, part in zip(moments, strata, parts, strict=True)]
    sums_of = iter(moments)
    return [
        _interval(problem, next(sums_of), confidence)
        if problem.is_resampled
        else (problem.value, float("nan"), float("nan"))
        for problem in problems
    ]


def _interval(problem: _Centred, moments: Array, confidence: float) -> Interval:
    shift, errors = _estimate(moments, problem.ratios.signs)
    with np.errstate(invalid="ignore", divide="ignore"):
        pivots = shift / errors
    freedom = min(problem.ratios.sizes) - 1
    ends = _ends(problem.value, problem.error, pivots[np.isfinite(pivots)], confidence, freedom)
    return problem.value, *ends


def _estimate(sums: Array, signs: Sequence[float]) -> tuple[Array, Array]:
    """Compute the signed sum of ratios and its standard error from sums of moments; NaN if an x adds up to 0."""
    width = 2 * len(signs)
    first, products = sums[..., :width], sums[..., width:].reshape(*sums.shape[:-1], width, width)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = first[..., ::2] / first[..., 1::2]
        influence = np.empty(first.shape)
        influence[..., ::2] = np.asarray(signs) / first[..., 1::2]
        influence[..., 1::2] = -influence[..., ::2] * ratios
        variance = np.einsum("...i,...ij,...j->...", influence, products, influence)
    return ratios @ np.asarray(signs), np.sqrt(np.maximum(variance, 0.0))


def _ends(value: float, error: float, pivots: Array, confidence: float, freedom: int) -> tuple[float, float]:
    """Compute the ends from quantiles of the resampled pivots, each at least as far from the value as Student's t.

    The errors of resamples of few or heavy-tailed documents vary too little.
    """
    tail = (1 - confidence) / 2
    student = float(stdtrit(freedom, 1 - tail))
    low, high = np.quantile(pivots, [tail, 1 - tail]) if len(pivots) else (0.0, 0.0)
    return value - max(float(high), student) * error, value + max(-float(low), student) * error
