"""Correlation of a statistic with human scores of single documents, accounting for the annotators' error.

A document's human score is the mean of its ratings. Few ratings make a noisy mean, so the observed correlation r is
smaller than the correlation with the mean of many people's ratings. With the reliability

    R = var(true scores) / var(observed means) = 1 - s²_e mean(1 / k_d) / var(means),

(k_d ratings of document d, s²_e their variance within documents), r / sqrt(R) is free of that (Spearman 1904). It is
computed in every resample, so that its interval includes the uncertainty of R.

Each annotator's own level is subtracted first, if it is known, since a strict annotator is strict with all systems. The
mean of an annotator who judged few of the documents says more about these documents than about the annotator. Their
strictness then stays in the ratings, as a part of the error.

The partial correlations given length are those of what length does not explain, of both sides: r of values and ratings,
with the correlations of both with the number of words taken out. The annotators' error makes them smaller, too.

If people compared two texts, the unit is the pair. The value is the difference of the two texts' values, and the rating
is positive if the first was preferred. The order within a pair is arbitrary, so 0 is the centre: nothing is subtracted,
and ranks are signed ranks of magnitudes.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from macroscope.options import Resampling
from macroscope.statistics.crossed_bootstrap import (
    NOTHING,
    CrossedEstimate,
    CrossedRatings,
    Statistic,
    crossed_interval,
)
from macroscope.statistics.document_features import Array

FEWEST_DOCUMENTS = 8
LEAST_RELIABILITY = 0.1
"""Reliability below which ratings say too little about a document for a correction of the correlation."""
LEVEL_ERROR = 0.05
"""Largest share of the documents' variance left in an annotator's mean for their level to count as known.

That is the case with 20 of very many documents, or with all of them.
"""
_LEAST_REST = 1e-9
"""Smallest share of the values' variance that length must leave for a partial correlation."""
Groups = NDArray[np.int64] | None
UNDEFINED = CrossedEstimate(np.nan, np.nan, np.nan, NOTHING)


@dataclass(frozen=True)
class DocumentCorrelation:
    """Correlations over documents; positive if larger values have better scores.

    Attributes
    ----------
    pearson, spearman
        Observed correlations.
    partial_pearson, partial_spearman
        The same given length; undefined without lengths, and for values that length determines.
    disattenuated
        Pearson's correlation corrected for the annotators' error; its interval is clipped to [-1, 1].
    reliability
        Reliability of the documents' mean ratings, in [0, 1]; NaN if no document has two ratings.
    documents, annotators
        Numbers of documents and annotators.
    reason
        Reason for undefined values.
    """

    pearson: CrossedEstimate
    spearman: CrossedEstimate
    partial_pearson: CrossedEstimate
    partial_spearman: CrossedEstimate
    disattenuated: CrossedEstimate
    reliability: float
    documents: int
    annotators: int
    reason: str


def correlate_documents(
    values: Array,
    groups: Groups,
    ratings: Array,
    crossed: CrossedRatings,
    resampling: Resampling,
    lengths: Array | None = None,
) -> DocumentCorrelation:
    """Correlate values of documents with human ratings of them.

    Parameters
    ----------
    values
        One finite value per document, in the order of the numbers in `crossed`.
    groups
        Group of each document, such as its system, from 0. Correlations are within groups: group means are subtracted,
        and ranks are ranks of the residuals. One group for all documents: correlations over all documents. None: values
        are differences, centred at 0.
    ratings
        Ratings, one for each entry of `crossed`.
    crossed
        Annotator and document of each rating.
    resampling
        Level, number of resamples and seed.
    lengths
        Length of each document, for the partial correlations; differences if the values are.
    """
    documents, annotators = len(values), int(crossed.annotators.max()) + 1 if len(ratings) else 0
    if reason := _undefined_reason(values, groups, ratings, crossed):
        return DocumentCorrelation(
            UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED, np.nan, documents, annotators, reason
        )
    as_given, as_ranks = _build_scales(values, groups, ratings, crossed)
    means = 1 if groups is None else len(np.unique(groups))
    interval = partial(_interval, crossed=crossed, resampling=resampling, means=means)
    partial_pearson = partial_spearman = UNDEFINED
    if lengths is not None and np.isfinite(lengths).all():
        given_length = partial(_interval_given, crossed=crossed, resampling=resampling, means=means + 1)
        partial_pearson = given_length(as_given, lengths)
        partial_spearman = given_length(as_ranks, _ranks(lengths, groups))
    reliability = float(as_given.ratings.reliability(np.ones((1, len(ratings))), least=-np.inf)[0])
    reason = _uncorrected_reason(reliability, as_given.ratings.counts)
    return DocumentCorrelation(
        interval(as_given.correlation),
        interval(as_ranks.correlation),
        partial_pearson,
        partial_spearman,
        UNDEFINED if reason else interval(as_given.corrected),
        float(np.clip(reliability, 0, 1)),
        documents,
        annotators,
        reason,
    )


