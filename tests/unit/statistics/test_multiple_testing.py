"""Adjusted p-values."""

import numpy as np
from scipy.stats import false_discovery_control

from macroscope.statistics.multiple_testing import benjamini_hochberg


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


def test_benjamini_hochberg_of_scipy():
    p = np.round(np.random.default_rng(1).uniform(size=500) ** 3, 2)
    np.testing.assert_allclose(benjamini_hochberg(p), false_discovery_control(p, method="bh"), rtol=1e-12)
    assert benjamini_hochberg([]).tolist() == []
