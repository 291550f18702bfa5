"""Bootstrap-t intervals (Hall 1988) of ratios of sums over documents, and of differences between them.

A resample is studentised with its own standard error: on skewed documents the percentile interval is too short, the
more the fewer there are. Ratio and error are functions of sums of the documents' columns and of products of two of
them, so that a resample only re-adds rows, for many ratios of the same documents at once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from macroscope.statistics.bootstrap import bootstrap_sums
from macroscope.statistics.document_sums import BUNDLES, MANY, Array, in_bundles

Interval = tuple[float, float, float]
"""(value, low, high)"""
ROUNDING = 1e-12
"""Of the largest number of a column: what is smaller counts as 0."""
_CELLS_AT_ONCE = 1 << 25
"""Numbers of the units of several ratios that are resampled together: 256 MB."""


@dataclass(frozen=True)
class Ratios:
    """A sum of signed ratios, of sums over units: documents, or groups of partners.

    Attributes
    ----------
    strata
        What is resampled apart: each units x (y, x of the first ratio, y, x of the second ...).
    sizes
        Units behind each ratio.
    signs
        Of each ratio.
    """

    strata: tuple[Array, ...]
    sizes: tuple[int, ...]
    signs: tuple[float, ...]


@dataclass(frozen=True)
class _Stratum:
    """Units, by the fewest columns that tell the sums of all their columns and of all products of two of them.

    Attributes
    ----------
    columns
        units x (columns that are not the same everywhere, products of two of these).
    varying
        Which those are.
    first
        The first unit: of the other columns, every unit.
    """

    columns: Array
    varying: NDArray[np.int64]
    first: Array

    @classmethod
    def of(cls, units: Array, scale: float) -> "_Stratum":
        units = np.where(np.abs(units) <= ROUNDING * scale, 0.0, units)
        varying = np.flatnonzero(units.min(axis=0) != units.max(axis=0))
        products = [units[:, i] * units[:, j] for i, j in combinations_with_replacement(varying, 2)]
        return cls(np.column_stack([units[:, varying], *products]), varying, units[0])

    def moments(self, sums: Array) -> Array:
        """Sums of all columns, then of all products, the latter of so many units as to make the variance unbiased.

        Parameters
        ----------
        sums
            ... x columns: each of as many units as there are.
        """
        size, width, some = len(self.columns), len(self.first), len(self.varying)
        same = np.setdiff1d(np.arange(width), self.varying)
        totals = np.broadcast_to(size * self.first, (*sums.shape[:-1], width)).copy()
        totals[..., self.varying] = sums[..., :some]
        products = np.empty((*totals.shape, width))
        products[..., same, :] = self.first[same, None] * totals[..., None, :]
        products[..., :, same] = totals[..., :, None] * self.first[same]
        for number, (i, j) in enumerate(combinations_with_replacement(self.varying, 2), start=some):
            products[..., i, j] = products[..., j, i] = sums[..., number]
        products *= size / max(size - 1, 1)
        return np.concatenate([totals, products.reshape(*totals.shape[:-1], -1)], axis=-1)


@dataclass(frozen=True)
class _Centred:
    """Ratios, their value and its standard error; strata of what is left of each y around its ratio, none if undefined.

    Squares of what is left do not cancel.
    """

    ratios: Ratios
    value: float
    error: float
    strata: tuple[_Stratum, ...]

    @classmethod
    def of(cls, ratios: Ratios) -> "_Centred":
        units = sum(map(len, ratios.strata))
        totals = np.sum([some.sum(axis=0) for some in ratios.strata], axis=0) if units else np.zeros(2)
        if not totals[1::2].all():
            return cls(ratios, np.nan, np.nan, ())
        each = totals[::2] / totals[1::2]
        scale = max(np.abs(some[:, ::2]).max() for some in ratios.strata)
        strata = []
        for some in ratios.strata:
            left = some.copy()
            left[:, ::2] -= each * left[:, 1::2]
            strata.append(_Stratum.of(left, scale))
        moments = np.sum([some.moments(some.columns.sum(axis=0)) for some in strata], axis=0)
        error = float(_estimate(moments, ratios.signs)[1])
        return cls(ratios, float(np.dot(ratios.signs, each)), error, tuple(strata))

    @property
    def is_resampled(self) -> bool:
        """Whether there is anything to tell the error from."""
        return bool(self.strata) and min(self.ratios.sizes) >= 2 and self.error > 0

    @property
    def cells(self) -> int:
        return sum(some.columns.size for some in self.strata)


def intervals(
    problems: Iterable[Ratios], confidence: float, resamples: int, rng: np.random.Generator
) -> list[Interval]:
    """Value of each sum of signed ratios with its bootstrap-t interval.

    Parameters
    ----------
    problems
        With strata of the same units: these are resampled together, as many problems at a time as memory allows.

    Returns
    -------
    list of (value, low, high)
        NaN without a unit or where an x adds up to 0. With fewer than two units behind a ratio, or where no residual
        differs from 0, there is nothing to tell the error from: the ends are NaN.
    """
    found: list[Interval] = []
    together: list[_Centred] = []
    for problem in map(_Centred.of, map(_bundled, problems)):
        together.append(problem)
        if sum(some.cells for some in together) >= _CELLS_AT_ONCE:
            found += _resampled(together, confidence, resamples, rng)
            together = []
    return found + _resampled(together, confidence, resamples, rng)


def _bundled(ratios: Ratios) -> Ratios:
    """The same ratios over bundles of units, where there are very many."""
    if max(map(len, ratios.strata), default=0) <= MANY:
        return ratios
    sizes = tuple(min(size, BUNDLES) for size in ratios.sizes)
    return Ratios(tuple(map(in_bundles, ratios.strata)), sizes, ratios.signs)


def _resampled(
    problems: Sequence[_Centred], confidence: float, resamples: int, rng: np.random.Generator
) -> list[Interval]:
    """Intervals of some ratios from the same resamples."""
    known = [problem for problem in problems if problem.is_resampled]
    drawn: list[Any] = [0.0] * len(known)
    for strata in zip(*(problem.strata for problem in known), strict=True):
        columns = np.concatenate([some.columns for some in strata], axis=1)
        sums = bootstrap_sums(columns, resamples, rng)
        ends = np.cumsum([some.columns.shape[1] for some in strata])[:-1]
        parts = np.split(sums, ends, axis=1)
        drawn = [total + some.moments(part) for total, some, part in zip(drawn, strata, parts, strict=True)]
    sums_of = iter(drawn)
    return [
        _interval(problem, next(sums_of), confidence)
        if problem.is_resampled
        else (problem.value, float("nan"), float("nan"))
        for problem in problems
    ]


def _interval(problem: _Centred, drawn: Array, confidence: float) -> Interval:
    shift, errors = _estimate(drawn, problem.ratios.signs)
    with np.errstate(invalid="ignore", divide="ignore"):
        pivots = shift / errors
    freedom = min(problem.ratios.sizes) - 1
    ends = _ends(problem.value, problem.error, pivots[np.isfinite(pivots)], confidence, freedom)
    return problem.value, *ends


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


def _ends(value: float, error: float, pivots: Array, confidence: float, freedom: int) -> tuple[float, float]:
    """Ends from the quantiles of the resampled pivots, each at least as far out as Student's t.

    The errors of resamples of few or heavy-tailed documents are too much alike.
    """
    tail = (1 - confidence) / 2
    student = float(stdtrit(freedom, 1 - tail))
    low, high = np.quantile(pivots, [tail, 1 - tail]) if len(pivots) else (0.0, 0.0)
    return value - max(float(high), student) * error, value + max(-float(low), student) * error
