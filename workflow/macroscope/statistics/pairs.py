"""System against system: differences and ratios of a critic's values of two systems.

Values that are sums over documents (T(x), shares) are compared document by document, as in the comparison with real
text: by a bootstrap and by permutation of documents, in which paired documents (the same prompt, the same original)
only swap. Every other value, such as a divergence from real text, has an interval of its own, and the interval of the
difference combines both by the method of variance estimates recovery (MOVER; Zou and Donner 2008), which assumes
independence. Divergences of two systems from the same real texts are not independent: peculiarities of these texts
shift both in the same direction, so that the interval of their difference is wider than necessary.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from macroscope.options import Resampling
from macroscope.statistics.bootstrap import Interval
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.latent import PERPLEXITY, SHARE, has_measure, list_measures, measure_sample
from macroscope.statistics.permutation_groups import Subsets, build_units
from macroscope.statistics.proportions import share_interval
from macroscope.statistics.ratio import difference_interval, ratio_test
from macroscope.statistics.tidy import UNDEFINED

DIFFERENCE, RATIO, AUC = "difference", "ratio", "auc"
"""Measures of a pair: first minus second, first over second, or their detectability."""
PAIRED, UNPAIRED, FROM_INTERVALS = "paired", "unpaired", "from intervals"
"""Methods: paired documents, unpaired documents, or the two systems' own intervals."""
UNLIKE_SIZES = "depends on the number of documents, which differs between the systems"
_OF_PERPLEXITIES = ("latent_ppl", "reference_latent_ppl")
STATISTICS = (
    Statistic("documents_*", "a system's number minus, or over, that of another", "both systems have the same number"),
    Statistic("intervals_*", "a system's number minus, or over, that of another", "both systems have the same number"),
)
ROWS = ("statistic", "measure", "value", "ci_low", "ci_high", "p_value", "n_system", "n_other", "method", "reason")
"""Columns of a comparison of two systems."""


def compare_documents(system: pd.DataFrame, other_system: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """Compare every measure that two tables of scores allow, system against other; columns `ROWS`.

    Perplexities are compared by ratios, everything else by differences. Documents without a value do not count. A
    measure that one of the systems lacks is left out.
    """
    rows = []
    subsets = Subsets(build_units, other_system, system)
    for measure in list_measures(list(system.columns)):
        has_values = has_measure(other_system, measure), has_measure(system, measure)
        samples = measure_sample(other_system, measure, has_values[0]), measure_sample(system, measure, has_values[1])
        if not all(np.sum(x) for _, x in samples):
            continue
        units, permutation = subsets.get(*has_values)
        of_units = units.sums(*samples)
        rng = np.random.default_rng(resampling.seed)
        if measure.kind == SHARE and not permutation.is_paired:
            # With few documents, a share's residuals say little about its error; Wilson's interval is right.
            shares = [share_interval(*sample, resampling.confidence) for sample in of_units]
            estimate = mover_difference(shares[1], shares[0], resampling.confidence)[:3]
        else:
            estimate = difference_interval(*of_units, permutation, resampling.confidence, resampling.resamples, rng)
        rng = np.random.default_rng(resampling.seed)
        p = ratio_test(*of_units, permutation, resampling.permutations, rng)
        is_ratio = measure.kind == PERPLEXITY
        value = np.exp(estimate) if is_ratio else estimate
        method = PAIRED if permutation.is_paired else UNPAIRED
        sizes = int(has_values[1].sum()), int(has_values[0].sum())
        rows.append((measure.name, RATIO if is_ratio else DIFFERENCE, *value, p, *sizes, method, ""))
    return pd.DataFrame(rows, columns=list(ROWS))


def compare_intervals(
    system: pd.DataFrame, other_system: pd.DataFrame, confidence: float, sized: Callable[[str], bool]
) -> pd.DataFrame:
    """Compare every value of two systems' tidy statistics that has an interval; columns `ROWS`.

    A value that depends on the number of documents is undefined if the systems' numbers differ.

    Parameters
    ----------
    system, other_system
        Columns statistic, value, ci_low, ci_high, n_candidate; one row per statistic.
    confidence
        Level of their intervals.
    sized
        Function of a statistic's name: whether it depends on the number of documents.
    """
    both = system.merge(other_system, on="statistic", suffixes=("", "_other"))
    rows = []
    for row in both.to_dict("records"):
        of_system, of_other = (
            np.array([row[f"{end}{suffix}"] for end in ("value", "ci_low", "ci_high")]) for suffix in ("", "_other")
        )
        if not np.isfinite([*of_system, *of_other]).all():
            continue
        is_ratio = row["statistic"].startswith(_OF_PERPLEXITIES) and min(*of_system, *of_other) > 0
        sizes = row["n_candidate"], row["n_candidate_other"]
        if sizes[0] != sizes[1] and sized(row["statistic"]):
            measure = RATIO if is_ratio else DIFFERENCE
            rows.append((row["statistic"], measure, *[UNDEFINED] * 4, *sizes, FROM_INTERVALS, UNLIKE_SIZES))
            continue
        if is_ratio:
            of_system, of_other = np.log(of_system), np.log(of_other)
        value, low, high, p = mover_difference(tuple(of_system), tuple(of_other), confidence)
        ends = np.exp([value, low, high]) if is_ratio else (value, low, high)
        rows.append((row["statistic"], RATIO if is_ratio else DIFFERENCE, *ends, p, *sizes, FROM_INTERVALS, ""))
    return pd.DataFrame(rows, columns=list(ROWS))


def mover_difference(first: Interval, second: Interval, confidence: float) -> tuple[float, float, float, float]:
    """Compute the difference of two independent estimates from their intervals (Zou and Donner 2008, eq. 11 and 12).

    Parameters
    ----------
    first, second
        (value, low, high), at the level `confidence`.

    Returns
    -------
    value, low, high, p-value
        The p-value takes the end towards 0 as that of a normal distribution; 1 if the difference is 0, NaN if that end
        has no distance.
    """
    value = first[0] - second[0]
    below = float(np.hypot(first[0] - first[1], second[2] - second[0]))
    above = float(np.hypot(first[2] - first[0], second[0] - second[1]))
    towards = below if value > 0 else above
    if value == 0:
        return value, value - below, value + above, 1.0
    p = 2 * ndtr(-abs(value) / towards * ndtri(0.5 + confidence / 2)) if towards > 0 else UNDEFINED
    return value, value - below, value + above, float(p)
