"""Log-probabilities of texts under the cluster distributions, and the latent NLL: T(x) = -log p(cluster of x).

The prior is the reference's distribution, smoothed. A text of the reference is scored without its own count, which
would make it more likely than a new text.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from macroscope.critics.clusters.kmeans import Labels
from macroscope.critics.clusters.options import ClustersOptions
from macroscope.options import Resampling
from macroscope.statistics.bootstrap import ROUNDING, Interval
from macroscope.statistics.categorical import one_hot, permute_counts
from macroscope.statistics.document_features import Array
from macroscope.statistics.p_values import agree_with_test, p_value_from_null
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.ratio import difference_interval, ratio_interval
from macroscope.statistics.tidy import Estimate


@dataclass(frozen=True)
class Scores:
    """Log-probabilities in nats (texts x seeds) of reference and candidate.

    Attributes
    ----------
    log_p, log_q
        Log-probabilities under the smoothed distributions of the reference and of the candidate, which include the
        text's own count.
    nll
        T(x): negative log-probability under the reference's distribution, without the text's own count.
    """

    log_p: tuple[Array, Array]
    log_q: tuple[Array, Array]
    nll: tuple[Array, Array]


def score(reference: Labels, candidate: Labels, clusters: int, alpha: float) -> Scores:
    """Score all texts of reference and candidate under each clustering.

    Parameters
    ----------
    reference, candidate
        Clusters of the texts (texts x seeds).
    alpha
        Pseudo-count of Laplace smoothing.
    """
    labels, seeds = (reference, candidate), range(reference.shape[1])
    counts = [
        np.stack([np.bincount(side_labels[:, s], minlength=clusters) for s in seeds], axis=1) for side_labels in labels
    ]

    def log_shares(prior: int, texts: int, without: int) -> Array:
        cluster_counts = np.take_along_axis(counts[prior], labels[texts], axis=0)
        total = len(labels[prior]) - without + alpha * clusters
        with np.errstate(divide="ignore"):
            return np.log(cluster_counts - without + alpha) - np.log(total)

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
) -> list[Estimate]:
    """Compute latent NLL and PPL of the candidate, the reference's PPL in the same clusters, difference and ratio.

    The intervals are over texts, given the prior; there are none if a text has probability 0, which smoothing excludes.
    The p-value is that of a permutation test, with a new prior for each permutation: under a fixed prior, the
    reference's texts would not be exchangeable with others.
    """
    reference, candidate = (nll_values.mean(axis=1) for nll_values in scores.nll)
    if not (np.isfinite(reference).all() and np.isfinite(candidate).all()):  # a cluster has only one text
        difference = candidate.mean() - reference.mean()
        values = (candidate.mean(), np.exp(candidate.mean()), np.exp(reference.mean()), difference, np.exp(difference))
        names = ("latent_nll", "latent_ppl", "reference_latent_ppl", "latent_nll_difference", "latent_ppl_ratio")
        return [Estimate(name, float(value)) for name, value in zip(names, values, strict=True)]
    rng = np.random.default_rng(resampling.seed)
    reference_sample = (
        _rescale_for_own_prior(reference, labels[0], clusters, options.smoothing),
        np.ones(len(reference)),
    )
    candidate_sample = (candidate, np.ones(len(candidate)))
    interval_options = (resampling.confidence, resampling.resamples, rng)
    nll, reference_nll = (
        ratio_interval(candidate_sample, *interval_options),
        ratio_interval(reference_sample, *interval_options),
    )
    difference = difference_interval(reference_sample, candidate_sample, permutation, *interval_options)
    p = _p_value(labels, clusters, difference[0], options, permutation, rng)
    tested = agree_with_test(Estimate("latent_nll_difference", *difference, p), resampling.confidence)
    return [
        Estimate("latent_nll", *nll),
        Estimate("latent_ppl", *_exponentiated(nll)),
        Estimate("reference_latent_ppl", *_exponentiated(reference_nll)),
        tested,
        Estimate("latent_ppl_ratio", *_exponentiated((tested.value, tested.ci_low, tested.ci_high)), p),
    ]


def _rescale_for_own_prior(nll: Array, labels: Labels, clusters: int, alpha: float) -> Array:
    """Rescale T(x) of the reference's texts so that their spread gives the variance of their mean.

    The prior is estimated from the same texts. With deviations d of the shares from the true ones p, the mean of T(x)
    differs from that of new texts under the prior by -sum d log p, and by h / n - sum d^2 / p, whose variance is
    2 h / n^2; the variance of T(x) contains h / n only once. Under one clustering h is the number of clusters less 1;
    under several, whose errors differ, it is the mean over pairs of clusterings.
    """
    deviations = nll - nll.mean()
    if np.abs(deviations).max() <= ROUNDING * np.abs(nll).max():
        return nll
    n, seeds = labels.shape
    columns = labels + clusters * np.arange(seeds)
    weights = (1 / np.sqrt(np.bincount(columns.ravel()) + alpha))[columns.ravel()]
    texts = sparse.csr_matrix((weights, columns.ravel(), np.arange(0, n * seeds + 1, seeds)))
    h = max(0.0, ((texts.T @ texts).data ** 2).sum() / seeds**2 - 1)
    return np.asarray(nll.mean() + deviations * np.sqrt(1 + h / (deviations**2).sum()))


def _exponentiated(interval: Interval) -> Interval:
    value, low, high = (float(end) for end in np.exp(interval))
    return value, low, high


def _p_value(
    labels: tuple[Labels, Labels],
    clusters: int,
    observed: float,
    options: ClustersOptions,
    permutation: Permutation,
    rng: np.random.Generator,
) -> float:
    counts = [[one_hot(side_labels[:, s], clusters) for s in range(side_labels.shape[1])] for side_labels in labels]
    null = [
        np.mean([_difference(a, b, options.smoothing) for a, b in zip(reference, candidate, strict=True)], axis=0)
        for reference, candidate in permute_counts(counts[0], counts[1], permutation, options.permutations, rng)
    ]
    return p_value_from_null(observed, np.concatenate(null), permutation.is_exact(options.permutations))


def _difference(reference: Array, candidate: Array, alpha: float) -> Array:
    """Return the mean T(x) of the candidate minus that of the reference, from counts: permutations x clusters."""
    n, m = reference.sum(axis=1), candidate.sum(axis=1)
    total = alpha * reference.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        # Without smoothing a cluster may have probability 0; clusters without texts add 0.
        of_candidate = np.where(candidate > 0, candidate * np.log(reference + alpha), 0.0).sum(axis=1)
        of_reference = np.where(reference > 0, reference * np.log(reference - 1 + alpha), 0.0).sum(axis=1)
    return (np.log(n + total) - of_candidate / m) - (np.log(n - 1 + total) - of_reference / n)
