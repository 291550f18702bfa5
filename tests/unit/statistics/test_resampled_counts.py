"""Counts of random samples: the distributions of the plain definitions, enumerated or in closed form."""

import itertools
from collections import Counter
from dataclasses import astuple

import numpy as np
import pytest
from scipy import sparse, stats

from macroscope.options import Resampling
from macroscope.statistics import categorical, document_features, intervals_by_inversion
from macroscope.statistics.categorical import DivergenceOptions, compare_categories, one_hot
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.resampled_counts import disjoint_counts, permuted_counts, resampled_counts

GROUPS = np.array([1, 2, 3, 3, 0, 0, 0, 2, 1, 3, 0, 0])  # pairs, a group of three, and the rest
COUNTS = sparse.csr_matrix(np.random.default_rng(0).poisson(1.0, (12, 3)).astype(float))
DRAWS = 20_000


def is_likely(counts, probabilities):
    """Check that sampled values may come from these probabilities."""
    assert set(counts) <= set(probabilities)
    expected = np.array([probabilities[value] * DRAWS for value in probabilities])
    observed = np.array([counts[value] for value in probabilities])
    enough = expected >= 5
    seen = [*observed[enough], observed[~enough].sum() + 1e-9]
    return stats.chisquare(seen, [*expected[enough], expected[~enough].sum() + 1e-9]).pvalue > 0.001


@pytest.mark.parametrize("groups", [GROUPS, None, np.repeat([0, 1, 2], 4), np.tile(np.arange(1, 7), 2)])
def test_random_permutations_have_the_distribution_of_all(groups):
    sizes = (7, 5) if groups is None or groups is GROUPS else (6, 6)
    permutation = Permutation(sizes, groups)
    rows = np.concatenate(list(permutation.memberships(10**6, np.random.default_rng(0)))) @ COUNTS.toarray()
    probabilities = {value: number / len(rows) for value, number in Counter(map(tuple, rows)).items()}
    sampled = np.concatenate(list(permuted_counts(COUNTS, permutation, DRAWS, np.random.default_rng(1))))
    assert is_likely(Counter(map(tuple, sampled)), probabilities)


def test_resamples_are_multinomial():
    weights = np.array([0.5, 0.0, 3.0, 1.5])
    sampled = np.concatenate(
        list(resampled_counts(one_hot(np.arange(4), 4), weights, 5, DRAWS, np.random.default_rng(1)))
    )
    assert set(sampled.sum(axis=1)) == {5.0}
    law = stats.multinomial(5, weights / weights.sum())
    all_counts = [value for value in itertools.product(range(6), repeat=4) if sum(value) == 5 and not value[1]]
    assert is_likely(Counter(map(tuple, sampled)), {value: law.pmf(value) for value in all_counts})
    assert not sampled[:, 1].any()


@pytest.mark.slow
def test_documents_of_large_weight_are_sampled_many_times():
    weights = np.array([1.0, 1e-3, 0.0, 400.0, 30.0])
    for size in (40, 5000):
        sampled = np.concatenate(list(resampled_counts(np.eye(5), weights, size, DRAWS, np.random.default_rng(1))))
        assert set(sampled.sum(axis=1)) == {float(size)}
        shares = weights / weights.sum()
        np.testing.assert_allclose(sampled.mean(axis=0), size * shares, rtol=0.02, atol=0.01)
        np.testing.assert_allclose(sampled.var(axis=0), size * shares * (1 - shares), rtol=0.05, atol=0.01)


@pytest.mark.parametrize("sizes", [(2, 3), (2, 2), (1, 2), (5, 0)])
def test_disjoint_subsets_are_equally_likely(sizes):
    first, second = (
        np.concatenate(part)
        for part in zip(*disjoint_counts(np.eye(5), sizes, DRAWS, np.random.default_rng(1)), strict=True)
    )
    drawn = Counter(map(tuple, first + 2 * second))
    every = set(itertools.permutations([1.0] * sizes[0] + [2.0] * sizes[1] + [0.0] * (5 - sum(sizes))))
    assert is_likely(drawn, dict.fromkeys(every, 1 / len(every)))


def test_arrays_and_sparse_matrices_give_the_same_sums():
    weights, rng = np.arange(12.0), np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(3), 12)
    sums = [
        np.concatenate(list(resampled_counts(rows, weights, 12, 50, np.random.default_rng(1))))
        for rows in (shares, sparse.csr_matrix(shares))
    ]
    np.testing.assert_allclose(*sums, rtol=1e-12)


def test_the_number_of_cores_does_not_matter(monkeypatch):
    counts = []
    for cores in (1, 3):
        monkeypatch.setattr("macroscope.statistics.resampled_counts.usable_cores", lambda cores=cores: cores)
        draws = permuted_counts(COUNTS, Permutation((7, 5), GROUPS), 100, np.random.default_rng(2))
        counts.append(np.concatenate(list(draws)))
    assert np.array_equal(*counts)
    assert not np.array_equal(counts[0][:16], counts[0][16:32])  # chunks have different seeds


@pytest.mark.slow
def test_large_collections_have_the_same_intervals_and_p_values(monkeypatch):
    rng = np.random.default_rng(3)
    shares = ([0.4, 0.3, 0.2, 0.1], [0.3, 0.3, 0.2, 0.2])
    sides = [[one_hot(rng.choice(4, 300, p=p), 4) for _ in range(2)] for p in shares]
    tables = []
    for many in (document_features.MANY, 100):
        monkeypatch.setattr(intervals_by_inversion, "MANY", many)
        monkeypatch.setattr(categorical, "MANY", many)
        estimates = compare_categories(*sides, DivergenceOptions(permutations=999), Resampling(4000, 999))
        tables.append(np.array([astuple(estimate)[1:] for estimate in estimates]))
    assert not np.array_equal(*tables, equal_nan=True)
    np.testing.assert_allclose(*tables, rtol=0.1, atol=0.02)
