"""System against system: differences and ratios of what a critic says of two of them.

What is added up over documents (T(x), shares) is compared document by document: as the comparison with real text does,
by a bootstrap and by exchanging documents, of which partners (the same prompt, the same original) only swap. Every
other number, such as a divergence from real text, has an interval of its own, and the interval of the difference is put
together from the two by the method of variance estimates recovery (MOVER; Zou and Donner 2008). That takes the two as
independent. Divergences of two systems from the same real texts are not: what is odd about these texts moves both
alike, so that the interval of their difference is wider than it need be.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from macroscope.statistics.bootstrap_t import Interval
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.latent import PERPLEXITY, SHARE, Resampling, defined_for, measures, sample_of
from macroscope.statistics.permutation_groups import SubsetPermutations
from macroscope.statistics.proportions import share_interval
from macroscope.statistics.ratio import difference_interval, ratio_test
from macroscope.statistics.tidy import UNDEFINED

DIFFERENCE, RATIO, AUC = "difference", "ratio", "auc"
"""What is said of a pair: first minus second, first over second, or how well they are told apart."""
PAIRED, UNPAIRED, FROM_INTERVALS = "paired", "unpaired", "from intervals"
"""How: documents that have partners, documents without, or the two systems' own intervals."""
UNLIKE_SIZES = "it depends on how many documents there are, and the systems have unlike numbers of them"
_OF_PERPLEXITIES = ("latent_ppl", "reference_latent_ppl")
STATISTICS = (
    Statistic("documents_*", "a system's number minus, or over, that of another", "both systems have the same number"),
    Statistic("intervals_*", "a system's number minus, or over, that of another", "both systems have the same number"),
)
ROWS = ("statistic", "measure", "value", "ci_low", "ci_high", "p_value", "n_system", "n_other", "method", "reason")
"""Columns of a comparison of two systems."""


def compare_documents(system: pd.DataFrame, other: pd.DataFrame, resampling: Resampling) -> pd.DataFrame:
    """Every measure that two tables of scores allow, of the one system against the other; columns `ROWS`.

    Perplexities as ratios, everything else as differences. Documents that have no value do not count; a number that
    one of the two does not have is left out, as the system's own table says.
    """
    rows = []
    subset_permutations = SubsetPermutations(other, system)
    for measure in measures(list(system.columns)):
        known = defined_for(other, measure), defined_for(system, measure)
        samples = sample_of(other, measure, known[0]), sample_of(system, measure, known[1])
        if not all(np.sum(x) for _, x in samples):
            continue
        permutation = subset_permutations.of(*known)
        rng = np.random.default_rng(resampling.seed)
        if measure.kind == SHARE and not permutation.paired:
            # Of few documents a share's residuals tell little of its error; Wilson's interval is right there.
            sides = [share_interval(*side, resampling.confidence) for side in samples]
            found = recovered_difference(sides[1], sides[0], resampling.confidence)[:3]
        else:
            found = difference_interval(*samples, permutation, resampling.confidence, resampling.resamples, rng)
        rng = np.random.default_rng(resampling.seed)
        p = ratio_test(*samples, permutation, resampling.permutations, rng)
        is_ratio = measure.kind == PERPLEXITY
        value = np.exp(found) if is_ratio else found
        method = PAIRED if permutation.paired else UNPAIRED
        sizes = permutation.sizes[::-1]
        rows.append((measure.name, RATIO if is_ratio else DIFFERENCE, *value, p, *sizes, method, ""))
    return pd.DataFrame(rows, columns=list(ROWS))


def compare_intervals(
    system: pd.DataFrame, other: pd.DataFrame, confidence: float, sized: Callable[[str], bool]
) -> pd.DataFrame:
    """Every number that two systems' tidy statistics have with an interval, the one against the other; columns `ROWS`.

    A number that depends on how many documents there are is undefined where these are not equally many.

    Parameters
    ----------
    system, other
        Columns statistic, value, ci_low, ci_high, n_candidate; a row a statistic.
    confidence
        Level of their intervals.
    sized
        Name of a statistic -> whether it depends on how many documents there are.
    """
    both = system.merge(other, on="statistic", suffixes=("", "_other"))
    rows = []
    for row in both.to_dict("records"):
        first, second = (
            np.array([row[f"{end}{side}"] for end in ("value", "ci_low", "ci_high")]) for side in ("", "_other")
        )
        if not np.isfinite([*first, *second]).all():
            continue
        is_ratio = row["statistic"].startswith(_OF_PERPLEXITIES) and min(*first, *second) > 0
        sizes = row["n_candidate"], row["n_candidate_other"]
        if sizes[0] != sizes[1] and sized(row["statistic"]):
            measure = RATIO if is_ratio else DIFFERENCE
            rows.append((row["statistic"], measure, *[UNDEFINED] * 4, *sizes, FROM_INTERVALS, UNLIKE_SIZES))
            continue
        if is_ratio:
            first, second = np.log(first), np.log(second)
        value, low, high, p = recovered_difference(tuple(first), tuple(second), confidence)
        ends = np.exp([value, low, high]) if is_ratio else (value, low, high)
        rows.append((row["statistic"], RATIO if is_ratio else DIFFERENCE, *ends, p, *sizes, FROM_INTERVALS, ""))
    return pd.DataFrame(rows, columns=list(ROWS))


def recovered_difference(first: Interval, second: Interval, confidence: float) -> tuple[float, float, float, float]:
    """Difference of two independent estimates from their intervals (Zou and Donner 2008, eq. 11 and 12).

    Parameters
    ----------
    first, second
        (value, low, high), at the level `confidence`.

    Returns
    -------
    value, low, high, p-value
        The p-value takes the end towards 0 as one of a normal distribution; 1 where that is no distance.
    """
    value = first[0] - second[0]
    below = float(np.hypot(first[0] - first[1], second[2] - second[0]))
    above = float(np.hypot(first[2] - first[0], second[0] - second[1]))
    towards = below if value > 0 else above
    if value == 0:
        return value, value - below, value + above, 1.0
    p = 2 * ndtr(-abs(value) / towards * ndtri(0.5 + confidence / 2)) if towards > 0 else UNDEFINED
    return value, value - below, value + above, float(p)
