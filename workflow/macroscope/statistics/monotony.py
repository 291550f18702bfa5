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

from macroscope.statistics.declaration import Statistic

Array = NDArray[np.float64]
COMPONENTS = ("words", "sentences", "within", "between")
FLOOR = 1e-3
"""Share added to shares of pairs before their logarithm, since few passages of real text share any."""
FEWEST_TEXTS = 5
"""Number of texts below which a component of a collection is undefined."""
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


def rank_systems(real: TextNumbers, systems: Sequence[TextNumbers], z: float) -> list[Monotony]:
    """Compute the monotony of each system; the components are those that every collection has.

    Parameters
    ----------
    z
        Quantile of the normal distribution for the intervals, which are over the system's texts (jackknife). The error
        of the real texts is common to all systems and is not part of them.
    """
    reference = {name: values[~np.isnan(values)] for name, values in real.values().items()}
    names = [name for name in COMPONENTS if all(_is_defined(each.values()[name]) for each in (real, *systems))]
    return [_measure(reference, system, names, z) for system in systems]


def _measure(reference: Mapping[str, Array], system: TextNumbers, names: Sequence[str], z: float) -> Monotony:
    values, left_out = system.values(), system.leave_one_out()

    def standardize(name: str, means: Array) -> Array:
        return np.asarray((means - reference[name].mean()) / reference[name].std(ddof=1))

    components = {name: float(standardize(name, np.array(np.nanmean(values[name])))) for name in names}
    if not names:
        return Monotony(float("nan"), float("nan"), float("nan"), components)
    value = float(np.mean(list(components.values())))
    jackknifed = np.mean([standardize(name, left_out[name]) for name in names], axis=0)
    n = len(jackknifed)
    error = float(np.sqrt((n - 1) * jackknifed.var()))
    return Monotony(value, value - z * error, value + z * error, components)


def _is_defined(values: Array) -> bool:
    return bool((~np.isnan(values)).sum() >= FEWEST_TEXTS and np.nanstd(values) > 0)


def _row_sums(shares: Array) -> Array:
    return np.asarray(shares.sum(axis=1) - np.diag(shares))


def _log_means(between: Array) -> Array:
    return np.asarray(np.log(_row_sums(between) / max(1, len(between) - 1) + FLOOR))


def _means_without_each(values: Array) -> Array:
    has_value = ~np.isnan(values)
    total, number = np.nansum(values), has_value.sum()
    return np.asarray((total - np.where(has_value, values, 0.0)) / np.maximum(1, number - has_value))
