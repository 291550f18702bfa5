"""Intervals over documents and annotators at once: a bootstrap of ratings in which both are samples.

A study in which three people rate forty texts is a sample of people and of texts. Ratings of one person are alike, and
so are ratings of one text, so they count as three and as forty, not as 120. The statistic is computed again under
random weights of the annotators, of the documents, and of single ratings. The weights are exponential: in the Bayesian
bootstrap of Rubin (1981) no annotator ever vanishes, so every resample is defined. The three variances make up that of
the statistic,

    V = V_documents + V_annotators - V_ratings,

since the noise of a single rating is in both of the first two (Owen and Eckles 2012; Cameron, Gelbach, Miller 2011).
Each is corrected for the number of its units, (n + 1) / (n - 1), and the interval is Student's t with Satterthwaite's
degrees of freedom. With two or three annotators who differ it is long, as it has to be.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from macroscope.options import Resampling
from macroscope.statistics.document_features import Array
from macroscope.statistics.proportions import share_interval

Statistic = Callable[[Array], Array]
"""Function of weights (resamples x ratings; mean 1) that returns values (resamples)."""
BOTH, DOCUMENTS, NOTHING = "documents and annotators", "documents", ""
"""Sources of variation that an interval includes."""


@dataclass(frozen=True)
class CrossedRatings:
    """Annotator and document of ratings.

    Attributes
    ----------
    annotators, documents
        Number of the annotator and of the document of each rating, from 0, without gaps.
    """

    annotators: NDArray[np.int64]
    documents: NDArray[np.int64]

    @classmethod
    def from_names(cls, annotators: ArrayLike, documents: ArrayLike) -> "CrossedRatings":
        return cls(*(np.unique(np.asarray(names), return_inverse=True)[1] for names in (annotators, documents)))


@dataclass(frozen=True)
class CrossedEstimate:
    """Value with its interval over documents and annotators.

    Attributes
    ----------
    value, low, high
        NaN if undefined.
    over
        `BOTH`; `DOCUMENTS` if there is one annotator, for whom the interval then holds alone; `NOTHING` if there is no
        interval.
    p_value
        Two-sided, for the statistic being 0: 1 minus the largest level of an interval that excludes 0; NaN if
        undefined.
    """

    value: float
    low: float
    high: float
    over: str
    p_value: float = float("nan")


def crossed_interval(
    statistic: Statistic, crossed: CrossedRatings, *, confidence: float, resamples: int, seed: int, means: int = 1
) -> CrossedEstimate:
    """Estimate a statistic of crossed ratings with its interval.

    Parameters
    ----------
    statistic
        Smooth in the weights, on a scale on which it is about normal (Fisher's z for a correlation).
    crossed
        Annotator and document of each rating.
    confidence
        Level of the interval, in (0, 1).
    resamples
        Number of resamples of each kind.
    means
        Number of means that the statistic subtracts from the documents, such as those of their systems; less than the
        number of documents. Each costs a degree of freedom, which resampling does not see.

    Returns
    -------
    estimate
        On the statistic's own scale. On simulated ratings (40 documents, two annotators each), intervals of 95 % hold
        the mean in 93 to 97 % of the cases with 3 to 10 annotators. They hold it in 91 % if three to five annotators
        differ as much as the documents do and answer yes or no, and with two annotators in 89 to 98 %: two people say
        little about how people differ.
    """
    n = len(crossed.documents)
    value = float(statistic(np.ones((1, n)))[0])
    documents = int(crossed.documents.max()) + 1 if n else 0
    annotators = int(crossed.annotators.max()) + 1 if n else 0
    if not np.isfinite(value) or documents < 2:
        return CrossedEstimate(value, np.nan, np.nan, NOTHING)
    rng = np.random.default_rng(seed)
    free = documents - means
    of_documents = _variance(statistic, crossed.documents, documents, resamples, rng) * ((documents - 1) / free)
    if annotators < 2:
        return _interval(value, of_documents, free, confidence, DOCUMENTS)
    of_annotators = _variance(statistic, crossed.annotators, annotators, resamples, rng)
    of_ratings = _variance(statistic, np.arange(n), n, resamples, rng)
    annotator_excess = max(of_annotators - of_ratings, 0.0)
    total = of_documents + annotator_excess
    # The annotators' variance is as uncertain as their number implies, however small its estimate.
    parts = of_documents**2 / free + of_annotators**2 / (annotators - 1)
    freedom = total**2 / parts if parts > 0 else float(free)
    return _interval(value, total, max(1.0, min(freedom, free)), confidence, BOTH)


def weighted_mean(values: ArrayLike) -> Statistic:
    """Return the mean of the ratings, as a function of their weights."""
    y = np.asarray(values, dtype=float)
    return lambda weights: (weights @ y) / weights.sum(axis=1)


def _variance(
    statistic: Statistic, groups: NDArray[np.int64], count: int, resamples: int, rng: np.random.Generator
) -> float:
    """Return the variance of the statistic under weights of groups, corrected for their number; inf if undefined."""
    exponentials = rng.exponential(size=(resamples, count))
    values = statistic((exponentials / exponentials.mean(axis=1, keepdims=True))[:, groups])
    if not np.isfinite(values).all():
        return float("inf")
    return float(values.var(ddof=1) * (count + 1) / (count - 1))


def _interval(value: float, variance: float, freedom: float, confidence: float, over: str) -> CrossedEstimate:
    if not np.isfinite(variance):
        return CrossedEstimate(value, np.nan, np.nan, NOTHING)
    half = float(stdtrit(freedom, 0.5 + confidence / 2)) * variance**0.5
    p = 2 * float(stdtr(freedom, -abs(value) / variance**0.5)) if variance > 0 else float("nan")
    return CrossedEstimate(value, value - half, value + half, over, p)


def mean_interval(group: pd.DataFrame, scale: list[float], resampling: Resampling) -> CrossedEstimate:
    """Compute the mean of ratings with its interval, clipped to the scale.

    If all ratings are equal, resampling has no variance. At an end of a binary scale the interval is then that of a
    share of documents; otherwise it is NaN.

    Parameters
    ----------
    group
        Ratings with columns score, annotator and document.
    scale
        Scores of the possible answers, sorted.
    resampling
        Number of resamples, confidence level and seed.
    """
    scores = group["score"].to_numpy(float)
    if (scores == scores[0]).all():
        value, documents = float(scores[0]), group["document"].nunique()
        if len(scale) > 2:
            return CrossedEstimate(value, np.nan, np.nan, NOTHING)
        share = np.full(documents, float(value == scale[1]))
        ends = share_interval(share, np.ones(documents), resampling.confidence)[1:]
        low, high = (scale[0] + end * (scale[1] - scale[0]) for end in ends)
        return CrossedEstimate(value, low, high, DOCUMENTS)
    estimate = crossed_interval(
        weighted_mean(scores),
        CrossedRatings.from_names(group["annotator"], group["document"]),
        confidence=resampling.confidence,
        resamples=resampling.resamples,
        seed=resampling.seed,
    )
    return CrossedEstimate(estimate.value, max(estimate.low, scale[0]), min(estimate.high, scale[-1]), estimate.over)
