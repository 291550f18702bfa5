"""Vocabularies of collections of unequal sizes: rarefaction against brute force, and the level of the tests."""

import itertools
from dataclasses import astuple

import numpy as np
import pytest
from scipy import sparse

from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.vocabulary import _half_of_larger, comparison_rows, rarefied_size, units_for_tokens

pytestmark = pytest.mark.slow

OPTIONS = TendenciesOptions(simulations=20, count_permutations=99)
TYPES = 300


def documents(rng, count, types=TYPES, tokens=(30, 90)):
    """Simulate counts of documents from one law of words, each with its own favourite words."""
    law = np.where(np.arange(TYPES) < types, 1 / np.arange(1, TYPES + 1), 0)
    rows = []
    for _ in range(count):
        weights = law * np.where(rng.random(TYPES) < 0.03, 10, 1)
        rows.append(rng.multinomial(rng.integers(*tokens), weights / weights.sum()))
    return sparse.csr_matrix(np.array(rows, dtype=float))


def compared(reference, candidate, seed=1):
    rows, null = comparison_rows(reference, candidate, OPTIONS, 0.95, seed)
    return {estimate.statistic: estimate for estimate in rows}, null


def test_rarefied_size_is_the_mean_over_all_subsets():
    rng = np.random.default_rng(0)
    present = rng.random((7, 30)) < rng.random(30)
    for size in range(8):
        sizes = [present[list(subset)].any(axis=0).sum() for subset in itertools.combinations(range(7), size)]
        assert rarefied_size(present.sum(axis=0), 7, size) == pytest.approx(np.mean(sizes), abs=1e-9)


def test_rarefied_size_grows_with_the_number_of_documents_also_between_integers():
    presences = np.array([1, 1, 2, 5, 7, 0])
    sizes = [rarefied_size(presences, 7, subset) for subset in np.linspace(0, 7, 50)]
    assert (np.diff(sizes) > 0).all()
    assert sizes[-1] == 5
    assert rarefied_size(presences, 7, 12) == 5
    assert units_for_tokens(50, 10, 200) == 2.5
    assert units_for_tokens(300, 10, 200) == 10


def test_vocabularies_are_compared_at_the_tokens_of_the_smaller_side():
    rng = np.random.default_rng(1)
    small, large = documents(rng, 20), documents(rng, 50)
    rows, _ = compared(large, small)
    back, _ = compared(small, large)
    assert rows["vocabulary_tokens_compared"].value == back["vocabulary_tokens_compared"].value == small.sum()
    assert rows["vocabulary_size_compared"].value == np.count_nonzero(small.sum(axis=0))
    assert back["vocabulary_size_compared"].value < np.count_nonzero(large.sum(axis=0))
    assert rows["vocabulary_size_difference"].value == pytest.approx(-back["vocabulary_size_difference"].value)


@pytest.fixture(scope="module")
def unequal():
    """Compare 60 with 150 documents of one distribution, and 150 with 60, many times."""
    rng = np.random.default_rng(2)
    comparisons = []
    for run in range(30):
        sizes = (60, 150) if run % 2 else (150, 60)
        candidate, reference = (documents(rng, size) for size in sizes)
        comparisons.append(compared(reference, candidate, seed=run)[0])
    return comparisons


@pytest.mark.parametrize("statistic", ["vocabulary_size_difference", "zipf_s_difference"])
def test_differences_of_unequal_collections_of_one_distribution(unequal, statistic):
    value, low, high, p = np.array([astuple(rows[statistic])[1:] for rows in unequal]).T
    for order in (0, 1):  # each order of sizes by itself; otherwise opposite biases would cancel
        values = value[order::2]
        assert abs(values.mean()) < 3.5 * values.std() / np.sqrt(len(values))
    assert np.mean(p <= 0.1) < 0.1 + 3 * np.sqrt(0.09 / len(p))
    assert 0.35 < p.mean() < 0.68
    assert np.mean((low <= 0) & (high >= 0)) > 0.88


def test_intervals_of_distances_hold_what_the_distances_are_on_average(unequal):
    for statistic in ("zipf_d_reference", "zipf_d_empirical", "tvd_sup", "tvd_half_l1"):
        value, low, high, _ = np.array([astuple(rows[statistic])[1:] for rows in unequal]).T
        means = np.array([value[0::2].mean(), value[1::2].mean()])[np.arange(len(value)) % 2]
        assert np.mean((low <= means) & (means <= high)) > 0.88, statistic


def test_the_half_width_of_a_distance_is_the_widest_of_those_that_may_be_it():
    # The largest distance is precise, the second about as large and imprecise; a third one is much smaller.
    assert _half_of_larger(np.array([0.10, 0.098]), np.array([0.001, 0.006])) == 0.006
    assert _half_of_larger(np.array([0.10, 0.05]), np.array([0.001, 0.006])) == 0.001
    assert np.isnan(_half_of_larger(np.array([0.10, np.nan]), np.array([0.001, np.nan])))


@pytest.mark.parametrize("sizes", [(60, 150), (150, 60)])
@pytest.mark.parametrize("richer", ["candidate", "reference"])
def test_a_richer_collection_is_detected_whatever_the_sizes(sizes, richer):
    rng = np.random.default_rng(3)
    types = (TYPES, 150) if richer == "candidate" else (150, TYPES)
    candidate, reference = (documents(rng, size, count) for size, count in zip(sizes, types, strict=True))
    rows, _ = compared(reference, candidate)
    sign = 1 if richer == "candidate" else -1
    assert rows["vocabulary_size_difference"].p_value == 0.01
    assert rows["vocabulary_size_difference"].value * sign > 0
    assert rows["zipf_s_difference"].p_value == 0.01
    assert rows["zipf_s_difference"].value * sign < 0  # the richer, the flatter


def test_halves_of_documents_with_the_same_words_do_not_differ():
    # Twice as many documents of half the length: as many tokens from the same law, without favourite words.
    rng = np.random.default_rng(4)
    law = 1 / np.arange(1, TYPES + 1)
    sides = [rng.multinomial(size, law / law.sum(), count) for size, count in ((40, 120), (80, 60))]
    rows, _ = compared(*(sparse.csr_matrix(counts.astype(float)) for counts in sides))
    difference = rows["vocabulary_size_difference"]
    assert difference.ci_low < 0 < difference.ci_high
    assert abs(difference.value) < 15
