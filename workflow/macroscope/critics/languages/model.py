"""Latent Dirichlet allocation (Blei et al. 2003) with fixed topics, and the density of proportions under its prior."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, logsumexp

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LatentDirichletAllocation:
    """Model with topic proportions from Dirichlet(alpha), a word's topic from these, and the word from that topic.

    Attributes
    ----------
    alpha
        Parameters of the Dirichlet distribution (topics).
    topics
        phi (topics x vocabulary); rows sum to 1.
    """

    alpha: Array
    topics: Array

    def cross_entropy(self, log_proportions: Array) -> Array:
        """Return -E log Dirichlet(z; alpha) from E log z, in nats (documents); of a density, so it may be negative.

        Parameters
        ----------
        log_proportions
            E log z of each document under its posterior, or log z itself (documents x topics).
        """
        normaliser = gammaln(self.alpha).sum() - gammaln(self.alpha.sum())
        return np.asarray(normaliser - log_proportions @ (self.alpha - 1))

    def save(self, path: Path) -> None:
        """Write the model as .npz."""
        with path.open("wb") as stream:
            np.savez(stream, alpha=self.alpha, topics=self.topics)

    @classmethod
    def load(cls, path: Path) -> "LatentDirichletAllocation":
        """Read a model that `save` wrote."""
        with np.load(path) as arrays:
            return cls(arrays["alpha"], arrays["topics"])


# ---- sampling --------------------------------------------------------------------------------------------------------
# Posterior samples of topic proportions, in two stages (deng2022 Appendix C): topics of words, then proportions.
#
# P(z, t | x; phi) = P(t | x; phi) P(z | t). The topics t of a document's words are sampled by collapsed Gibbs sampling
# with phi fixed. Given t, the proportions are Dirichlet(alpha + counts), so expectations over z have closed forms for
# each sample of t (Rao-Blackwell); only t is random.

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Posterior:
    """Posterior over a document's topic proportions.

    Attributes
    ----------
    mean
        E z (topics).
    log_mean
        E log z (topics).
    log_sample
        Logarithm of one sample of z, given the last sample of the words' topics.
    """

    mean: Array
    log_mean: Array
    log_sample: Array


def sample_posterior(
    words: Integers, model: LatentDirichletAllocation, sweeps: int, rng: np.random.Generator
) -> Posterior:
    """Sample the posterior of one document.

    Parameters
    ----------
    words
        Indices of the document's words in the vocabulary; at least one.
    sweeps
        Number of samples, after as many burn-in samples.
    """
    likelihood = np.ascontiguousarray(model.topics[:, words].T)
    counts = _gibbs(likelihood, model.alpha, rng.random((2 * sweeps + 1, len(words))))[sweeps:]
    shapes = model.alpha + counts
    totals = shapes.sum(axis=1, keepdims=True)
    log_mean = (digamma(shapes) - digamma(totals)).mean(axis=0)
    return Posterior((shapes / totals).mean(axis=0), log_mean, _sample_log_dirichlet(shapes[-1], rng))


def _sample_log_dirichlet(shape: Array, rng: np.random.Generator) -> Array:
    """Sample the logarithm of a Dirichlet variable: with shapes near 0, the variable itself would underflow to 0."""
    logs = np.log(rng.gamma(shape + 1)) + np.log1p(-rng.random(len(shape))) / shape
    return np.asarray(logs - logsumexp(logs))


@njit(cache=True)
def _gibbs(likelihood: Array, alpha: Array, uniforms: Array) -> Array:  # pragma: no cover - compiled
    """Return the counts of the words' topics after each sweep (sweeps x topics).

    Parameters
    ----------
    likelihood
        Probability of each word under each topic (words x topics).
    uniforms
        Uniform random numbers ((sweeps + 1) x words); the first row samples the initial topics.
    """
    words, topics = likelihood.shape
    sweeps = len(uniforms) - 1
    assigned = np.zeros(words, np.int64)
    current = np.zeros(topics)
    counts = np.zeros((sweeps, topics))
    weights = np.zeros(topics)
    for sweep in range(sweeps + 1):
        for n in range(words):
            if sweep:
                current[assigned[n]] -= 1
            total = 0.0
            for k in range(topics):
                total += likelihood[n, k] * (alpha[k] + current[k])
                weights[k] = total
            threshold = uniforms[sweep, n] * total
            k = 0
            while k < topics - 1 and weights[k] <= threshold:
                k += 1
            assigned[n] = k
            current[k] += 1
        if sweep:
            counts[sweep - 1] = current
    return counts
