"""Rates of a detector that errs, corrected for its errors: the share of positions that are as if damaged.

A detector marks a share c of the positions of real text, its false positives, and a share t of those that were damaged
on purpose, its sensitivity. Where a share theta of a text is damaged it marks s = (1 - theta) c + theta t (Rogan and
Gladen 1978). All three are measured, so the interval of theta = (s - c)/(t - c) is Fieller's (1954): every theta for
which s - (1 - theta) c - theta t may be 0.

With standard errors and Student's t, Fieller's interval is far too short where little is marked: the standard error of
a rate falls with the rate, and where nothing is marked there is none. With 20 documents on one side and 300 on the
other and rates of 2 % and less, 95 % intervals held theta = 0 in 54 to 94 % of simulations. So each rate has its own
interval, Wilson's for clustered positions, and the distances of its ends from the rate take the place of quantile x
standard error, each on the side on which the rate would have to err (Zou and Donner 2008; Newcombe 2016): in large
samples the same as Fieller's.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from macroscope.statistics.bootstrap_t import Interval
from macroscope.statistics.document_sums import Array
from macroscope.statistics.permutation_groups import Integers, Permutation
from macroscope.statistics.proportions import clustered_interval
from macroscope.statistics.ratio import Sample

_NAN = float("nan")
_PIECES = ((-np.inf, 0.0), (0.0, 1.0), (1.0, np.inf))
"""Of theta: in each, the weights of the three rates keep their signs."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class _Rate:
    """A rate, and how far the ends of its own interval are below it and above."""

    value: float
    below: float
    above: float

    @property
    def typical(self) -> float:
        """Distance of an end whichever it is: the geometric mean."""
        return float(np.sqrt(max(self.below * self.above, 0.0)))

    def mirrored(self) -> "_Rate":
        return _Rate(self.value, self.above, self.below)


def corrected_rate(
    reference: Sample, candidate: Sample, found: Sample, permutation: Permutation, confidence: float
) -> Interval:
    """(s - c)/(t - c) with its interval: the share of the candidate's positions that are as if damaged.

    Parameters
    ----------
    reference, candidate
        Marked positions, and positions looked at, of each document, 0 <= y <= x: rates c and s.
    found
        Damaged positions that were marked, and damaged positions, of other documents: rate t.
    exchange
        Tells who of the reference and the candidate has partners: a group of partners is one unit of each, and errors
        that partners share cancel.
    confidence
        Level, in (0, 1).

    Returns
    -------
    value, low, high
        A share of positions; not clipped: below 0 where less is marked than in real text. NaN where a rate is
        undefined, or t <= c. The ends alone are NaN where a side has fewer than two documents (or groups of partners)
        with a position, and where t - c is not significantly above 0: then no theta is too large or too small.
    """
    sides = [np.column_stack([np.asarray(some, dtype=float) for some in side]) for side in (reference, candidate)]
    others = np.column_stack([np.asarray(some, dtype=float) for some in found])
    if not all(side[:, 1].sum() > 0 for side in (*sides, others)):
        return _NAN, _NAN, _NAN
    groups = np.zeros(sum(map(len, sides)), dtype=int) if permutation.groups is None else permutation.groups
    codes = np.unique(groups[groups > 0])
    n = len(sides[0])
    units = [_units(side, some, codes) for side, some in zip(sides, (groups[:n], groups[n:]), strict=True)]
    c, s, t = (_rate(some, confidence) for some in (*units, others))
    if not t.value > c.value:
        return _NAN, _NAN, _NAN
    value = (s.value - c.value) / (t.value - c.value)
    fewest = min(np.count_nonzero(some[:, 1]) for some in (*units, others))
    if fewest < 2 or np.hypot(c.above, t.below) >= t.value - c.value:
        return value, _NAN, _NAN
    correlation = _correlation(units[0], units[1], len(codes))
    lower = _bounds(c, s, t, correlation)
    upper = _bounds(c.mirrored(), s.mirrored(), t.mirrored(), correlation)
    return value, min([value, *lower]), max([value, *upper])


def _units(rows: Array, groups: Integers, codes: Integers) -> Array:
    """Documents without partners, then sums of each group of partners: units x (y, x)."""
    alone = groups == 0
    together = np.zeros((len(codes), rows.shape[1]))
    np.add.at(together, np.searchsorted(codes, groups[~alone]), rows[~alone])
    return np.concatenate([rows[alone], together])


def _rate(units: Array, confidence: float) -> _Rate:
    """Rate of units; they count as so many as there would be if they were alike in size (Kish 1965).

    So do those that are affected. By simulation: by their bare numbers the interval of 20 documents of 1 to 40
    positions is too short.
    """
    y, x = units.T
    value = float(y.sum() / x.sum())
    squares = (_residuals(units) ** 2).sum()
    affected = min(_effective(y), _effective(x - y))
    sums = (y.sum(), x.sum(), squares, (x**2).sum(), _effective(x), affected)
    low, high = clustered_interval(*sums, confidence)
    return _Rate(value, value - float(low), float(high) - value)


def _effective(sizes: Array) -> float:
    """Number of equal sizes that would have this sum and this sum of squares; 0 where all are 0."""
    squares = float((sizes**2).sum())
    return float(sizes.sum()) ** 2 / squares if squares else 0.0


def _residuals(units: Array) -> Array:
    """Return y - R x of units; what is rounding counts as 0."""
    y, x = units.T
    residuals = y - y.sum() / x.sum() * x
    return np.where(np.abs(residuals) <= _ROUNDING * x.max(), 0.0, residuals)


def _correlation(first: Array, second: Array, groups: int) -> float:
    """Of the errors of two rates, in [-1, 1], by the last units of either side, which are the partners."""
    residuals = [_residuals(units) for units in (first, second)]
    scale = float(np.sqrt(np.prod([(some**2).sum() for some in residuals])))
    shared = float(np.dot(*(some[len(some) - groups :] for some in residuals)))
    return shared / scale if scale else 0.0


def _bounds(c: _Rate, s: _Rate, t: _Rate, correlation: float) -> Iterator[float]:
    """Every theta up to the value at which s - (1 - theta) c - theta t is as far above 0 as the rates may err.

    With the rates mirrored: from the value on, and below 0.
    """
    d, e = s.value - c.value, t.value - c.value
    for start, end in _PIECES:
        # s may be lower; the others higher, or lower, by the signs of their weights, theta - 1 and -theta.
        of_c = c.below if start >= 1 else c.above
        of_t = t.above if start >= 0 else t.below
        product = s.below * of_c
        if (correlation > 0) == (end <= 1):
            # What is shared cancels: no more of it than is typical of both directions, where one end is far out.
            product = min(product, s.typical * c.typical)
        shared = correlation * product
        # (d - theta e)^2 less the squared error, as square theta^2 - 2 linear theta + constant.
        square = e**2 - of_c**2 - of_t**2
        linear = d * e - of_c**2 + shared
        constant = d**2 - s.below**2 - of_c**2 + 2 * shared
        for root in np.roots([square, -2 * linear, constant]):
            if abs(root.imag) <= _ROUNDING and start - _ROUNDING <= root.real <= end + _ROUNDING:
                yield float(root.real)
