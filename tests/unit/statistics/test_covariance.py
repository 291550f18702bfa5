"""The discrepancy of covariances against its definition, closed forms and brute force."""

from dataclasses import astuple

import numpy as np
import pytest

from macroscope.options import Resampling
from macroscope.statistics.covariance import LEAST, NAME, _jackknife_error, _permuted, covariance_discrepancy
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.tidy import Estimate

RESAMPLING = Resampling(permutations=99)


def _samples(rng, n=14, m=17, dimensions=3):
    mixing = rng.normal(size=(dimensions, dimensions))
    return rng.normal(size=(n, dimensions)) @ mixing, rng.normal(size=(m, dimensions)) + 5.0


def _by_definition(reference, candidate):
    """Mean squared difference of the entries, minus their sampling variance (exact for normal vectors)."""
    covariances = [np.cov(sample, rowvar=False) for sample in (reference, candidate)]
    total = ((covariances[0] - covariances[1]) ** 2).sum()
    for sample, covariance in zip((reference, candidate), covariances, strict=True):
        n = len(sample)
        centred = sample - sample.mean(axis=0)
        fourth = np.mean((centred**2).sum(axis=1) ** 2) * (n / (n - 1)) ** 2
        total -= (fourth - (covariance**2).sum()) / (n - 2)
    return total / covariances[0].size


def test_value_is_that_of_the_definition():
    reference, candidate = _samples(np.random.default_rng(0))
    estimate = covariance_discrepancy(reference, candidate, 99, RESAMPLING)
    assert estimate.statistic == NAME
    assert estimate.value == pytest.approx(_by_definition(reference, candidate), rel=1e-10)
    assert estimate.ci_low <= estimate.value <= estimate.ci_high
    assert 0 < estimate.p_value <= 1


@pytest.mark.slow
def test_no_bias_with_unequal_sizes_if_nothing_differs():
    rng = np.random.default_rng(1)
    values = [_by_definition(rng.normal(size=(15, 4)), rng.normal(size=(60, 4))) for _ in range(4000)]
    assert abs(np.mean(values)) < 3 * np.std(values) / np.sqrt(len(values))


def test_means_do_not_matter():
    reference, candidate = _samples(np.random.default_rng(2))
    centred = covariance_discrepancy(reference, candidate, 99, RESAMPLING)
    shifted = covariance_discrepancy(reference - 100.0, candidate + 7.0, 99, RESAMPLING)
    assert np.allclose(astuple(centred)[1:], astuple(shifted)[1:])


def test_permuted_values_are_those_of_the_permuted_samples():
    reference, candidate = (sample - sample.mean(axis=0) for sample in _samples(np.random.default_rng(3)))
    vectors, permutation = np.concatenate([reference, candidate]), Permutation((len(reference), len(candidate)))
    values = _permuted(vectors, permutation, 5, np.random.default_rng(4))
    for row, value in zip(
        np.concatenate(list(permutation.memberships(5, np.random.default_rng(4)))), values, strict=True
    ):
        samples = vectors[row > 0], vectors[row == 0]
        covariances = [np.cov(sample, rowvar=False) for sample in samples]
        expected = ((covariances[0] - covariances[1]) ** 2).sum()
        for sample, covariance in zip(samples, covariances, strict=True):
            fourth = np.mean((sample**2).sum(axis=1) ** 2)
            expected -= (fourth - (covariance**2).sum()) / (len(sample) - 2)
        assert value == pytest.approx(expected / 9)


def test_error_is_that_of_the_jackknife():
    samples = _samples(np.random.default_rng(5), 60, 80)
    variance = 0.0
    for number, sample in enumerate(samples):
        pairs = ((np.delete(sample, i, axis=0), samples[1 - number]) for i in range(len(sample)))
        left_out = np.array([_by_definition(*pair) for pair in pairs])
        variance += (len(sample) - 1) / len(sample) * ((left_out - left_out.mean()) ** 2).sum()
    scaled = [(sample - sample.mean(axis=0)) * np.sqrt(len(sample) / (len(sample) - 1)) for sample in samples]
    assert _jackknife_error(scaled, np.arange(140)) == pytest.approx(np.sqrt(variance), rel=0.01)


def test_lost_correlations_are_detected_and_have_the_expected_size():
    rng = np.random.default_rng(6)
    covariance = 0.5 + 0.5 * np.eye(6)
    reference = rng.normal(size=(800, 6)) @ np.linalg.cholesky(covariance).T
    estimate = covariance_discrepancy(reference, rng.normal(size=(600, 6)), 99, RESAMPLING)
    truth = 0.25 * 30 / 36
    assert estimate.ci_low < truth < estimate.ci_high
    assert abs(estimate.value - truth) < 0.06
    assert estimate.p_value == 0.01


def test_too_few_vectors_are_undefined():
    estimate = covariance_discrepancy(np.zeros((LEAST - 1, 2)), np.zeros((20, 2)), 99, RESAMPLING)
    assert np.isnan(astuple(estimate)[1:]).all()


def test_constant_vectors_have_no_discrepancy():
    assert covariance_discrepancy(np.zeros((8, 2)), np.zeros((9, 2)), 99, RESAMPLING) == Estimate(NAME, 0, 0, 0, 1)
