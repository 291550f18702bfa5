"""Monotony: how much more a system's texts repeat themselves than real texts do, at equal length.

Four components, each the mean over texts of a number of passages of equal length:

- words: log of the compression ratio of a passage;
- sentences: minus the standard deviation of the logarithms of the lengths of its sentences;
- within: log of the share of pairs of words that it shares with another passage of its text;
- between: log of the share of pairs of words that it shares with a passage of another text of the same system.

A component is standardized by real texts: the mean over the system's texts minus that over real texts, in standard
deviations of real texts. Monotony is the mean of the components, with equal weights that are fitted to nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from macroscope.statistics.declaration import Statistic
from macroscope.statistics.p_values import holm
from macroscope.statistics.tidy import SIGNIFICANT

Array = NDArray[np.float64]
COMPONENTS = ("words", "sentences", "within", "between")
FLOOR = 1e-3
"""Share added to shares of pairs before their logarithm, since few passages of real text share any."""
FEWEST_TEXTS = 5
"""Number of texts below which a component of a collection is undefined."""
_ROUNDING = 1e-9
"""Standard deviation up to which values are equal."""
STATISTICS = (Statistic("monotony", holds="monotony of the system, given these real texts", sized=False),)


@dataclass(frozen=True)
class TextNumbers:
    """Numbers of the texts of a collection.

    Attributes
    ----------
    compression, rhythm
        Log of the compression ratio, and standard deviation of the logarithms of the lengths of sentences: means over
        the passages of each text.
    within
        Mean share of pairs of words that two passages of the text share; NaN for a text with a single passage.
    between
        The same for passages of two texts (texts x texts); the diagonal does not count.
    """

    compression: Array
    rhythm: Array
    within: Array
    between: Array

    def values(self) -> dict[str, Array]:
        """Return the values of each component, one per text; larger is more monotonous."""
        return {
            "words": self.compression,
            "sentences": -self.rhythm,
            "within": np.log(self.within + FLOOR),
            "between": _log_means(self.between),
        }

    def leave_one_out(self) -> dict[str, Array]:
        """Return each component's mean over all texts but one, for every text that is left out."""
        values = self.values()
        means = {name: _means_without_each(values[name]) for name in ("words", "sentences", "within")}
        n = len(self.between)
        rest = np.maximum(0.0, _row_sums(self.between)[:, None] - self.between)  # without the text of the column
        logs = np.log(rest / max(1, n - 2) + FLOOR)
        np.fill_diagonal(logs, 0.0)
        return means | {"between": logs.sum(axis=0) / max(1, n - 1)}


@dataclass(frozen=True)
class Monotony:
    """Monotony of a system, with its interval and its components in standard deviations of real texts."""

    value: float
    low: float
    high: float
    components: Mapping[str, float]


@dataclass(frozen=True)
class _Scale:
    """Origin and unit of a component."""

    mean: float
    deviation: float


def rank_systems(real: Mapping[str, Array] | None, systems: Sequence[TextNumbers], z: float) -> list[Monotony]:
    """Compute the monotony of each system; the components are those that every collection has.

    Parameters
    ----------
    real
        Values of the components of real texts, whose mean is the origin of a component, and whose standard deviation
        its unit. None: the mean of the systems, and the standard deviation within systems.
    z
        Quantile of the normal distribution for the intervals, which are over the system's texts (jackknife). The error
        of the real texts is common to all systems and is not part of them.
    """
    collections = [*([] if real is None else [real]), *(each.values() for each in systems)]
    names = [name for name in COMPONENTS if all(is_defined(values[name]) for values in collections)]
    measured = collections if real is None else collections[:1]
    scales = {name: _make_scale([values[name] for values in measured]) for name in names}
    return [_measure(scales, system, z) for system in systems]


def limit_ranks(measured: Sequence[Monotony], sizes: Sequence[int], z: float) -> list[tuple[int, int]]:
    """Return the best and the worst rank of each system that the data allow.

    Systems differ if a test of their difference, with the standard errors of both, is significant (Holm, over all
    pairs). So with a probability of 0.95 at least, every system has its true rank within these limits (Al Mohamad et
    al. 2022). Texts of systems on shared prompts make the tests conservative.

    Parameters
    ----------
    sizes
        Number of texts of each system; Student's t has one degree of freedom less than the smaller one.
    z
        That of the intervals.
    """
    values = np.array([each.value for each in measured])
    errors = np.array([(each.high - each.low) / (2 * z) for each in measured])
    first, second = np.triu_indices(len(values), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(values[first] - values[second]) / np.hypot(errors[first], errors[second])
    degrees = np.minimum(np.asarray(sizes)[first], np.asarray(sizes)[second]) - 1
    differ = holm(2 * stdtr(degrees, -t)) <= SIGNIFICANT
    is_better = np.zeros((len(values), len(values)), dtype=bool)  # row better than column
    is_better[first, second] = differ & (values[first] < values[second])
    is_better[second, first] = differ & (values[second] < values[first])
    best, worst = 1 + is_better.sum(axis=0), len(values) - is_better.sum(axis=1)
    return list(zip(best.tolist(), worst.tolist(), strict=True))


def _make_scale(collections: Sequence[Array]) -> _Scale:
    means = [float(np.nanmean(values)) for values in collections]
    return _Scale(float(np.mean(means)), float(np.sqrt(np.mean([np.nanvar(v, ddof=1) for v in collections]))))


def _measure(scales: Mapping[str, _Scale], system: TextNumbers, z: float) -> Monotony:
    values, left_out = system.values(), system.leave_one_out()

    def standardize(name: str, means: Array) -> Array:
        return np.asarray((means - scales[name].mean) / scales[name].deviation)

    components = {name: float(standardize(name, np.array(np.nanmean(values[name])))) for name in scales}
    if not components:
        return Monotony(float("nan"), float("nan"), float("nan"), components)
    value = float(np.mean(list(components.values())))
    jackknifed = np.mean([standardize(name, left_out[name]) for name in scales], axis=0)
    n = len(jackknifed)
    error = float(np.sqrt((n - 1) * jackknifed.var()))
    return Monotony(value, value - z * error, value + z * error, components)


def is_defined(values: Array) -> bool:
    """Return whether a component has enough texts in a collection, and differs among them."""
    return bool((~np.isnan(values)).sum() >= FEWEST_TEXTS and np.nanstd(values) > _ROUNDING)


def _row_sums(shares: Array) -> Array:
    return np.asarray(shares.sum(axis=1) - np.diag(shares))


def _log_means(between: Array) -> Array:
    return np.asarray(np.log(_row_sums(between) / max(1, len(between) - 1) + FLOOR))


def _means_without_each(values: Array) -> Array:
    has_value = ~np.isnan(values)
    total, number = np.nansum(values), has_value.sum()
    return np.asarray((total - np.where(has_value, values, 0.0)) / np.maximum(1, number - has_value))
