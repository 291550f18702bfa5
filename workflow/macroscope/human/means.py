"""Means of what people answered, with intervals over documents and annotators."""

import numpy as np
import pandas as pd

from macroscope.statistics.crossed_bootstrap import (
    DOCUMENTS,
    NOTHING,
    Estimate,
    TwoWay,
    two_way_interval,
    weighted_mean,
)
from macroscope.statistics.latent import Resampling
from macroscope.statistics.proportions import share_interval


def mean_interval(group: pd.DataFrame, scale: list[float], resampling: Resampling) -> Estimate:
    """Mean of ratings with its interval, cut to the scale.

    Where all ratings are equal, nothing varies that could be resampled: at an end of a scale of two answers the
    interval is then that of a share of documents, and otherwise there is none.
    """
    scores = group["score"].to_numpy(float)
    if (scores == scores[0]).all():
        value, documents = float(scores[0]), group["document"].nunique()
        if len(scale) > 2:
            return Estimate(value, np.nan, np.nan, NOTHING)
        share = np.full(documents, float(value == scale[1]))
        ends = share_interval(share, np.ones(documents), resampling.confidence)[1:]
        low, high = (scale[0] + end * (scale[1] - scale[0]) for end in ends)
        return Estimate(value, low, high, DOCUMENTS)
    found = two_way_interval(
        weighted_mean(scores),
        TwoWay.of(group["annotator"], group["document"]),
        confidence=resampling.confidence,
        resamples=resampling.resamples,
        seed=resampling.seed,
    )
    return Estimate(found.value, max(found.low, scale[0]), min(found.high, scale[-1]), found.over)
