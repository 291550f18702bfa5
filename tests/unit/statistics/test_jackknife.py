"""The delete-a-group jackknife against closed forms and simulation."""

import numpy as np
import pytest
from scipy import sparse

from macroscope.statistics.jackknife import jackknife_interval, sum_into_groups


def test_groups_keep_the_total():
    units = sparse.random(57, 9, 0.4, random_state=0, format="csr")
    groups = sum_into_groups(units, 10)
    assert groups.shape == (10, 9)
    np.testing.assert_allclose(groups.sum(axis=0), units.sum(axis=0))
    assert sum_into_groups(units, 100).shape == (57, 9)


def test_interval_of_a_mean_is_students():
    x = np.random.default_rng(0).normal(5, 2, size=40)
    units = sparse.csr_matrix(np.column_stack([x, np.ones(40)]))
    ends = jackknife_interval(units, lambda t: t[0] / t[1], 0.95)
    half = 2.0226909 * x.std(ddof=1) / np.sqrt(40)  # t quantile at 39 degrees of freedom
    assert [float(end) for end in ends] == pytest.approx([x.mean(), x.mean() - half, x.mean() + half])


@pytest.mark.slow
def test_interval_of_a_vocabulary_covers_its_expectation():
    rng = np.random.default_rng(1)
    words = 1 / np.arange(1, 3001) ** 1.1
    words /= words.sum()
    samples = [rng.multinomial(60, words, size=50) for _ in range(300)]
    expected = np.mean([(s.sum(axis=0) > 0).sum() for s in samples])
    hits = 0
    for sample in samples:
        _, low, high = jackknife_interval(sparse.csr_matrix(sample), lambda t: (t > 0).sum(), 0.95)
        hits += low <= expected <= high
    assert hits / 300 >= 0.92


def test_one_group_has_no_interval():
    value, low, high = jackknife_interval(sparse.csr_matrix([[1, 2]]), lambda t: t.sum(), 0.95)
    assert value == 3
    assert np.isnan([low, high]).all()
