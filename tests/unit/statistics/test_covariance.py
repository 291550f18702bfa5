"""The discrepancy of covariances against its definition, closed forms and brute force."""

import numpy as np
import pytest

from macroscope.statistics.covariance import LEAST, NAME, _jackknife_error, _permuted, covariance_discrepancy
from macroscope.statistics.latent import Resampling
from macroscope.statistics.permutation_groups import Permutation

RESAMPLING = Resampling(permutations=99)


def _sides(rng, n=14, m=17, dimensions=3):
    mixing = rng.normal(size=(dimensions, dimensions))
    return rng.normal(size=(n, dimensions)) @ mixing, rng.normal(size=(m, dimensions)) + 5.0


def _by_definition(reference, candidate):
    """Mean squared difference of the entries, minus what sampling adds (for normal vectors, exactly)."""
    covariances = [np.cov(side, rowvar=False) for side in (reference, candidate)]
    total = ((covariances[0] - covariances[1]) ** 2).sum()
    for side, covariance in zip((reference, candidate), covariances, strict=True):
        n = len(side)
        centred = side - side.mean(axis=0)
        fourth = np.mean((centred**2).sum(axis=1) ** 2) * (n / (n - 1)) ** 2
        total -= (fourth - (covariance**2).sum()) / (n - 2)
    return total / covariances[0].size


def test_value_is_that_of_the_definition():
    reference, candidate = _sides(np.random.default_rng(0))
    name, value, low, high, p = covariance_discrepancy(reference, candidate, 99, RESAMPLING)
    assert name == NAME
    assert value == pytest.approx(_by_definition(reference, candidate), rel=1e-10)
    assert low <= value <= high
    assert 0 < p <= 1


def test_no_bias_where_nothing_differs_and_sizes_do():
    rng = np.random.default_rng(1)
    values = [_by_definition(rng.normal(size=(15, 4)), rng.normal(size=(60, 4))) for _ in range(4000)]
    assert abs(np.mean(values)) < 3 * np.std(values) / np.sqrt(len(values))


def test_means_do_not_matter():
    reference, candidate = _sides(np.random.default_rng(2))
    here = covariance_discrepancy(reference, candidate, 99, RESAMPLING)
    there = covariance_discrepancy(reference - 100.0, candidate + 7.0, 99, RESAMPLING)
    assert np.allclose(here[1:], there[1:])


def test_exchanged_values_are_those_of_the_exchanged_samples():
    reference, candidate = (side - side.mean(axis=0) for side in _sides(np.random.default_rng(3)))
    vectors, permutation = np.concatenate([reference, candidate]), Permutation((len(reference), len(candidate)))
    found = _permuted(vectors, permutation, 5, np.random.default_rng(4))
    for row, value in zip(
        np.concatenate(list(permutation.memberships(5, np.random.default_rng(4)))), found, strict=True
    ):
        sides = vectors[row > 0], vectors[row == 0]
        covariances = [np.cov(side, rowvar=False) for side in sides]
        expected = ((covariances[0] - covariances[1]) ** 2).sum()
        for side, covariance in zip(sides, covariances, strict=True):
            fourth = np.mean((side**2).sum(axis=1) ** 2)
            expected -= (fourth - (covariance**2).sum()) / (len(side) - 2)
        assert value == pytest.approx(expected / 9)


def test_error_is_that_of_the_jackknife():
    sides = _sides(np.random.default_rng(5), 60, 80)
    variance = 0.0
    for number, own in enumerate(sides):
        pairs = ((np.delete(own, i, axis=0), sides[1 - number]) for i in range(len(own)))
        left_out = np.array([_by_definition(*pair) for pair in pairs])
        variance += (len(own) - 1) / len(own) * ((left_out - left_out.mean()) ** 2).sum()
    scaled = [(side - side.mean(axis=0)) * np.sqrt(len(side) / (len(side) - 1)) for side in sides]
    assert _jackknife_error(scaled) == pytest.approx(np.sqrt(variance), rel=0.01)


def test_lost_correlations_are_found_and_their_size_is_theory():
    rng = np.random.default_rng(6)
    together = 0.5 + 0.5 * np.eye(6)
    reference = rng.normal(size=(800, 6)) @ np.linalg.cholesky(together).T
    _, value, low, high, p = covariance_discrepancy(reference, rng.normal(size=(600, 6)), 99, RESAMPLING)
    truth = 0.25 * 30 / 36
    assert low < truth < high
    assert abs(value - truth) < 0.06
    assert p == 0.01


def test_too_few_vectors_are_undefined():
    row = covariance_discrepancy(np.zeros((LEAST - 1, 2)), np.zeros((20, 2)), 99, RESAMPLING)
    assert np.isnan(row[1:]).all()


def test_vectors_that_do_not_vary_differ_by_nothing():
    _, value, low, high, p = covariance_discrepancy(np.zeros((8, 2)), np.zeros((9, 2)), 99, RESAMPLING)
    assert (value, low, high, p) == (0, 0, 0, 1)
