"""Intervals over documents and annotators at once: a bootstrap of ratings whose rows and columns are both samples.

Who asks three people about forty texts has drawn people and texts. Ratings of one person are alike, ratings of one text
are alike, so they count as three and as forty, not as 120. The statistic is computed again under random weights: of the
annotators, of the documents, and of single ratings (exponential weights: the Bayesian bootstrap of Rubin 1981, under
which no annotator ever vanishes, so that every resample is defined). The three variances make up that of the statistic,

    V = V_documents + V_annotators - V_ratings,

since the noise of a single rating is in both of the first two (Owen and Eckles 2012; Cameron, Gelbach, Miller 2011).
Each is corrected for its number, (n + 1) / (n - 1), and the interval is Student's t with Satterthwaite's degrees
of freedom: with two or three annotators who differ it is long, and it has to be.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from macroscope.statistics.document_sums import Array

Statistic = Callable[[Array], Array]
"""Weights (resamples x ratings; mean 1) -> values (resamples)."""
BOTH, DOCUMENTS, NOTHING = "documents and annotators", "documents", ""
"""What an interval is over."""


@dataclass(frozen=True)
class TwoWay:
    """Ratings as they are crossed.

    Attributes
    ----------
    annotators, documents
        Number of the annotator and of the document of each rating, from 0, without gaps.
    """

    annotators: NDArray[np.int64]
    documents: NDArray[np.int64]

    @classmethod
    def of(cls, annotators: ArrayLike, documents: ArrayLike) -> "TwoWay":
        """From names of any kind."""
        return cls(*(np.unique(np.asarray(names), return_inverse=True)[1] for names in (annotators, documents)))


@dataclass(frozen=True)
class Estimate:
    """A value with its interval.

    Attributes
    ----------
    value, low, high
        NaN where undefined.
    over
        `BOTH`; `DOCUMENTS` where there is one annotator, whose judgement then stands for itself alone; `NOTHING` where
        there is no interval.
    p_value
        Two-sided, of the statistic being 0: 1 minus the largest coverage of an interval that leaves 0 out; NaN where
        undefined.
    """

    value: float
    low: float
    high: float
    over: str
    p_value: float = float("nan")


def two_way_interval(
    statistic: Statistic, crossed: TwoWay, *, confidence: float, resamples: int, seed: int, means: int = 1
) -> Estimate:
    """Estimate a statistic of crossed ratings with its interval.

    Parameters
    ----------
    statistic
        Smooth in the weights, on a scale on which it is about normal (Fisher's z for a correlation).
    resamples
        Of each kind.
    means
        That the statistic takes off of the documents, such as those of their systems; at most as many as there are
        documents, less one. Each costs a degree of freedom, which resampling does not see.

    Returns
    -------
    estimate
        On the statistic's own scale. On simulated ratings (40 documents, two annotators each), those of 95 % hold the
        mean in 93 to 97 % of the cases with 3 to 10 annotators. They hold it in 91 % where three to five annotators
        differ as much as the documents do and answer yes or no, and with two annotators in 89 to 98 %: two people say
        little about how people differ.
    """
    n = len(crossed.documents)
    value = float(statistic(np.ones((1, n)))[0])
    count = int(crossed.documents.max()) + 1 if n else 0
    people = int(crossed.annotators.max()) + 1 if n else 0
    if not np.isfinite(value) or count < 2:
        return Estimate(value, np.nan, np.nan, NOTHING)
    rng = np.random.default_rng(seed)
    free = count - means
    of_documents = _variance(statistic, crossed.documents, count, resamples, rng) * ((count - 1) / free)
    if people < 2:
        return _interval(value, of_documents, free, confidence, DOCUMENTS)
    of_annotators = _variance(statistic, crossed.annotators, people, resamples, rng)
    of_ratings = _variance(statistic, np.arange(n), n, resamples, rng)
    own = max(of_annotators - of_ratings, 0.0)
    total = of_documents + own
    # What chance alone leaves of the annotators' part is as uncertain as their number says, however small it came out.
    parts = of_documents**2 / free + of_annotators**2 / (people - 1)
    freedom = total**2 / parts if parts > 0 else float(free)
    return _interval(value, total, max(1.0, min(freedom, free)), confidence, BOTH)


def weighted_mean(values: ArrayLike) -> Statistic:
    """Mean of the ratings, as a statistic of their weights."""
    y = np.asarray(values, dtype=float)
    return lambda weights: (weights @ y) / weights.sum(axis=1)


def _variance(
    statistic: Statistic, groups: NDArray[np.int64], count: int, resamples: int, rng: np.random.Generator
) -> float:
    """Variance of the statistic under weights of groups, corrected for their number; infinite where it is undefined."""
    drawn = rng.exponential(size=(resamples, count))
    values = statistic((drawn / drawn.mean(axis=1, keepdims=True))[:, groups])
    if not np.isfinite(values).all():
        return float("inf")
    return float(values.var(ddof=1) * (count + 1) / (count - 1))


def _interval(value: float, variance: float, freedom: float, confidence: float, over: str) -> Estimate:
    if not np.isfinite(variance):
        return Estimate(value, np.nan, np.nan, NOTHING)
    half = float(stdtrit(freedom, 0.5 + confidence / 2)) * variance**0.5
    p = 2 * float(stdtr(freedom, -abs(value) / variance**0.5)) if variance > 0 else float("nan")
    return Estimate(value, value - half, value + half, over, p)
