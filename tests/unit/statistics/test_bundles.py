"""Bundles of documents: their permutations permute documents, and tests by them agree with tests by documents."""

import numpy as np
import pytest
from scipy import stats

from macroscope.statistics import bootstrap, document_features, kolmogorov_smirnov, permutation_groups
from macroscope.statistics.kolmogorov_smirnov import ks_test
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.ratio import difference_interval, ratio_test

PAIRS = np.tile(np.arange(1, 2001), 2)
TRIPLES = np.concatenate([np.arange(1, 801), np.zeros(1200, int), np.repeat(np.arange(1, 801), 2), np.zeros(400, int)])
GROUPS = [None, PAIRS, TRIPLES]


@pytest.fixture(autouse=True)
def few_bundles(monkeypatch):
    """Bundle a few thousand documents as if they were very many."""
    for module in (permutation_groups, document_features, bootstrap, kolmogorov_smirnov):
        monkeypatch.setattr(module, "MANY", 1000)
    for module in (permutation_groups, document_features, bootstrap):
        monkeypatch.setattr(module, "BUNDLES", 200)


@pytest.mark.parametrize("groups", GROUPS)
def test_a_permutation_of_bundles_keeps_the_size_of_each_group_in_both_samples(groups):
    permutation = Permutation((2000, 2000), groups)
    bundles, bundle = permutation.bundles
    assert bundles.units < 1700
    assert (bundle[:2000] < bundles.sizes[0]).all()
    assert (bundle[2000:] >= bundles.sizes[0]).all()
    codes = np.zeros(4000, int) if groups is None else groups
    for inside in bundles.memberships(20, np.random.default_rng(0)):
        for row in inside:
            first = row[bundle] > 0
            assert (np.bincount(codes[first]) == np.bincount(codes[:2000])).all()
    assert (np.asarray(permutation.bundle_matrix.sum(axis=0)).ravel() == 1).all()


def test_remaining_documents_stay_in_their_sample():
    bundles, bundle = Permutation((2000, 1003)).bundles
    rows = np.concatenate(list(bundles.memberships(50, np.random.default_rng(0))))
    assert set((rows[:, bundle] > 0).sum(axis=1)) == {2000}
    assert (~(rows[:, bundle] > 0).any(axis=0)).sum() == 3


def test_few_documents_of_a_sample_are_not_bundled():
    assert Permutation((5000, 300)).bundles[0].units == 5300


@pytest.mark.slow
@pytest.mark.parametrize("groups", [None, PAIRS])
def test_p_values_are_those_of_the_t_test(groups):
    differences = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        common = rng.normal(size=2000) if groups is not None else 0.0
        x, y = common + rng.exponential(size=2000), common + rng.exponential(size=2000)
        expected = stats.ttest_ind(x, y).pvalue if groups is None else stats.ttest_rel(x, y).pvalue
        ones = np.ones(2000)
        p = ratio_test((x, ones), (y, ones), Permutation((2000, 2000), groups), 2000, rng)
        differences.append(p - expected)
    assert np.abs(differences).max() < 0.15
    assert abs(np.mean(differences)) < 0.02


@pytest.mark.slow
def test_p_values_are_uniform_if_nothing_differs():
    p_values = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        x, y = rng.exponential(size=1500), rng.exponential(size=900)
        samples = (x, np.ones(1500)), (y, np.ones(900))
        p_values.append(ratio_test(*samples, Permutation((1500, 900)), 199, rng))
    assert stats.kstest(p_values, "uniform").pvalue > 0.01


def test_intervals_are_as_wide_as_those_of_documents(monkeypatch):
    rng = np.random.default_rng(0)
    x, y = rng.exponential(size=(2, 4000))
    samples = (x, np.ones(4000)), (y, rng.integers(1, 9, 4000))
    widths = []
    for many in (1000, 10**6):
        for module in (document_features, bootstrap):
            monkeypatch.setattr(module, "MANY", many)
        value, low, high = difference_interval(*samples, Permutation((4000, 4000)), 0.95, 2000, rng)
        assert low < value < high
        widths.append(high - low)
    assert widths[0] == pytest.approx(widths[1], rel=0.15)


def test_distances_of_bundles_have_the_p_values_of_documents(monkeypatch):
    rng = np.random.default_rng(5)
    common = rng.normal(size=2000)
    p_values = []
    for shift in (0.0, 0.05):
        x, y = common + rng.normal(size=2000), common + rng.normal(size=2000) + shift
        for many in (1000, 10**6):
            monkeypatch.setattr(kolmogorov_smirnov, "MANY", many)
            p_values.append(ks_test(x, y, Permutation((2000, 2000), PAIRS), 999, np.random.default_rng(1)))
    assert p_values[0] == pytest.approx(p_values[1], abs=0.12)
    assert p_values[2] == pytest.approx(p_values[3], abs=0.12)
