"""Log-probabilities of texts under the cluster distributions, and the latent NLL: T(x) = -log p(cluster of x).

The prior is the reference's distribution, smoothed. A text of the reference is scored by the others' clusters, since
its own count would make it look more likely than a new text.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from macroscope.critics.clusters.kmeans import Labels
from macroscope.critics.clusters.options import ClustersOptions
from macroscope.statistics.bootstrap_t import ROUNDING, Interval
from macroscope.statistics.categorical import one_hot, permuted
from macroscope.statistics.document_sums import Array
from macroscope.statistics.latent import Resampling
from macroscope.statistics.p_values import p_value_of
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.ratio import difference_interval, ratio_interval
from macroscope.statistics.tidy import UNDEFINED, Row, value_only


@dataclass(frozen=True)
class Scores:
    """Log-probabilities in nats, texts x seeds, of reference and candidate.

    Attributes
    ----------
    log_p, log_q
        Under the smoothed distribution of the reference, of the candidate; a text's own count is in it.
    nll
        T(x): under the reference's distribution, without the text itself.
    """

    log_p: tuple[Array, Array]
    log_q: tuple[Array, Array]
    nll: tuple[Array, Array]


def score(reference: Labels, candidate: Labels, clusters: int, alpha: float) -> Scores:
    """Score every text of both sides under each clustering.

    Parameters
    ----------
    reference, candidate
        Clusters: texts x seeds.
    alpha
        Laplace smoothing.
    """
    labels, seeds = (reference, candidate), range(reference.shape[1])
    counts = [np.stack([np.bincount(side[:, s], minlength=clusters) for s in seeds], axis=1) for side in labels]

    def log_shares(of: int, texts: int, without: int) -> Array:
        own = np.take_along_axis(counts[of], labels[texts], axis=0)
        total = len(labels[of]) - without + alpha * clusters
        with np.errstate(divide="ignore"):
            return np.log(own - without + alpha) - np.log(total)

    return Scores(
        (log_shares(0, 0, 0), log_shares(0, 1, 0)),
        (log_shares(1, 0, 0), log_shares(1, 1, 0)),
        (-log_shares(0, 0, 1), -log_shares(0, 1, 0)),
    )


def latent_nll_rows(
    labels: tuple[Labels, Labels],
    clusters: int,
    scores: Scores,
    options: ClustersOptions,
    resampling: Resampling,
    permutation: Permutation,
) -> list[Row]:
    """Latent NLL and PPL of the candidate, the reference's PPL in the same clusters, their difference and ratio.

    The intervals are over texts, given the prior; without smoothing a text may be impossible, and there are none. The
    p-value is of exchanging texts between the sides, with a prior of its own for each exchange: given one, the
    reference's texts would not be like others.
    """
    reference, candidate = (side.mean(axis=1) for side in scores.nll)
    if not (np.isfinite(reference).all() and np.isfinite(candidate).all()):  # a cluster that only one text is in
        apart = candidate.mean() - reference.mean()
        values = (candidate.mean(), np.exp(candidate.mean()), np.exp(reference.mean()), apart, np.exp(apart))
        names = ("latent_nll", "latent_ppl", "reference_latent_ppl", "latent_nll_difference", "latent_ppl_ratio")
        return [value_only(name, value) for name, value in zip(names, values, strict=True)]
    rng = np.random.default_rng(resampling.seed)
    theirs = (_as_of_own_prior(reference, labels[0], clusters, options.smoothing), np.ones(len(reference)))
    ours = (candidate, np.ones(len(candidate)))
    how = (resampling.confidence, resampling.resamples, rng)
    nll, own = ratio_interval(ours, *how), ratio_interval(theirs, *how)
    apart = difference_interval(theirs, ours, permutation, *how)
    p = _p_value(labels, clusters, apart[0], options, permutation, rng)
    return [
        ("latent_nll", *nll, UNDEFINED),
        ("latent_ppl", *_exponentiated(nll), UNDEFINED),
        ("reference_latent_ppl", *_exponentiated(own), UNDEFINED),
        ("latent_nll_difference", *apart, p),
        ("latent_ppl_ratio", *_exponentiated(apart), p),
    ]


def _as_of_own_prior(nll: Array, labels: Labels, clusters: int, alpha: float) -> Array:
    """T(x) of the reference's texts, as far apart as their mean varies: the prior is made of these texts as well.

    With deviations d of the shares from the true ones p, their mean is away from what the prior gives to new texts by
    -sum d log p, and by h / n - sum d^2 / p, whose variance is 2 h / n^2; that of T(x) has h / n in it only once. Under
    one clustering h is the number of clusters less 1; under several, whose errors are not the same, it is the mean over
    pairs of them.
    """
    away = nll - nll.mean()
    if np.abs(away).max() <= ROUNDING * np.abs(nll).max():
        return nll
    n, seeds = labels.shape
    columns = labels + clusters * np.arange(seeds)
    weights = (1 / np.sqrt(np.bincount(columns.ravel()) + alpha))[columns.ravel()]
    texts = sparse.csr_matrix((weights, columns.ravel(), np.arange(0, n * seeds + 1, seeds)))
    h = max(0.0, ((texts.T @ texts).data ** 2).sum() / seeds**2 - 1)
    return np.asarray(nll.mean() + away * np.sqrt(1 + h / (away**2).sum()))


def _exponentiated(interval: Interval) -> Interval:
    value, low, high = (float(some) for some in np.exp(interval))
    return value, low, high


def _p_value(
    labels: tuple[Labels, Labels],
    clusters: int,
    observed: float,
    options: ClustersOptions,
    permutation: Permutation,
    rng: np.random.Generator,
) -> float:
    counts = [[one_hot(side[:, s], clusters) for s in range(side.shape[1])] for side in labels]
    null = [
        np.mean([_difference(a, b, options.smoothing) for a, b in zip(first, second, strict=True)], axis=0)
        for first, second in permuted(counts[0], counts[1], permutation, options.permutations, rng)
    ]
    return p_value_of(observed, np.concatenate(null), permutation.is_exact(options.permutations))


def _difference(reference: Array, candidate: Array, alpha: float) -> Array:
    """Mean T(x) of the candidate minus that of the reference, from counts: draws x clusters -> draws."""
    n, m = reference.sum(axis=1), candidate.sum(axis=1)
    total = alpha * reference.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        # Without smoothing a cluster may be impossible; what nobody is in adds nothing.
        of_candidate = np.where(candidate > 0, candidate * np.log(reference + alpha), 0.0).sum(axis=1)
        of_reference = np.where(reference > 0, reference * np.log(reference - 1 + alpha), 0.0).sum(axis=1)
    return (np.log(n + total) - of_candidate / m) - (np.log(n - 1 + total) - of_reference / n)
