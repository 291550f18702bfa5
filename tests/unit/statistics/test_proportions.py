"""Wilson intervals against SciPy."""

import numpy as np
import pytest
from scipy.stats import binomtest

from macroscope.statistics.proportions import wilson_interval


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_wilson_interval_agrees_with_scipy(confidence):
    n = np.array([1, 1, 5, 10, 10, 10, 400])
    k = np.array([0, 1, 2, 0, 8, 10, 399])
    low, high = wilson_interval(k, n, confidence)
    for i in range(len(n)):
        peer = binomtest(int(k[i]), int(n[i])).proportion_ci(confidence, method="wilson")
        assert (low[i], high[i]) == (pytest.approx(peer.low, abs=1e-12), pytest.approx(peer.high, abs=1e-12))


def test_nothing_seen_says_nothing():
    assert wilson_interval(0, 0) == (0.0, 1.0)