def _build_scales(values: Array, groups: Groups, ratings: Array, crossed: CrossedRatings) -> tuple["_Scale", "_Scale"]:
    """Return values and ratings as they are given, and as ranks within groups."""
    adjusted, levels = (ratings, 1) if groups is None else _without_levels(ratings, crossed)
    rating_means = _Means(adjusted, crossed, groups, levels)
    document_means = rating_means.of_documents(np.ones((1, len(ratings))))[0]
    ranked = _as_ranks(adjusted, document_means, groups, crossed)
    return _Scale(values, rating_means), _Scale(_ranks(values, groups), _Means(ranked, crossed, groups, levels))


def _interval(statistic: Statistic, *, crossed: CrossedRatings, resampling: Resampling, means: int) -> CrossedEstimate:
    """Estimate a correlation from its statistic on Fisher's scale; undefined with no more documents than means.

    Parameters
    ----------
    means
        Number of means and slopes of the documents that the statistic estimates.
    """
    if means > crossed.documents.max():
        return UNDEFINED
    confidence, resamples, seed = resampling.confidence, resampling.resamples, resampling.seed
    return _from_fisher(
        crossed_interval(statistic, crossed, confidence=confidence, resamples=resamples, seed=seed, means=means)
    )


def _interval_given(
    scale: "_Scale", given: Array, *, crossed: CrossedRatings, resampling: Resampling, means: int
) -> CrossedEstimate:
    """Estimate the partial correlation given another value of the documents; undefined if that determines them."""
    if scale.ratings.is_determined(scale.values, given):
        return UNDEFINED
    return _interval(partial(scale.correlation_given, given=given), crossed=crossed, resampling=resampling, means=means)


def _uncorrected_reason(reliability: float, counts: Array) -> str:
    """Return the reason why a correlation cannot be corrected for the annotators' error; "" if it can.

    Parameters
    ----------
    counts
        Number of ratings of each document.
    """
    if np.isnan(reliability):
        too_few = "too few documents were" if (counts > 1).any() else "no document was"
        return f"{too_few} judged by two annotators, so the annotators' error is not known"
    if reliability < LEAST_RELIABILITY:
        return f"the ratings' reliability is below {LEAST_RELIABILITY}: no correction for annotators' error is possible"
    return ""


@dataclass(frozen=True)
class _Scale:
    """Values and ratings of documents on one scale, and Fisher's z of their correlations under weights.

    Attributes
    ----------
    values
        Value of each document.
    ratings
        Means of the ratings.
    """

    values: Array
    ratings: "_Means"

    def correlation(self, weights: Array) -> Array:
        return _fisher(self.ratings.correlations(weights, self.values))

    def corrected(self, weights: Array) -> Array:
        return _fisher(self.ratings.correlations(weights, self.values) / np.sqrt(self.ratings.reliability(weights)))

    def correlation_given(self, weights: Array, given: Array) -> Array:
        return _fisher(self.ratings.partial(weights, self.values, given))


class _Means:
    """Means of ratings under weights, and statistics of them; every result has one row per resample.

    Parameters
    ----------
    levels
        Number of annotators' levels that were subtracted from the ratings.
    """

    def __init__(self, ratings: Array, crossed: CrossedRatings, groups: Groups, levels: int) -> None:
        self.ratings, self.crossed, self.groups = ratings, crossed, groups
        self.counts = np.bincount(crossed.documents).astype(float)
        self.freedom = float((self.counts - 1).sum()) - (levels - 1)
        self.scale = float((self.counts - 1).sum()) / self.freedom if self.freedom > 0 else np.nan

    def weights(self, weights: Array) -> Array:
        return _sums(weights, self.crossed.documents) / self.counts

    def of_documents(self, weights: Array) -> Array:
        return _means(weights, self.ratings, self.crossed.documents)

    def correlations(self, weights: Array, values: Array) -> Array:
        """Return Pearson's correlation within groups."""
        w = self.weights(weights)
        return _correlations(w, _centred(values, w, self.groups), _centred(self.of_documents(weights), w, self.groups))

    def partial(self, weights: Array, values: Array, given: Array) -> Array:
        """Return Pearson's partial correlation within groups, given another value of the documents."""
        w = self.weights(weights)
        x, y, z = (_centred(each, w, self.groups) for each in (values, self.of_documents(weights), given))
        of_values, of_ratings = _correlations(w, x, z), _correlations(w, y, z)
        rest = np.sqrt((1 - of_values**2) * (1 - of_ratings**2))
        return np.asarray((_correlations(w, x, y) - of_values * of_ratings) / rest, dtype=float)

    def is_determined(self, values: Array, given: Array) -> bool:
        """Return whether another value of the documents explains all of the values, or nothing as it is constant."""
        w = np.ones((1, len(values)))
        x, z = (_centred(each.astype(float), w, self.groups) for each in (values, given))
        if np.allclose(z, 0):
            return True
        return bool(1 - _correlations(w, x, z)[0] ** 2 < _LEAST_REST)

    def reliability(self, weights: Array, least: float = LEAST_RELIABILITY) -> Array:
        """Return the reliability of the documents' means within groups, at least `least`."""
        w, means = self.weights(weights), self.of_documents(weights)
        documents = self.crossed.documents
        # The relative weights of a document's ratings determine the variance of its mean.
        share = weights / (w * self.counts)[:, documents]
        squares = _sums(share**2, documents)
        within = _sums(share * (self.ratings - means[:, documents]) ** 2, documents)
        has_several = self.counts > 1
        if not has_several.any() or not self.freedom > 0:
            return np.full(len(weights), np.nan)
        free = (w * (1 - squares))[:, has_several].sum(1) / self.scale
        error = (w * within)[:, has_several].sum(1) / free
        y = _centred(means, w, self.groups)
        lost_freedom = 0.0 if self.groups is None else len(np.unique(self.groups)) / len(self.counts)
        variance = (w * y * y).sum(1) / w.sum(1) / (1 - lost_freedom)
        noise = error * (w * squares).sum(1) / w.sum(1)
        return np.clip(1 - noise / variance, least, 1.0)


