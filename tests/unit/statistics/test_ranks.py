"""Mid-ranks, against scipy's."""

import numpy as np
import pytest
from scipy.stats import rankdata

from macroscope.statistics.cross_fitted_tests import midranks


@pytest.mark.parametrize("distinct", [1, 3, 1000])
def test_midranks_are_those_of_scipy(distinct):
    values = np.random.default_rng(distinct).integers(distinct, size=300) / 7
    assert np.array_equal(midranks(values), rankdata(values))


def test_infinite_values_and_empty_samples():
    assert midranks([np.inf, -np.inf, 0.0, np.inf]).tolist() == [3.5, 1, 2, 3.5]
    assert midranks([]).tolist() == []
