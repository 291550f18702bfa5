"""Rates of an imperfect detector, corrected for its errors: the share of positions that are as if damaged.

A detector marks a share c of the positions of real text, its false positives, and a share t of deliberately damaged
positions, its sensitivity. In a text of which a share theta is damaged, it marks s = (1 - theta) c + theta t (Rogan and
Gladen 1978). All three are measured, so the interval of theta = (s - c)/(t - c) is Fieller's (1954): every theta for
which s - (1 - theta) c - theta t may be 0.

With standard errors and Student's t, Fieller's interval is far too short if few positions are marked, since the
standard error of a rate falls with the rate and is 0 if no position is marked. With 20 documents in one sample and 300
in the other and rates of at most 2 %, 95 % intervals held theta = 0 in 54 to 94 % of simulations. Each rate therefore
has its own interval, Wilson's for clustered positions. The distances of its ends from the rate replace quantile x
standard error, each in the direction in which the rate would have to err (Zou and Donner 2008; Newcombe 2016). In large
samples the result is Fieller's.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from macroscope.statistics.bootstrap import Interval
from macroscope.statistics.document_features import Array, Sample
from macroscope.statistics.document_groups import Integers
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.proportions import clustered_interval

_NAN = float("nan")
_PIECES = ((-np.inf, 0.0), (0.0, 1.0), (1.0, np.inf))
"""Intervals of theta, in each of which the weights of the three rates keep their signs."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class _Rate:
    """Rate, and the distances of the ends of its interval from it."""

    value: float
    below: float
    above: float

    @property
    def typical(self) -> float:
        return float(np.sqrt(max(self.below * self.above, 0.0)))

    def mirrored(self) -> "_Rate":
        return _Rate(self.value, self.above, self.below)


def corrected_rate(
    reference: Sample, candidate: Sample, damaged: Sample, permutation: Permutation, confidence: float
) -> Interval:
    """Compute (s - c)/(t - c) with its interval: the share of the candidate's positions that are as if damaged.

    Parameters
    ----------
    reference, candidate
        Marked positions, and evaluated positions, of each document, 0 <= y <= x: rates c and s.
    damaged
        Marked damaged positions, and damaged positions, of other documents: rate t.
    permutation
        Pairing of the documents of reference and candidate: a group of paired documents is one unit in each, and their
        common errors cancel.
    confidence
        Level, in (0, 1).

    Returns
    -------
    value, low, high
        Share of positions; not clipped: below 0 if less is marked than in real text. NaN if a rate is undefined, or t
        <= c. The ends alone are NaN if a sample has fewer than two documents (or groups of paired documents) with a
        position, and if t - c is not significantly above 0, since no theta is then too large or too small.
    """
    samples = [
        np.column_stack([np.asarray(values, dtype=float) for values in sample]) for sample in (reference, candidate)
    ]
    damaged_rows = np.column_stack([np.asarray(values, dtype=float) for values in damaged])
    if not all(rows[:, 1].sum() > 0 for rows in (*samples, damaged_rows)):
        return _NAN, _NAN, _NAN
    groups = np.zeros(sum(map(len, samples)), dtype=int) if permutation.groups is None else permutation.groups
    codes = np.unique(groups[groups > 0])
    n = len(samples[0])
    units = [_units(rows, labels, codes) for rows, labels in zip(samples, (groups[:n], groups[n:]), strict=True)]
    c, s, t = (_rate(rows, confidence) for rows in (*units, damaged_rows))
    if not t.value > c.value:
        return _NAN, _NAN, _NAN
    value = (s.value - c.value) / (t.value - c.value)
    fewest = min(np.count_nonzero(rows[:, 1]) for rows in (*units, damaged_rows))
    if fewest < 2 or np.hypot(c.above, t.below) >= t.value - c.value:
        return value, _NAN, _NAN
    correlation = _correlation(units[0], units[1], len(codes))
    lower = _bounds(c, s, t, correlation)
    upper = _bounds(c.mirrored(), s.mirrored(), t.mirrored(), correlation)
    return value, min([value, *lower]), max([value, *upper])


def _units(rows: Array, groups: Integers, codes: Integers) -> Array:
    """Return unpaired documents, then sums over each group of paired documents: units x (y, x)."""
    is_unpaired = groups == 0
    sums = np.zeros((len(codes), rows.shape[1]))
    np.add.at(sums, np.searchsorted(codes, groups[~is_unpaired]), rows[~is_unpaired])
    return np.concatenate([rows[is_unpaired], sums])


def _rate(units: Array, confidence: float) -> _Rate:
    """Compute the rate of units; they count as the number of equal units with the same variance (Kish 1965).

    So do affected units. With their plain numbers, the interval of 20 documents of 1 to 40 positions is too short in
    simulations.
    """
    y, x = units.T
    value = float(y.sum() / x.sum())
    squares = (_residuals(units) ** 2).sum()
    affected = min(_effective(y), _effective(x - y))
    sums = (y.sum(), x.sum(), squares, (x**2).sum(), _effective(x), affected)
    low, high = clustered_interval(*sums, confidence)
    return _Rate(value, value - float(low), float(high) - value)


def _effective(sizes: Array) -> float:
    """Return the number of equal sizes with this sum and this sum of squares; 0 if all are 0."""
    squares = float((sizes**2).sum())
    return float(sizes.sum()) ** 2 / squares if squares else 0.0


def _residuals(units: Array) -> Array:
    """Return y - R x of units; rounding errors count as 0."""
    y, x = units.T
    residuals = y - y.sum() / x.sum() * x
    return np.where(np.abs(residuals) <= _ROUNDING * x.max(), 0.0, residuals)


def _correlation(first: Array, second: Array, groups: int) -> float:
    """Compute the correlation of the errors of two rates, in [-1, 1], from the last units of both, the paired ones."""
    residuals = [_residuals(units) for units in (first, second)]
    scale = float(np.sqrt(np.prod([(errors**2).sum() for errors in residuals])))
    shared = float(np.dot(*(errors[len(errors) - groups :] for errors in residuals)))
    return shared / scale if scale else 0.0


def _bounds(c: _Rate, s: _Rate, t: _Rate, correlation: float) -> Iterator[float]:
    """Yield every theta up to the value at which s - (1 - theta) c - theta t exceeds 0 by as much as the rates may err.

    With the rates mirrored, yield every theta from the value on at which it is as far below 0.
    """
    d, e = s.value - c.value, t.value - c.value
    for start, end in _PIECES:
        # s may be lower; c and t higher or lower, depending on the signs of their weights, theta - 1 and -theta.
        of_c = c.below if start >= 1 else c.above
        of_t = t.above if start >= 0 else t.below
        product = s.below * of_c
        if (correlation > 0) == (end <= 1):
            # Common errors cancel; limit them to the typical distances, in case one end is far away.
            product = min(product, s.typical * c.typical)
        shared = correlation * product
        # (d - theta e)^2 minus the squared error, as square theta^2 - 2 linear theta + constant.
        square = e**2 - of_c**2 - of_t**2
        linear = d * e - of_c**2 + shared
        constant = d**2 - s.below**2 - of_c**2 + 2 * shared
        for root in np.roots([square, -2 * linear, constant]):
            if abs(root.imag) <= _ROUNDING and start - _ROUNDING <= root.real <= end + _ROUNDING:
                yield float(root.real)