def _correlations(w: Array, x: Array, y: Array) -> Array:
    return np.asarray((w * x * y).sum(1) / np.sqrt((w * x * x).sum(1) * (w * y * y).sum(1)), dtype=float)


def _without_levels(ratings: Array, crossed: CrossedRatings) -> tuple[Array, int]:
    """Subtract the means of annotators whose level is known (`LEVEL_ERROR`).

    All other annotators share one level. Return the ratings and the number of levels.
    """
    n_judged, documents = np.bincount(crossed.annotators), int(crossed.documents.max()) + 1
    is_known = 1 / n_judged - 1 / documents <= LEVEL_ERROR
    level_of_annotator = np.where(is_known, np.arange(len(n_judged)), len(n_judged))
    level = np.unique(level_of_annotator, return_inverse=True)[1][crossed.annotators]
    means = np.bincount(level, ratings) / np.bincount(level)
    return ratings - means[level], len(means)


def _undefined_reason(values: Array, groups: Groups, ratings: Array, crossed: CrossedRatings) -> str:
    """Return the reason why the correlations are undefined; "" if they are defined."""
    if len(values) < FEWEST_DOCUMENTS:
        return f"fewer than {FEWEST_DOCUMENTS} documents"
    unit_weights = np.ones((1, len(values)))
    if np.allclose(_centred(values, unit_weights, groups), 0, atol=1e-12 * max(1.0, float(np.abs(values).max()))):
        return "all documents have the same value"
    means = _means(np.ones((1, len(ratings))), ratings, crossed.documents)[0]
    if np.allclose(_centred(means, unit_weights, groups), 0, atol=1e-12):
        return "all documents have the same score"
    return ""


def _sums(weights: Array, numbers: NDArray[np.int64]) -> Array:
    """Return sums over the ratings of each document or annotator: resamples x documents."""
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    return np.add.reduceat(weights[:, order], starts, axis=1)


def _means(weights: Array, ratings: Array, numbers: NDArray[np.int64]) -> Array:
    return np.asarray(_sums(weights * ratings, numbers) / _sums(weights, numbers), dtype=float)


def _centred(values: Array, weights: Array, groups: Groups) -> Array:
    """Return values minus the weighted mean of their group: resamples x documents."""
    values = np.broadcast_to(values, weights.shape)
    if groups is None:
        return values
    return values - (_sums(weights * values, groups) / _sums(weights, groups))[:, groups]


def _ranks(values: Array, groups: Groups) -> Array:
    """Return ranks within groups minus their mean; for differences, signed ranks of their magnitudes."""
    centred = _centred(values, np.ones((1, len(values))), groups)[0]
    if groups is None:
        return np.asarray(np.sign(centred) * rankdata(np.abs(centred)), dtype=float)
    ranks = np.asarray(rankdata(centred), dtype=float)
    return ranks - ranks.mean()


def _as_ranks(ratings: Array, means: Array, groups: Groups, crossed: CrossedRatings) -> Array:
    """Move ratings to the ranks of their documents' means, with differences within documents in units of ranks."""
    centred, ranks = _centred(means, np.ones((1, len(means))), groups)[0], _ranks(means, groups)
    slope = np.linalg.norm(ranks) / np.linalg.norm(centred)
    return np.asarray(ranks[crossed.documents] + slope * (ratings - means[crossed.documents]), dtype=float)


def _fisher(r: Array) -> Array:
    """Return Fisher's z, continued linearly beyond tanh(2), since corrected correlations may exceed 1."""
    edge = float(np.tanh(2.0))
    inside = np.arctanh(np.clip(r, -edge, edge))
    return inside + (r - np.clip(r, -edge, edge)) / (1 - edge**2)


def _from_fisher(estimate: CrossedEstimate) -> CrossedEstimate:
    """Return the correlation of an estimate on Fisher's scale, clipped to [-1, 1]."""
    edge = float(np.tanh(2.0))
    z = np.array([estimate.value, estimate.low, estimate.high])
    r = np.where(np.abs(z) <= 2, np.tanh(z), np.sign(z) * (edge + (np.abs(z) - 2) * (1 - edge**2)))
    value, low, high = r
    return CrossedEstimate(
        float(np.clip(value, -1, 1)), max(float(low), -1.0), min(float(high), 1.0), estimate.over, estimate.p_value
    )
