"""Correlation of a statistic with people's scores of single documents, the annotators' error taken into account.

A document's score by people is the mean of its ratings, and few ratings make a noisy mean: the correlation r that they
show is smaller than that with the score which many people would give. With the reliability

    R = var(true scores) / var(observed means) = 1 - s²_e mean(1 / k_d) / var(means),

(k_d ratings of document d, s²_e their variance within documents), r / sqrt(R) is free of that (Spearman 1904). It is
computed in every resample, so that its interval carries what is not known about R. Each annotator's own level is taken
off first, where it is known: who is strict is so for all systems. Of who judged few of the documents the mean says more
of these documents than of the annotator: how strict they are then stays in the ratings, as a part of their error.

Where people compared two texts, the pair takes the document's place: the value is the difference of the two texts', the
rating is positive where the first was preferred. Which text is the first is arbitrary, so 0 is the centre: nothing is
taken off, and ranks are those of sizes, with their signs.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from macroscope.statistics.crossed_bootstrap import NOTHING, Estimate, Statistic, TwoWay, two_way_interval
from macroscope.statistics.document_sums import Array
from macroscope.statistics.latent import Resampling

FEWEST_DOCUMENTS = 8
LEAST_RELIABILITY = 0.1
"""Below it, the ratings of a document say so little about it that no correlation can be mended."""
LEVEL_ERROR = 0.05
"""An annotator's level is known where the documents that they judged leave no more than this share of the documents'
variance in its mean: those of 20 of very many, or all."""
Groups = NDArray[np.int64] | None
UNDEFINED = Estimate(np.nan, np.nan, np.nan, NOTHING)


@dataclass(frozen=True)
class DocumentCorrelation:
    """Correlations over documents; positive where larger values have better scores.

    Attributes
    ----------
    pearson, spearman
        As they are seen.
    disattenuated
        Pearson's, had the annotators made no error; its ends are cut to [-1, 1].
    reliability
        Of the documents' mean ratings, in [0, 1]; NaN where no document has two ratings.
    documents, annotators
        Their numbers.
    reason
        Why something is undefined.
    """

    pearson: Estimate
    spearman: Estimate
    disattenuated: Estimate
    reliability: float
    documents: int
    annotators: int
    reason: str


def correlate_documents(
    values: Array,
    groups: Groups,
    ratings: Array,
    crossed: TwoWay,
    resampling: Resampling,
) -> DocumentCorrelation:
    """Correlate values of documents with people's ratings of them.

    Parameters
    ----------
    values
        One a document, finite, in the order of the numbers in `crossed`.
    groups
        Group of each document, such as its system, from 0: correlations are within groups (their means are taken off,
        ranks are ranks of what is left). One group for all: over all documents. None: of differences, around 0.
    ratings
        One a rating.
    """
    documents, people = len(values), int(crossed.annotators.max()) + 1 if len(ratings) else 0
    if why := _undefined(values, groups, ratings, crossed):
        return DocumentCorrelation(UNDEFINED, UNDEFINED, UNDEFINED, np.nan, documents, people, why)
    adjusted, levels = (ratings, 1) if groups is None else _without_levels(ratings, crossed)
    plain = _Means(adjusted, crossed, groups, levels)
    x = _centred(values, np.ones((1, documents)), groups)[0]
    one = np.ones((1, len(ratings)))
    h = plain.of_documents(one)[0]

    def raw(weights: Array) -> Array:
        return _fisher(plain.correlations(weights, values))

    def ranked(weights: Array) -> Array:
        return _fisher(ranks.correlations(weights, _ranks(x, groups)))

    def mended(weights: Array) -> Array:
        return _fisher(plain.correlations(weights, values) / np.sqrt(plain.reliability(weights)))

    centred = _centred(h, np.ones((1, documents)), groups)[0]
    ranks = _Means(_as_ranks(adjusted, h, centred, _ranks(centred, groups), crossed), crossed, groups, levels)

    means = 1 if groups is None else len(np.unique(groups))

    def interval(statistic: Statistic) -> Estimate:
        confidence, resamples, seed = resampling.confidence, resampling.resamples, resampling.seed
        return _back(
            two_way_interval(statistic, crossed, confidence=confidence, resamples=resamples, seed=seed, means=means)
        )

    reliability = float(plain.reliability(one, least=-np.inf)[0])
    disattenuated, reason = UNDEFINED, ""
    if np.isnan(reliability):
        several = "too few documents were" if (plain.counts > 1).any() else "no document was"
        reason = f"{several} judged by two annotators, so the annotators' error is not known"
    elif reliability < LEAST_RELIABILITY:
        reason = f"the ratings' reliability is below {LEAST_RELIABILITY}: their error cannot be taken off"
    else:
        disattenuated = interval(mended)
    return DocumentCorrelation(
        interval(raw),
        interval(ranked),
        disattenuated,
        float(np.clip(reliability, 0, 1)),
        documents,
        people,
        reason,
    )


class _Means:
    """Means of ratings under weights, and what follows from them; every result has a row a resample.

    Parameters
    ----------
    levels
        How many levels of annotators were taken off of the ratings.
    """

    def __init__(self, ratings: Array, crossed: TwoWay, groups: Groups, levels: int) -> None:
        self.ratings, self.crossed, self.groups = ratings, crossed, groups
        self.counts = np.bincount(crossed.documents).astype(float)
        self.freedom = float((self.counts - 1).sum()) - (levels - 1)
        self.scale = float((self.counts - 1).sum()) / self.freedom if self.freedom > 0 else np.nan

    def weights(self, weights: Array) -> Array:
        """Of documents: the mean of those of their ratings."""
        return _sums(weights, self.crossed.documents) / self.counts

    def of_documents(self, weights: Array) -> Array:
        """Mean rating of each document."""
        return _means(weights, self.ratings, self.crossed.documents)

    def correlations(self, weights: Array, values: Array) -> Array:
        """Pearson's correlation within groups."""
        w = self.weights(weights)
        x = _centred(values, w, self.groups)
        y = _centred(self.of_documents(weights), w, self.groups)
        return np.asarray((w * x * y).sum(1) / np.sqrt((w * x * x).sum(1) * (w * y * y).sum(1)), dtype=float)

    def reliability(self, weights: Array, least: float = LEAST_RELIABILITY) -> Array:
        """Reliability of the documents' means, within groups; at least `least`."""
        w, means = self.weights(weights), self.of_documents(weights)
        documents = self.crossed.documents
        # Weights of the ratings of one document, relative to each other, decide how noisy its mean is.
        share = weights / (w * self.counts)[:, documents]
        squares = _sums(share**2, documents)
        within = _sums(share * (self.ratings - means[:, documents]) ** 2, documents)
        twice = self.counts > 1
        if not twice.any() or not self.freedom > 0:
            return np.full(len(weights), np.nan)
        free = (w * (1 - squares))[:, twice].sum(1) / self.scale
        error = (w * within)[:, twice].sum(1) / free
        y = _centred(means, w, self.groups)
        lost = 0.0 if self.groups is None else len(np.unique(self.groups)) / len(self.counts)
        variance = (w * y * y).sum(1) / w.sum(1) / (1 - lost)
        noise = error * (w * squares).sum(1) / w.sum(1)
        return np.clip(1 - noise / variance, least, 1.0)


