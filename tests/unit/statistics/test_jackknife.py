"""The delete-a-group jackknife against closed forms and simulation."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import t

from macroscope.statistics.jackknife import interval_of_left_out, jackknife_interval, sum_into_groups


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


def test_jackknife_of_a_mean_is_the_t_interval_of_its_parts():
    parts = np.array([3.0, 5.0, 4.0, 8.0, 1.0])
    without = [np.delete(parts, i).mean() for i in range(5)]
    _, low, high = interval_of_left_out(parts.mean(), without, 0.9)
    expected = t(4, parts.mean(), parts.std(ddof=1) / np.sqrt(5)).interval(0.9)
    np.testing.assert_allclose((low, high), expected)
    assert np.isnan(interval_of_left_out(1.0, [1.0], 0.9)[1:]).all()
