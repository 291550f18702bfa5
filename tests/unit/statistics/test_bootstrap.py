"""Bootstrap intervals against closed forms, SciPy and simulation."""

import numpy as np
import pytest
from scipy import stats

from macroscope.statistics.bootstrap import bca_interval, bootstrap_sums, percentile_interval


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


def test_no_documents_is_an_error():
    with pytest.raises(ValueError, match="at least one document"):
        bootstrap_sums([], 10, np.random.default_rng(0))


def test_bca_interval_agrees_with_scipy():
    x = np.random.default_rng(0).exponential(size=60)
    ours = bca_interval(x, mean, bootstrap_sums(x, 20000, np.random.default_rng(1)), 0.9)
    peer = stats.bootstrap((x,), np.mean, n_resamples=20000, confidence_level=0.9, method="BCa", rng=2)
    np.testing.assert_allclose(ours, peer.confidence_interval, atol=0.012)


def test_bca_interval_covers_at_its_level_where_data_are_skewed():
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(600):
        x = rng.exponential(size=60)
        low, high = bca_interval(x, mean, bootstrap_sums(x, 800, rng), 0.95)
        hits += low <= 1 <= high
    assert 0.92 <= hits / 600 <= 0.97


def test_intervals_of_undefined_and_constant_statistics():
    sums = bootstrap_sums([2.0, 2.0, 2.0], 200, np.random.default_rng(0))
    assert bca_interval([2.0, 2.0, 2.0], mean, sums, 0.95) == (2.0, 2.0)
    assert all(np.isnan(bca_interval([2.0], mean, bootstrap_sums([2.0], 200, np.random.default_rng(0)), 0.95)))
    assert all(np.isnan(percentile_interval([1.0, np.inf], 0.95)))