def _without_levels(ratings: Array, crossed: TwoWay) -> tuple[Array, int]:
    """Ratings less their annotator's mean where that is a level (`LEVEL_ERROR`), and how many such levels there are.

    All others have one level together.
    """
    judged, documents = np.bincount(crossed.annotators), int(crossed.documents.max()) + 1
    known = 1 / judged - 1 / documents <= LEVEL_ERROR
    own = np.where(known, np.arange(len(judged)), len(judged))
    level = np.unique(own, return_inverse=True)[1][crossed.annotators]
    means = np.bincount(level, ratings) / np.bincount(level)
    return ratings - means[level], len(means)


def _undefined(values: Array, groups: Groups, ratings: Array, crossed: TwoWay) -> str:
    if len(values) < FEWEST_DOCUMENTS:
        return f"fewer than {FEWEST_DOCUMENTS} documents"
    one = np.ones((1, len(values)))
    if np.allclose(_centred(values, one, groups), 0, atol=1e-12 * max(1.0, float(np.abs(values).max()))):
        return "all documents have the same value"
    means = _means(np.ones((1, len(ratings))), ratings, crossed.documents)[0]
    if np.allclose(_centred(means, one, groups), 0, atol=1e-12):
        return "all documents have the same score"
    return ""


def _sums(weights: Array, numbers: NDArray[np.int64]) -> Array:
    """Sums over the ratings of each document or annotator: resamples x documents."""
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    return np.add.reduceat(weights[:, order], starts, axis=1)


def _means(weights: Array, ratings: Array, numbers: NDArray[np.int64]) -> Array:
    return np.asarray(_sums(weights * ratings, numbers) / _sums(weights, numbers), dtype=float)


def _centred(values: Array, weights: Array, groups: Groups) -> Array:
    """Values less the weighted mean of their group: resamples x documents."""
    values = np.broadcast_to(values, weights.shape)
    if groups is None:
        return values
    return values - (_sums(weights * values, groups) / _sums(weights, groups))[:, groups]


def _ranks(centred: Array, groups: Groups) -> Array:
    """Ranks less their mean; of differences, the ranks of their sizes with their signs."""
    if groups is None:
        return np.asarray(np.sign(centred) * rankdata(np.abs(centred)), dtype=float)
    ranks = np.asarray(rankdata(centred), dtype=float)
    return ranks - ranks.mean()


def _as_ranks(ratings: Array, means: Array, centred: Array, ranks: Array, crossed: TwoWay) -> Array:
    """Ratings moved to the ranks of their documents' means: differences within a document are those of ranks."""
    slope = np.linalg.norm(ranks) / np.linalg.norm(centred)
    return np.asarray(ranks[crossed.documents] + slope * (ratings - means[crossed.documents]), dtype=float)


def _fisher(r: Array) -> Array:
    """Fisher's z; beyond a perfect correlation it goes on as a straight line, for corrected ones."""
    edge = float(np.tanh(2.0))
    inside = np.arctanh(np.clip(r, -edge, edge))
    return inside + (r - np.clip(r, -edge, edge)) / (1 - edge**2)


def _back(estimate: Estimate) -> Estimate:
    edge = float(np.tanh(2.0))
    z = np.array([estimate.value, estimate.low, estimate.high])
    r = np.where(np.abs(z) <= 2, np.tanh(z), np.sign(z) * (edge + (np.abs(z) - 2) * (1 - edge**2)))
    value, low, high = r
    return Estimate(
        float(np.clip(value, -1, 1)), max(float(low), -1.0), min(float(high), 1.0), estimate.over, estimate.p_value
    )
