"""Means of human ratings, with intervals over documents and annotators."""

import numpy as np
import pandas as pd

from macroscope.resampling import Resampling
from macroscope.statistics.crossed_bootstrap import (
    DOCUMENTS,
    NOTHING,
    CrossedEstimate,
    CrossedRatings,
    crossed_interval,
    weighted_mean,
)
from macroscope.statistics.proportions import share_interval


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
