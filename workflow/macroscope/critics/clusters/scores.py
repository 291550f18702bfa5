"""Log-probabilities of texts under the cluster distributions, and the latent NLL: T(x) = -log p(cluster of x).

The prior is the reference's distribution, smoothed. A text of the reference is scored by the others' clusters, since
its own count would make it look more likely than a new text.
"""

from dataclasses import dataclass

import numpy as np

from macroscope.critics.clusters.clustering import Labels
from macroscope.critics.clusters.options import ClustersOptions
from macroscope.statistics.bootstrap import Array, bootstrap_sums, percentile_interval
from macroscope.statistics.categorical import one_hot, permuted
from macroscope.statistics.latent import Resampling
from macroscope.statistics.permutation import is_exact, p_value_of
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
    labels: tuple[Labels, Labels], clusters: int, scores: Scores, options: ClustersOptions, resampling: Resampling
) -> list[Row]:
    """Latent NLL and PPL of the candidate, and the difference to the reference's.

    The intervals are over texts, given the prior; without smoothing a text may be impossible, and there are none. The
    p-value is of exchanging texts between the sides, with a prior of its own for each exchange: given one, the
    reference's texts would not be like others.
    """
    reference, candidate = (side.mean(axis=1) for side in scores.nll)
    if not (np.isfinite(reference).all() and np.isfinite(candidate).all()):  # a cluster that only one text is in
        values = (candidate.mean(), np.exp(candidate.mean()), candidate.mean() - reference.mean())
        names = ("latent_nll", "latent_ppl", "latent_nll_difference")
        return [value_only(name, value) for name, value in zip(names, values, strict=True)]
    rng = np.random.default_rng(resampling.seed)
    draws = [bootstrap_sums(side, resampling.resamples, rng)[:, 0] / len(side) for side in (candidate, reference)]
    nll, difference = float(candidate.mean()), float(candidate.mean() - reference.mean())
    low, high = percentile_interval(draws[0], resampling.confidence)
    p = _p_value(labels, clusters, difference, options, rng)
    return [
        ("latent_nll", nll, low, high, UNDEFINED),
        ("latent_ppl", float(np.exp(nll)), float(np.exp(low)), float(np.exp(high)), UNDEFINED),
        ("latent_nll_difference", difference, *percentile_interval(draws[0] - draws[1], resampling.confidence), p),
    ]


def _p_value(
    labels: tuple[Labels, Labels], clusters: int, observed: float, options: ClustersOptions, rng: np.random.Generator
) -> float:
    counts = [[one_hot(side[:, s], clusters) for s in range(side.shape[1])] for side in labels]
    null = [
        np.mean([_difference(a, b, options.smoothing) for a, b in zip(first, second, strict=True)], axis=0)
        for first, second in permuted(counts[0], counts[1], options.permutations, rng)
    ]
    exact = is_exact(len(labels[0]), len(labels[1]), options.permutations)
    return p_value_of(observed, np.concatenate(null), exact)


def _difference(reference: Array, candidate: Array, alpha: float) -> Array:
    """Mean T(x) of the candidate minus that of the reference, from counts: draws x clusters -> draws."""
    n, m = reference.sum(axis=1), candidate.sum(axis=1)
    total = alpha * reference.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        # Without smoothing a cluster may be impossible; what nobody is in adds nothing.
        of_candidate = np.where(candidate > 0, candidate * np.log(reference + alpha), 0.0).sum(axis=1)
        of_reference = np.where(reference > 0, reference * np.log(reference - 1 + alpha), 0.0).sum(axis=1)
    return (np.log(n + total) - of_candidate / m) - (np.log(n - 1 + total) - of_reference / n)
