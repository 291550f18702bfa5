"""Bootstrap and permutation against closed forms, SciPy and simulation."""

import numpy as np
import pytest
from scipy import stats

from macroscope.statistics.multiplicity import benjamini_hochberg
from macroscope.statistics.resampling import (
    bootstrap_sums,
    percentile_interval,
    permutation_p_value,
    permutation_sums,
)


def mean(sums, n):
    return sums[..., 0] / n


def test_bootstrap_standard_error_of_a_mean_is_the_textbook_one():
    x = np.random.default_rng(0).exponential(size=400)
    sums = bootstrap_sums(x, 4000, np.random.default_rng(1))
    assert (sums[:, 0] / 400).std() == pytest.approx(x.std() / 20, rel=0.06)


def test_bootstrap_interval_covers_at_its_level():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(400):
        x = rng.normal(3, 1, size=60)
        low, high = percentile_interval(bootstrap_sums(x, 400, rng)[:, 0] / 60, 0.95)
        hits += low <= 3 <= high
    assert 0.91 <= hits / 400 <= 0.98


def test_permutation_equals_exact_enumeration_within_monte_carlo_error():
    a, b = np.array([1.0, 2.0, 4.0, 7.0]), np.array([3.0, 8.0, 9.0])
    exact = stats.permutation_test(
        (a, b), lambda x, y: abs(np.mean(x) - np.mean(y)), alternative="greater", n_resamples=np.inf
    ).pvalue
    p = permutation_p_value(a, b, mean, 20000, np.random.default_rng(0))
    assert p == pytest.approx(exact, abs=0.015)


def test_p_values_are_uniform_under_the_null():
    rng = np.random.default_rng(3)
    p = [permutation_p_value(rng.normal(size=25), rng.normal(size=40), mean, 199, rng) for _ in range(400)]
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert min(p) >= 1 / 200


def test_power_under_a_known_shift():
    rng = np.random.default_rng(4)
    p = [permutation_p_value(rng.normal(1, 1, 30), rng.normal(0, 1, 30), mean, 199, rng) for _ in range(100)]
    # The t-test's power for a shift of one standard deviation at n = 30 is 0.97.
    assert np.mean(np.array(p) < 0.05) > 0.9


def test_permutation_keeps_the_total():
    a, b = np.arange(5.0), np.arange(7.0)
    first, second = permutation_sums(a, b, 50, np.random.default_rng(0))
    np.testing.assert_allclose(first + second, a.sum() + b.sum())


def test_equal_samples_have_p_1():
    assert permutation_p_value([1.0, 1.0], [1.0, 1.0, 1.0], mean, 100, np.random.default_rng(0)) == 1


def test_undefined_statistics_are_nan():
    assert np.isnan(permutation_p_value([np.inf], [1.0], mean, 100, np.random.default_rng(0)))
    assert all(np.isnan(percentile_interval([1.0, np.inf], 0.95)))


def test_no_documents_is_an_error():
    with pytest.raises(ValueError, match="at least one document"):
        bootstrap_sums([], 10, np.random.default_rng(0))


def test_benjamini_hochberg_of_the_paper():
    # Benjamini and Hochberg (1995), section 3.1: 4 of these 15 are rejected at 0.05.
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1,
    ]
    assert (benjamini_hochberg(p) <= 0.05).sum() == 4


def test_benjamini_hochberg_leaves_out_what_was_not_tested():
    adjusted = benjamini_hochberg([0.01, np.nan, 0.04])
    assert np.isnan(adjusted[1])
    np.testing.assert_allclose(adjusted[[0, 2]], [0.02, 0.04])
