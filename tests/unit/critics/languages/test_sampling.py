"""Posterior samples against enumeration of all assignments of topics to words, and the density of proportions."""

from itertools import product

import numpy as np
import pytest
from scipy.special import digamma, gammaln
from scipy.stats import dirichlet

from macroscope.critics.languages.model import LatentDirichletAllocation
from macroscope.critics.languages.sampling import sample_posterior

ALPHA = np.array([0.4, 0.1, 0.8])


def _model(vocabulary=6, seed=0):
    topics = np.random.default_rng(seed).dirichlet(np.full(vocabulary, 0.7), 3)
    return LatentDirichletAllocation(ALPHA, topics)


def _enumerated(words, model):
    """Compute E z and E log z by summing over all assignments of topics to words."""
    total, mean, log_mean = 0.0, np.zeros(3), np.zeros(3)
    for topics in product(range(3), repeat=len(words)):
        counts = np.bincount(topics, minlength=3)
        shapes = ALPHA + counts
        weight = np.exp(gammaln(shapes).sum() - gammaln(shapes.sum())) * model.topics[list(topics), words].prod()
        total += weight
        mean += weight * shapes / shapes.sum()
        log_mean += weight * (digamma(shapes) - digamma(shapes.sum()))
    return mean / total, log_mean / total


@pytest.mark.slow
@pytest.mark.parametrize("words", [[2], [0, 0, 1], [0, 3, 4, 5, 1], [1, 1, 1, 2, 2, 5]])
def test_expectations_are_those_of_enumeration(words):
    model = _model()
    mean, log_mean = _enumerated(words, model)
    posterior = sample_posterior(np.array(words), model, 60_000, np.random.default_rng(1))
    assert np.allclose(posterior.mean, mean, atol=0.006)
    assert np.allclose(posterior.log_mean, log_mean, atol=0.05)


@pytest.mark.slow
def test_samples_have_the_posterior_mean():
    model, words = _model(), np.array([0, 3, 4])
    samples = [sample_posterior(words, model, 20, np.random.default_rng(n)).log_sample for n in range(3000)]
    samples, (mean, _) = np.exp(samples), _enumerated(list(words), model)
    assert np.allclose(np.mean(samples, axis=0), mean, atol=4 * np.std(samples, axis=0).max() / np.sqrt(3000))
    assert np.allclose(np.sum(samples, axis=1), 1)


def test_cross_entropy_is_that_of_the_density():
    points = np.random.default_rng(2).dirichlet(np.ones(3), 5)
    nats = _model().cross_entropy(np.log(points))
    assert np.allclose(nats, [-dirichlet(ALPHA).logpdf(point) for point in points])


def test_same_seed_same_samples():
    first, second = (sample_posterior(np.array([1, 2]), _model(), 10, np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(first.log_sample, second.log_sample)
    assert np.array_equal(first.log_mean, second.log_mean)


@pytest.mark.slow
def test_samples_near_a_corner_have_finite_logarithms():
    """The logarithm of a gamma variable with a shape a near 0 is about -exponential(1) / a."""
    model = LatentDirichletAllocation(np.full(3, 0.002), np.full((3, 1), 1.0))
    log_samples = np.array(
        [
            sample_posterior(np.zeros(4, dtype=np.int64), model, 2, np.random.default_rng(n)).log_sample
            for n in range(2000)
        ]
    )
    assert np.isfinite(log_samples).all()
    assert np.allclose(np.logaddexp.reduce(log_samples, axis=1), 0)
    assert log_samples.min() < -2000
