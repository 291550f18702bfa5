"""Diversity of k texts: closed forms of the Vendi score, NoveltyBench's partition, expectations over sets."""

from itertools import combinations

import numpy as np
import pytest

from macroscope.statistics.diversity import (
    DISTINCT,
    VENDI,
    calibrate_threshold,
    find_first_of_classes,
    jackknife_sets,
    make_sets,
    measure_sets,
    vendi_score,
)
from macroscope.statistics.jackknife import estimate_difference, estimate_jackknifed


def unit_vectors(rng, number, width=16):
    vectors = rng.normal(size=(number, width))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def partition(is_similar):
    """The loop of NoveltyBench's `partition_responses`: each text without a class collects later ones like it."""
    classes = [-1] * len(is_similar)
    number = 0
    for i in range(len(is_similar)):
        if classes[i] < 0:
            classes[i] = number
            for j in range(i + 1, len(is_similar)):
                if classes[j] < 0 and is_similar[i, j]:
                    classes[j] = number
            number += 1
    return number


def test_vendi_scores_have_their_closed_forms():
    assert vendi_score(np.ones((7, 7))) == pytest.approx(1)
    assert vendi_score(np.eye(7)) == pytest.approx(7)
    # Two groups of equal texts, orthogonal to each other: exp(H(5/7, 2/7)).
    groups = np.kron(np.eye(2), np.ones((5, 5)))[:7, :7]
    assert vendi_score(groups) == pytest.approx(np.exp(-5 / 7 * np.log(5 / 7) - 2 / 7 * np.log(2 / 7)))
    # The package vendi-score 0.0.3, `vendi.score_K` of this matrix.
    assert vendi_score(np.array([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]])) == pytest.approx(2.1573, abs=1e-4)


def test_the_partition_is_that_of_noveltybench():
    rng = np.random.default_rng(0)
    similar = np.array([(v := unit_vectors(rng, 10, 3)) @ v.T for _ in range(50)]) > 0.6
    counts = find_first_of_classes(similar).sum(axis=1)
    assert counts.tolist() == [partition(each) for each in similar]
    assert len(set(counts.tolist())) > 2


def test_sets_have_one_text_of_a_part_and_are_of_one_stratum():
    rng = np.random.default_rng(1)
    prompts = rng.integers(0, 6, 60)
    systems = rng.integers(0, 4, 60)
    orders, strata = make_sets(prompts, systems, prompts, 3, 40, rng)
    for row, stratum in zip(orders, strata, strict=True):
        texts = row[row >= 0]
        assert set(prompts[texts]) == {stratum}
        assert len(set(systems[texts])) == len(texts)
    assert set(orders[orders >= 0]) == set(range(60))  # every text is in some set


def test_few_texts_of_a_prompt_are_in_the_sets_up_to_their_number():
    orders, _ = make_sets(
        np.array([0, 0, 1, 1, 1]), np.arange(5), np.array([0, 0, 1, 1, 1]), 3, 2, np.random.default_rng(2)
    )
    values = measure_sets(np.eye(5, dtype=np.float32), orders, 0.5)
    for name in (DISTINCT, VENDI):
        assert values[name].tolist() == [[1, 2, pytest.approx(np.nan, nan_ok=True)]] * 2 + [[1, 2, 3]] * 2


def test_the_mean_over_sets_is_that_over_all_pairs():
    """For k = 2, texts are one or two classes: the expectation is 1 plus the share of pairs that are different."""
    rng = np.random.default_rng(3)
    vectors = unit_vectors(rng, 24, 4)
    prompts = np.arange(24)
    orders, strata = make_sets(np.zeros(24, dtype=int), prompts, prompts, 2, 400, rng)
    values = measure_sets(vectors, orders, 0.5)[DISTINCT][:, 1]
    pairs = 1 + np.mean([vectors[i] @ vectors[j] <= 0.5 for i, j in combinations(range(24), 2)])
    term = jackknife_sets(values, orders, strata, prompts, (1, 2))
    assert term.value == pytest.approx(pairs, abs=0.02)
    without = [
        1 + np.mean([vectors[i] @ vectors[j] <= 0.5 for i, j in combinations(set(range(24)) - {u}, 2)])
        for u in range(24)
    ]
    assert term.values[1:] == pytest.approx(without, abs=0.03)


def test_prompts_with_their_sets_are_left_out_together():
    values, strata, units = np.array([1.0, 2.0, 3.0, 5.0]), np.array([0, 0, 1, 2]), np.array([0, 0, 0, 0, 1, 1, 2, 2])
    orders = np.arange(8).reshape(4, 2)
    term = jackknife_sets(values, orders, strata, units, (1, 5))
    assert term.values.tolist() == pytest.approx([(1.5 + 3 + 5) / 3, 4, (1.5 + 5) / 2, (1.5 + 3) / 2])
    assert np.isnan(estimate_jackknifed("x", term, 0.95).ci_low)  # three prompts


def test_equal_texts_have_an_interval_and_equal_collections_no_difference():
    vectors, prompts = np.ones((20, 1), dtype=np.float32), np.arange(20)
    orders, strata = make_sets(np.zeros(20, dtype=int), prompts, prompts, 4, 20, np.random.default_rng(4))
    for name, values in measure_sets(vectors, orders, 0.5).items():
        term = jackknife_sets(values[:, 3], orders, strata, prompts, (1, 4))
        estimate = estimate_jackknifed(name, term, 0.95)
        assert (estimate.value, estimate.ci_low) == (1, 1)
        assert 1.2 < estimate.ci_high < 2  # Wilson's end for no success among 20
        assert estimate_difference(name, term, term, 0.95).p_value == 1


def test_the_threshold_is_exceeded_by_a_twentieth_of_the_pairs_with_prompts_counting_equally():
    rng = np.random.default_rng(5)
    prompts = np.repeat(np.arange(200), rng.integers(2, 5, 200))
    vectors = unit_vectors(rng, len(prompts), 4)
    threshold = calibrate_threshold(vectors, prompts)
    shares = [np.mean([a @ b > threshold for a, b in combinations(vectors[prompts == p], 2)]) for p in range(200)]
    assert np.mean(shares) == pytest.approx(0.05, abs=0.005)
    assert calibrate_threshold(vectors, np.arange(len(prompts))) is None
