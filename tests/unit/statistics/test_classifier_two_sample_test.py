"""How well documents of two samples are told apart: against brute force, and known truth."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from macroscope.statistics.classifier_two_sample_test import (
    FEWEST,
    FOLDS,
    DocumentFeatures,
    auc,
    divide,
    judge,
    smallest_auc,
    two_sample_test,
)
from macroscope.statistics.logistic import fit_logistic
from macroscope.statistics.permutation_groups import group_labels


def features(numbers, prefix, bags=()):
    numbers = np.atleast_2d(np.asarray(numbers, float))
    return DocumentFeatures(pd.DataFrame({"id": [f"{prefix}{i}" for i in range(len(numbers))]}), numbers, bags)


def told(first, second, seed=0):
    return two_sample_test(first, second, 0.95, seed)[0][1:]


@pytest.mark.parametrize("sizes", [(60, 60), (20, 90)])
def test_logistic_regression_is_that_of_a_peer(sizes):
    rng = np.random.default_rng(0)
    labels = np.repeat([0.0, 1.0], sizes)
    features = rng.normal(size=(len(labels), 4)) + 0.8 * labels[:, None]
    intercept, weights = fit_logistic(features, labels, 1.0)
    peer = LogisticRegression(C=1.0, class_weight="balanced", tol=1e-10, max_iter=10_000).fit(features, labels)
    np.testing.assert_allclose([intercept, *weights], [*peer.intercept_, *peer.coef_[0]], atol=1e-5)


def test_logistic_regression_of_classes_that_are_apart_is_finite():
    features = np.array([[-1.0], [-2.0], [1.0], [2.0]])
    intercept, weights = fit_logistic(features, np.array([0.0, 0.0, 1.0, 1.0]))
    assert np.isfinite([intercept, *weights]).all()
    assert weights[0] > 0


def test_auc_within_folds_is_the_share_of_pairs():
    rng = np.random.default_rng(1)
    odds = rng.integers(0, 6, 40).astype(float)  # with ties
    odds[:3] = np.nan
    folds = rng.integers(0, 3, 40)
    labels = np.repeat([0, 1], [25, 15])
    value, influence = auc(odds, folds, 25)
    wins = pairs = 0.0
    for i in range(25):
        for j in range(25, 40):
            if folds[i] == folds[j] and np.isfinite(odds[[i, j]]).all():
                wins += (odds[j] > odds[i]) + 0.5 * (odds[j] == odds[i])
                pairs += 1
    assert value == pytest.approx(wins / pairs)
    assert influence.sum() == pytest.approx(0, abs=1e-12)
    one = auc(odds, np.zeros(40, int), 25)[0]
    known = np.isfinite(odds)
    assert one == pytest.approx(roc_auc_score(labels[known], odds[known]))


def test_influence_gives_the_variance_of_delong():
    rng = np.random.default_rng(2)
    odds = np.concatenate([rng.normal(size=30), rng.normal(1, 1, 50)])
    value, influence = auc(odds, np.zeros(80, int), 30)
    above = odds[30:][None, :] > odds[:30][:, None]
    of_first, of_second = above.mean(axis=1), above.mean(axis=0)
    expected = of_first.var() / 30 + of_second.var() / 50
    assert (influence**2).sum() == pytest.approx(expected)
    assert value == pytest.approx(above.mean())


def test_no_document_is_judged_by_what_was_learned_from_its_group_or_from_later_folds():
    """Labels of the last fold change nothing in the judgements of those before it."""
    rng = np.random.default_rng(3)
    first, second = features(rng.normal(size=(60, 1)), "a"), features(rng.normal(1, 1, (60, 1)), "b")
    judged = judge(first, second, group_labels(first.keys, second.keys), 7)
    last = judged.folds[:, 0] == FOLDS - 1
    other = features(np.where(last[60:, None], 100.0, second.numbers), "b")
    again = judge(first, other, group_labels(first.keys, other.keys), 7)
    known = ~last & np.isfinite(judged.log_odds[:, 0])
    np.testing.assert_allclose(again.log_odds[known, 0], judged.log_odds[known, 0])
    assert known.sum() > 50


def test_partners_are_in_one_fold():
    group = np.concatenate([np.arange(40), np.arange(40)])
    folds = divide(group, np.repeat([0.0, 1.0], 40), 10, np.random.default_rng(0))
    np.testing.assert_array_equal(folds[:40], folds[40:])
    assert np.bincount(folds).max() - np.bincount(folds).min() <= 2


@pytest.mark.parametrize("shift", [1.0, 2.0])
def test_a_shift_of_normal_scores_has_its_closed_form(shift):
    rng = np.random.default_rng(4)
    value, low, high, p = told(
        features(rng.normal(size=(2000, 1)), "a"), features(rng.normal(shift, 1, (2000, 1)), "b")
    )
    assert value == pytest.approx(norm.cdf(shift / np.sqrt(2)), abs=0.015)
    assert low < norm.cdf(shift / np.sqrt(2)) < high
    assert p < 1e-6


def test_a_wider_spread_is_told_apart_though_the_means_are_one():
    rng = np.random.default_rng(5)
    value, low, _, _ = told(features(rng.normal(size=(600, 1)), "a"), features(rng.normal(0, 3, (600, 1)), "b"))
    # The best judge looks at |x|: P(|X| < |Y|) = 2 / pi arctan(3).
    assert value == pytest.approx(2 / np.pi * np.arctan(3), abs=0.04)
    assert low > 0.5


def test_words_are_told_apart_where_no_number_is():
    rng = np.random.default_rng(6)
    words = np.array(["the", "of", "and", "cat", "dog"])
    texts = [
        [list(rng.choice(words, 40, p=p)) for _ in range(150)]
        for p in ([0.4, 0.2, 0.2, 0.15, 0.05], [0.4, 0.2, 0.2, 0.05, 0.15])
    ]
    first, second = (features(np.zeros((150, 1)), name, (bags,)) for name, bags in zip("ab", texts, strict=True))
    assert told(first, second)[0] > 0.9
    same = features(
        np.zeros((150, 1)), "c", ([list(rng.choice(words, 40, p=[0.4, 0.2, 0.2, 0.15, 0.05])) for _ in range(150)],)
    )
    _, low, high, _ = told(first, same)
    assert low < 0.5 < high


def test_what_is_missing_is_seen():
    rng = np.random.default_rng(7)
    numbers = rng.normal(size=(200, 1))
    numbers[:150] = np.nan
    assert told(features(rng.normal(size=(200, 1)), "a"), features(numbers, "b"))[0] == pytest.approx(
        0.5 + 0.75 / 2, abs=0.05
    )


def test_texts_that_are_all_apart_have_an_interval_all_the_same():
    value, low, high, p = told(features(np.zeros((12, 1)), "a"), features(np.ones((12, 1)), "b"))
    assert (value, high) == (1, 1)
    assert low < 0.9
    assert 0 < p < 0.05


def test_too_few_texts_have_no_value():
    rows = two_sample_test(features(np.zeros((FEWEST - 1, 1)), "a"), features(np.ones((50, 1)), "b"), 0.95, 0)
    assert np.isnan([row[1] for row in rows]).all()


def test_many_numbers_are_reduced_to_the_directions_that_differ_most():
    rng = np.random.default_rng(8)
    first, second = rng.normal(size=(2, 150, 200))
    first[:, :3] *= 10
    second[:, :3] = 10 * (second[:, :3] + 2)
    assert told(features(first, "a"), features(second, "b"))[0] > 0.85


def test_the_smallest_difference_is_found_four_times_in_five_by_a_judge_that_knows():
    rng = np.random.default_rng(9)
    n = 100
    smallest = smallest_auc(n, n)
    shift = norm.ppf(smallest) * np.sqrt(2)
    judged = int(n * 0.7)
    found = []
    for _ in range(600):
        x, y = rng.normal(size=judged), rng.normal(shift, 1, judged)
        value = (y[:, None] > x[None, :]).mean()
        found.append((value - 0.5) / np.sqrt((2 * judged + 1) / (12 * judged**2)) > norm.isf(0.05))
    assert np.mean(found) == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize(("sizes", "partners"), [((60, 60), False), ((20, 100), False), ((50, 50), True)])
def test_texts_of_one_kind_are_seldom_called_unlike(sizes, partners):
    rng = np.random.default_rng(10)
    called = []
    for run in range(150):
        first, second = rng.normal(size=(sizes[0], 3)), rng.normal(size=(sizes[1], 3))
        if partners:
            second = 0.8 * first + 0.6 * second
        named = "aa" if partners else "ab"
        _, low, _, _ = told(features(first, named[0]), features(second, named[1]), run)
        called.append(low > 0.5)
    assert np.mean(called) <= 0.06


def test_few_texts_against_many_keep_small_levels():
    """The variance is that of the few, and as little is known of it."""
    rng = np.random.default_rng(11)
    p_values = [
        told(features(rng.normal(size=(7, 2)), "a"), features(rng.normal(size=(90, 2)), "b"), n)[3] for n in range(500)
    ]
    assert np.mean(np.array(p_values) <= 0.01) <= 0.016


def test_documents_that_all_belong_together_have_no_value():
    chain = pd.DataFrame({"id": [f"{i}" for i in range(5)], "opening": [f"o{i}" for i in range(5)]})
    shifted = chain.assign(opening=[f"o{(i + 1) % 5}" for i in range(5)])
    rows = two_sample_test(
        DocumentFeatures(chain, np.zeros((5, 1))), DocumentFeatures(shifted, np.ones((5, 1))), 0.95, 0
    )
    assert np.isnan([row[1] for row in rows]).all()


def test_a_number_that_is_infinite_or_missing_everywhere_is_no_error():
    numbers = np.column_stack([np.full(30, np.inf), np.full(30, np.nan), np.arange(30.0)])
    value, low, high, _ = told(features(numbers, "a"), features(numbers, "b"))
    assert 0 <= low <= value <= high <= 1
