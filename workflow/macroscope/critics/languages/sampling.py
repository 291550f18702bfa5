"""Posterior samples of topic proportions, in two stages (deng2022 Appendix C): topics of words, then proportions.

P(z, t | x; phi) = P(t | x; phi) P(z | t). The topics t of a document's words are drawn by collapsed Gibbs sampling with
phi fixed; given them the proportions are Dirichlet(alpha + counts), so that expectations over z are closed forms for
each sample of t (Rao-Blackwell), and only t is left to chance.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import digamma, logsumexp

from macroscope.critics.languages.model import Array, LatentDirichletAllocation

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Posterior:
    """Of a document's topic proportions.

    Attributes
    ----------
    mean
        E z: topics.
    log_mean
        E log z: topics.
    log_sample
        Logarithm of a draw of z from the last sample of the words' topics.
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
        Numbers of its words in the vocabulary, one or more.
    sweeps
        Samples that count; as many come before.
    """
    likelihood = np.ascontiguousarray(model.topics[:, words].T)
    counts = _gibbs(likelihood, model.alpha, rng.random((2 * sweeps + 1, len(words))))[sweeps:]
    shapes = model.alpha + counts
    totals = shapes.sum(axis=1, keepdims=True)
    log_mean = (digamma(shapes) - digamma(totals)).mean(axis=0)
    return Posterior((shapes / totals).mean(axis=0), log_mean, _log_dirichlet(shapes[-1], rng))


def _log_dirichlet(shape: Array, rng: np.random.Generator) -> Array:
    """Logarithm of a draw from a Dirichlet distribution: with a shape near 0 the draw itself would be 0."""
    logs = np.log(rng.gamma(shape + 1)) + np.log1p(-rng.random(len(shape))) / shape
    return np.asarray(logs - logsumexp(logs))


@njit(cache=True)
def _gibbs(likelihood: Array, alpha: Array, uniforms: Array) -> Array:  # pragma: no cover - compiled
    """Counts of the words' topics after each sweep.

    Parameters
    ----------
    likelihood
        Words x topics.
    uniforms
        Sweeps + 1 x words; the first row draws the topics to start from.
    """
    words, topics = likelihood.shape
    sweeps = len(uniforms) - 1
    assigned = np.zeros(words, np.int64)
    current = np.zeros(topics)
    found = np.zeros((sweeps, topics))
    weights = np.zeros(topics)
    for sweep in range(sweeps + 1):
        for n in range(words):
            if sweep:
                current[assigned[n]] -= 1
            total = 0.0
            for k in range(topics):
                total += likelihood[n, k] * (alpha[k] + current[k])
                weights[k] = total
            drawn = uniforms[sweep, n] * total
            k = 0
            while k < topics - 1 and weights[k] <= drawn:
                k += 1
            assigned[n] = k
            current[k] += 1
        if sweep:
            found[sweep - 1] = current
    return found
