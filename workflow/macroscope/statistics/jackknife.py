"""The delete-a-group jackknife: intervals for statistics of counts for which the bootstrap fails.

A resample with replacement loses a third of the rare types, so that the bootstrap shifts the size of a vocabulary and
every statistic of its tail. Leaving out one group of documents at a time does not. The bias of its variance, if any, is
upward (Efron and Stein 1981), and with G groups it costs G evaluations for any number of documents.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import stdtr, stdtrit

from macroscope.statistics.document_features import Array
from macroscope.statistics.document_groups import FEWEST_PROMPTS
from macroscope.statistics.tidy import UNDEFINED, Estimate

MOST_GROUPS = 100


def sum_into_groups(units: sparse.csr_matrix, most: int = MOST_GROUPS) -> sparse.csr_matrix:
    """Sum units (rows) into at most `most` groups, dealt out in turn so that groups are about equal in size."""
    count = min(most, units.shape[0])
    group = np.arange(units.shape[0]) % count
    membership = sparse.csr_matrix((np.ones(len(group)), (group, np.arange(len(group)))), shape=(count, len(group)))
    return (membership @ units).tocsr()


def jackknife_interval(
    groups: sparse.csr_matrix, statistic: Callable[[Array], ArrayLike], confidence: float
) -> tuple[Array, Array, Array]:
    """Compute value and interval of a statistic of counts.

    Parameters
    ----------
    groups
        Counts, groups of documents x types.
    statistic
        Function of the counts of all types that returns a value or a vector of values.
    confidence
        Level of the interval, in (0, 1).

    Returns
    -------
    value, low, high
        By Student's t with G - 1 degrees of freedom. The ends are NaN with fewer than two groups, or if a value without
        a group is undefined.
    """
    total = np.asarray(groups.sum(axis=0)).ravel().astype(float)
    left_out = [statistic(_without(total, groups, g)) for g in range(groups.shape[0])]
    return interval_of_left_out(statistic(total), left_out, confidence)


def jackknife_interval_of_texts(
    documents: ArrayLike,
    statistic: Callable[[NDArray[np.bool_]], ArrayLike],
    confidence: float,
    most: int,
) -> tuple[Array, Array, Array]:
    """Compute value and interval of a statistic of texts; see `jackknife_interval`.

    Parameters
    ----------
    documents
        Document, or block of documents, of each text; its texts are left out together.
    statistic
        Function of a mask of texts that returns a value or a vector of values.
    confidence
        Level of the interval, in (0, 1).
    most
        Largest number of groups.
    """
    names, document = np.unique(np.asarray(documents), return_inverse=True)
    count = min(most, len(names))
    group = document % max(count, 1)
    left_out = [statistic(group != g) for g in range(count)]
    return interval_of_left_out(statistic(np.ones(len(document), dtype=bool)), left_out, confidence)


def interval_of_left_out(
    value: ArrayLike, left_out: Sequence[ArrayLike], confidence: float
) -> tuple[Array, Array, Array]:
    """Compute the interval of a value from the values without each of several parts of the data, by Student's t.

    If estimates, too, are made without the part, the interval accounts for their error. NaN with fewer than two parts.
    """
    value, count = np.asarray(value, dtype=float), len(left_out)
    if count < 2:
        return value, np.full_like(value, np.nan), np.full_like(value, np.nan)
    values = np.array(left_out, dtype=float)
    error = np.sqrt((count - 1) / count * ((values - values.mean(axis=0)) ** 2).sum(axis=0))
    half = stdtrit(count - 1, 0.5 + confidence / 2) * error
    return value, value - half, value + half


def _without(total: Array, groups: sparse.csr_matrix, group: int) -> Array:
    left = total.copy()
    start, end = groups.indptr[group], groups.indptr[group + 1]
    left[groups.indices[start:end]] -= groups.data[start:end]
    return left


# ---- jackknifed values ----------------------------------------------------------------------------------------------
# Intervals on a scale on which values are nearly normal, and differences of correlated ones.
#
# A difference combines the intervals of its terms, with their correlation (MOVER; Zou and Donner 2008). Its p-value is
# 1 minus the level of the interval that ends at 0, so that the two never contradict each other.

MOST_ERRORS = 100.0
"""Standard errors from 0 beyond which a p-value is not smaller."""
_BISECTIONS = 40


@dataclass(frozen=True)
class Jackknifed:
    """A mean of values between two bounds, with Wilson's form of the interval.

    Units count as the number of trials that would give a share this variance. Without any variance, each counts as one.

    Attributes
    ----------
    values
        The value, and the values without each unit, by the number of the unit.
    fewest
        Number of units, or of those of the smaller collection; Student's t has one degree of freedom less.
    bounds
        Smallest and largest possible value.
    """

    values: Array
    fewest: int
    bounds: tuple[float, float] = (0.0, 1.0)

    @property
    def value(self) -> float:
        return float(self.values[0])

    @property
    def has_interval(self) -> bool:
        """Return whether there is an interval: that of few units, with rare matches, would be too short."""
        return self.fewest >= FEWEST_PROMPTS and not np.isnan(self.values).any()

    @property
    def deviations(self) -> Array:
        """Return the deviations of the values without each unit, on the scale of the interval."""
        return np.asarray(self.values[1:] - self.values[0])

    @property
    def standard_error(self) -> float:
        return float(np.sqrt((self.fewest - 1) / self.fewest * (self.deviations**2).sum()))

    def limits(self, t: float) -> tuple[float, float]:
        """Return the ends of the interval of `t` standard errors."""
        low, width = self.bounds[0], self.bounds[1] - self.bounds[0]
        share, variance = float(np.clip((self.value - low) / width, 0, 1)), (self.standard_error / width) ** 2
        spread = share * (1 - share)
        trials = spread / variance if spread > 0 and variance > 0 else self.fewest
        shrinkage = 1 + t**2 / trials
        centre = (share + t**2 / (2 * trials)) / shrinkage
        half = t / shrinkage * float(np.sqrt(spread / trials + t**2 / (4 * trials**2)))
        least, most = low + width * max(centre - half, 0.0), low + width * min(centre + half, 1.0)
        return min(least, self.value), max(most, self.value)


@dataclass(frozen=True)
class JackknifedSquare(Jackknifed):
    """A value that is the square of a share, or a share of few matches: its square root is nearly normal."""

    @property
    def deviations(self) -> Array:
        """Return the deviations of the square roots."""
        roots = np.sqrt(np.maximum(self.values, 0))
        return np.asarray(roots[1:] - roots[0])

    @property
    def standard_error(self) -> float:
        """Return the standard error of the square root.

        That of no matches at all is not 0: it is at most that of the root of a share, 1 / (2 sqrt(units)).
        """
        return float(0.5 / np.sqrt(self.fewest)) if self.value <= 0 else super().standard_error

    def limits(self, t: float) -> tuple[float, float]:
        """Return the ends of the interval of `t` standard errors of the square root."""
        error = t * self.standard_error
        root = np.sqrt(max(self.value, 0.0))
        # (root - error)^2 and (root + error)^2, in a form whose rounding never leaves the value outside.
        low = self.value - error * (2 * root - error) if error < root else 0.0
        return float(low), float(self.value + error * (2 * root + error))


def estimate_jackknifed(name: str, term: Jackknifed, confidence: float) -> Estimate:
    """Estimate a jackknifed value, with its interval if it has one."""
    if not term.has_interval:
        return Estimate(name, term.value)
    return Estimate(name, term.value, *term.limits(float(stdtrit(term.fewest - 1, 0.5 + confidence / 2))))


def estimate_difference(
    name: str, first: Jackknifed, second: Jackknifed, confidence: float, is_tested: bool = True
) -> Estimate:
    """Estimate a difference of two jackknifed values; units of both have the same number."""
    value = first.value - second.value
    if not (first.has_interval and second.has_interval):
        return Estimate(name, value)
    low, high = _difference_limits(
        first, second, float(stdtrit(min(first.fewest, second.fewest) - 1, 0.5 + confidence / 2))
    )
    return Estimate(name, value, low, high, _test_difference(first, second) if is_tested else UNDEFINED)


def _difference_limits(first: Jackknifed, second: Jackknifed, t: float) -> tuple[float, float]:
    """Return the interval of `t` standard errors of a difference (Zou and Donner 2008, for correlated terms)."""
    (low, high), (low_second, high_second) = first.limits(t), second.limits(t)
    correlation = _correlation(first.deviations, second.deviations)

    def combine(of_first: float, of_second: float) -> float:
        squares = of_first**2 + of_second**2 - 2 * correlation * of_first * of_second
        return float(np.sqrt(max(squares, 0.0)))

    value = first.value - second.value
    return (
        value - combine(first.value - low, high_second - second.value),
        value + combine(high - first.value, second.value - low_second),
    )


def _test_difference(first: Jackknifed, second: Jackknifed) -> float:
    """Return the p-value of a difference of 0: bisect for the number of standard errors at which the interval ends."""
    value = first.value - second.value
    least, most = 0.0, MOST_ERRORS
    for _ in range(_BISECTIONS):
        t = (least + most) / 2
        low, high = _difference_limits(first, second, t)
        least, most = (least, t) if low <= 0 <= high else (t, most)
    return float(2 * stdtr(min(first.fewest, second.fewest) - 1, -least)) if value else 1.0


def _correlation(first: Array, second: Array) -> float:
    """Return the correlation of deviations; units beyond the end of the shorter ones have none."""
    shared = min(len(first), len(second))
    scale = np.sqrt((first**2).sum() * (second**2).sum())
    return float((first[:shared] * second[:shared]).sum() / scale) if scale > 0 else 0.0
