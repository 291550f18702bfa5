"""Classifier two-sample test: against brute force, and known truth."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from macroscope.statistics.classifier_two_sample_test import (
    FEWEST_DOCUMENTS,
    FOLDS,
    cross_fit_log_odds,
    minimum_detectable_auc,
    two_sample_test,
    within_fold_auc,
)
from macroscope.statistics.document_classifier import assign_folds, fit_logistic, label_documents
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.document_groups import group_labels


def features(numbers, prefix, bags=()):
    numbers = np.atleast_2d(np.asarray(numbers, float))
    return DocumentFeatures(pd.DataFrame({"id": [f"{prefix}{i}" for i in range(len(numbers))]}), numbers, bags)


def c2st(first, second, seed=0):
    return two_sample_test(first, second, 0.95, seed)[0]


@pytest.mark.parametrize("sizes", [(60, 60), (20, 90)])
def test_logistic_regression_agrees_with_scikit_learn(sizes):
    rng = np.random.default_rng(0)
    labels = np.repeat([0.0, 1.0], sizes)
    features = rng.normal(size=(len(labels), 4)) + 0.8 * labels[:, None]
    intercept, weights = fit_logistic(features, labels, 1.0)
    expected = LogisticRegression(C=1.0, class_weight="balanced", tol=1e-10, max_iter=10_000).fit(features, labels)
    np.testing.assert_allclose([intercept, *weights], [*expected.intercept_, *expected.coef_[0]], atol=1e-5)


def test_logistic_regression_of_separated_classes_is_finite():
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
    value, influence = within_fold_auc(odds, folds, 25)
    wins = pairs = 0.0
    for i in range(25):
        for j in range(25, 40):
            if folds[i] == folds[j] and np.isfinite(odds[[i, j]]).all():
                wins += (odds[j] > odds[i]) + 0.5 * (odds[j] == odds[i])
                pairs += 1
    assert value == pytest.approx(wins / pairs)
    assert influence.sum() == pytest.approx(0, abs=1e-12)
    one_fold = within_fold_auc(odds, np.zeros(40, int), 25)[0]
    is_scored = np.isfinite(odds)
    assert one_fold == pytest.approx(roc_auc_score(labels[is_scored], odds[is_scored]))


def test_influence_gives_the_variance_of_delong():
    rng = np.random.default_rng(2)
    odds = np.concatenate([rng.normal(size=30), rng.normal(1, 1, 50)])
    value, influence = within_fold_auc(odds, np.zeros(80, int), 30)
    above = odds[30:][None, :] > odds[:30][:, None]
    of_first, of_second = above.mean(axis=1), above.mean(axis=0)
    expected = of_first.var() / 30 + of_second.var() / 50
    assert (influence**2).sum() == pytest.approx(expected)
    assert value == pytest.approx(above.mean())


def test_documents_are_scored_by_classifiers_trained_on_earlier_folds():
    """Documents of the last fold do not change the log odds of those before it."""
    rng = np.random.default_rng(3)
    first, second = features(rng.normal(size=(60, 1)), "a"), features(rng.normal(1, 1, (60, 1)), "b")
    odds = cross_fit_log_odds(label_documents(first, second, group_labels(first.keys, second.keys)), 7)
    last = odds.folds[:, 0] == FOLDS - 1
    changed = features(np.where(last[60:, None], 100.0, second.numbers), "b")
    again = cross_fit_log_odds(label_documents(first, changed, group_labels(first.keys, changed.keys)), 7)
    is_compared = ~last & np.isfinite(odds.log_odds[:, 0])
    np.testing.assert_allclose(again.log_odds[is_compared, 0], odds.log_odds[is_compared, 0])
    assert is_compared.sum() > 50


def test_documents_with_equal_features_are_tied():
    rng = np.random.default_rng(3)
    first, second = (
        features(rng.binomial(9, share, (size, 1)) / 9, name) for share, size, name in ((0.1, 60, "a"), (0.2, 120, "b"))
    )
    documents = label_documents(first, second, group_labels(first.keys, second.keys))
    odds = cross_fit_log_odds(documents, 0)
    values = np.concatenate([first.numbers, second.numbers])[:, 0]
    table = pd.DataFrame({"odds": odds.log_odds[:, 0], "fold": odds.folds[:, 0], "value": values}).dropna()
    assert (table.groupby(["fold", "value"])["odds"].nunique() == 1).all()


def test_paired_documents_are_in_one_fold():
    group = np.concatenate([np.arange(40), np.arange(40)])
    folds = assign_folds(group, np.repeat([0.0, 1.0], 40), 10, np.random.default_rng(0))
    np.testing.assert_array_equal(folds[:40], folds[40:])
    assert np.bincount(folds).max() - np.bincount(folds).min() <= 2


@pytest.mark.parametrize("shift", [1.0, 2.0])
def test_a_shift_of_normal_scores_has_its_closed_form(shift):
    rng = np.random.default_rng(4)
    estimate = c2st(features(rng.normal(size=(2000, 1)), "a"), features(rng.normal(shift, 1, (2000, 1)), "b"))
    assert estimate.value == pytest.approx(norm.cdf(shift / np.sqrt(2)), abs=0.015)
    assert estimate.ci_low < norm.cdf(shift / np.sqrt(2)) < estimate.ci_high
    assert estimate.p_value < 1e-6


def test_a_wider_spread_with_equal_means_is_detected():
    rng = np.random.default_rng(5)
    estimate = c2st(features(rng.normal(size=(600, 1)), "a"), features(rng.normal(0, 3, (600, 1)), "b"))
    # The best classifier uses |x|: P(|X| < |Y|) = 2 / pi arctan(3).
    assert estimate.value == pytest.approx(2 / np.pi * np.arctan(3), abs=0.04)
    assert estimate.ci_low > 0.5


@pytest.mark.slow
def test_differences_in_words_are_detected_without_numeric_features():
    rng = np.random.default_rng(6)
    words = np.array(["the", "of", "and", "cat", "dog"])
    texts = [
        [list(rng.choice(words, 40, p=p)) for _ in range(150)]
        for p in ([0.4, 0.2, 0.2, 0.15, 0.05], [0.4, 0.2, 0.2, 0.05, 0.15])
    ]
    first, second = (features(np.zeros((150, 1)), name, (bags,)) for name, bags in zip("ab", texts, strict=True))
    assert c2st(first, second).value > 0.9
    same = features(
        np.zeros((150, 1)), "c", ([list(rng.choice(words, 40, p=[0.4, 0.2, 0.2, 0.15, 0.05])) for _ in range(150)],)
    )
    estimate = c2st(first, same)
    assert estimate.ci_low < 0.5 < estimate.ci_high


def test_missing_features_are_detected():
    rng = np.random.default_rng(7)
    numbers = rng.normal(size=(200, 1))
    numbers[:150] = np.nan
    assert c2st(features(rng.normal(size=(200, 1)), "a"), features(numbers, "b")).value == pytest.approx(
        0.5 + 0.75 / 2, abs=0.05
    )


def test_separated_texts_have_an_interval():
    estimate = c2st(features(np.zeros((12, 1)), "a"), features(np.ones((12, 1)), "b"))
    assert (estimate.value, estimate.ci_high) == (1, 1)
    assert estimate.ci_low < 0.9
    assert 0 < estimate.p_value < 0.05


def test_too_few_texts_are_undefined():
    estimates = two_sample_test(
        features(np.zeros((FEWEST_DOCUMENTS - 1, 1)), "a"), features(np.ones((50, 1)), "b"), 0.95, 0
    )
    assert np.isnan([estimate.value for estimate in estimates]).all()


def test_many_features_are_reduced_to_principal_components():
    rng = np.random.default_rng(8)
    first, second = rng.normal(size=(2, 150, 200))
    first[:, :3] *= 10
    second[:, :3] = 10 * (second[:, :3] + 2)
    assert c2st(features(first, "a"), features(second, "b")).value > 0.85


def test_the_minimum_detectable_auc_has_a_power_of_80_percent_with_the_best_classifier():
    rng = np.random.default_rng(9)
    n = 100
    smallest = minimum_detectable_auc(n, n)
    shift = norm.ppf(smallest) * np.sqrt(2)
    n_scored = int(n * 0.7)
    detected = []
    for _ in range(600):
        x, y = rng.normal(size=n_scored), rng.normal(shift, 1, n_scored)
        value = (y[:, None] > x[None, :]).mean()
        detected.append((value - 0.5) / np.sqrt((2 * n_scored + 1) / (12 * n_scored**2)) > norm.isf(0.05))
    assert np.mean(detected) == pytest.approx(0.8, abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "is_paired"), [((60, 60), False), ((20, 100), False), ((50, 50), True)])
def test_texts_of_one_distribution_are_rarely_detected(sizes, is_paired):
    rng = np.random.default_rng(10)
    detected = []
    for run in range(150):
        first, second = rng.normal(size=(sizes[0], 3)), rng.normal(size=(sizes[1], 3))
        if is_paired:
            second = 0.8 * first + 0.6 * second
        prefixes = "aa" if is_paired else "ab"
        detected.append(c2st(features(first, prefixes[0]), features(second, prefixes[1]), run).ci_low > 0.5)
    assert np.mean(detected) <= 0.06


@pytest.mark.slow
def test_few_texts_against_many_keep_small_levels():
    """The variance is that of the small sample, with few degrees of freedom."""
    rng = np.random.default_rng(11)
    p_values = [
        c2st(features(rng.normal(size=(7, 2)), "a"), features(rng.normal(size=(90, 2)), "b"), n).p_value
        for n in range(500)
    ]
    assert np.mean(np.array(p_values) <= 0.01) <= 0.016


def test_documents_of_one_group_are_undefined():
    chain = pd.DataFrame({"id": [f"{i}" for i in range(5)], "opening": [f"o{i}" for i in range(5)]})
    shifted = chain.assign(opening=[f"o{(i + 1) % 5}" for i in range(5)])
    estimates = two_sample_test(
        DocumentFeatures(chain, np.zeros((5, 1))), DocumentFeatures(shifted, np.ones((5, 1))), 0.95, 0
    )
    assert np.isnan([estimate.value for estimate in estimates]).all()


def test_features_that_are_infinite_or_missing_everywhere_are_no_error():
    numbers = np.column_stack([np.full(30, np.inf), np.full(30, np.nan), np.arange(30.0)])
    estimate = c2st(features(numbers, "a"), features(numbers, "b"))
    assert 0 <= estimate.ci_low <= estimate.value <= estimate.ci_high <= 1
