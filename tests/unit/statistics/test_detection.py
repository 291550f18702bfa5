"""Metrics of detection: scikit-learn, brute force over pairs, and intervals over clustered stories."""

import numpy as np
import pytest
from sklearn import metrics

from macroscope.statistics.detection import (
    METRICS,
    Decisions,
    _auc,
    _Ranked,
    auc,
    best_threshold,
    detection_metrics,
    roc_curve,
)
from macroscope.statistics.latent import Resampling

RESAMPLING = Resampling(resamples=50)


def decisions(stories=40, places=4, seed=0, digits=None, alike=1.0, signal=1.0, rng=None):
    """Decisions whose scores have a part that all of a story have in common; rounded, so that some are equal."""
    rng = rng or np.random.default_rng(seed)
    labels = rng.random((stories, places)) < np.clip(rng.beta(1, 2, (stories, 1)), 0, 1)
    scores = signal * labels + alike * rng.normal(size=(stories, 1)) + rng.normal(size=(stories, places))
    if digits is not None:
        scores = scores.round(digits)
    numbers = np.repeat(rng.permutation(stories) * 3, places)
    return Decisions(numbers, labels.ravel(), scores.ravel())


def pairs(some, weights=None):
    """The chance that a wrong position scores higher than a right one, pair by pair, ties counting half."""
    weights = np.ones(len(some)) if weights is None else weights
    total = above = 0.0
    for i in np.flatnonzero(some.labels):
        for j in np.flatnonzero(~some.labels):
            weight = weights[i] * weights[j]
            total += weight
            above += weight * (0.5 if some.scores[i] == some.scores[j] else some.scores[i] > some.scores[j])
    return above / total


@pytest.mark.parametrize("digits", [None, 1, 0])
@pytest.mark.parametrize("threshold", [-0.5, 0.0, 1.0, 2.5])
def test_values_are_those_of_scikit_learn(digits, threshold):
    some = decisions(digits=digits)
    table = detection_metrics(some, threshold, RESAMPLING).set_index("metric")["value"]
    said = some.scores >= threshold
    assert table["accuracy"] == pytest.approx(metrics.accuracy_score(some.labels, said))
    assert table["precision"] == pytest.approx(metrics.precision_score(some.labels, said))
    assert table["recall"] == pytest.approx(metrics.recall_score(some.labels, said))
    assert table["f1"] == pytest.approx(metrics.f1_score(some.labels, said))
    assert table["auc"] == pytest.approx(metrics.roc_auc_score(some.labels, some.scores))
    assert tuple(table.index) == METRICS


@pytest.mark.parametrize("digits", [None, 0])
def test_auc_of_weighted_decisions_is_that_of_all_pairs(digits):
    some = decisions(8, digits=digits)
    weights = np.random.default_rng(1).integers(0, 4, (5, len(some))).astype(float)
    found = _auc(_Ranked(some), weights)
    assert found == pytest.approx([pairs(some, row) for row in weights])
    repeated = np.repeat(np.arange(len(some)), weights[0].astype(int))
    assert found[0] == pytest.approx(metrics.roc_auc_score(some.labels[repeated], some.scores[repeated]))
    assert auc(some) == pytest.approx(pairs(some))


@pytest.mark.parametrize("digits", [None, 1, 0])
def test_the_curve_is_that_of_scikit_learn_and_auc_its_area(digits):
    some = decisions(digits=digits)
    found = roc_curve(some)
    false, true, thresholds = metrics.roc_curve(some.labels, some.scores, drop_intermediate=False)
    assert found["false_positive_rate"].to_numpy() == pytest.approx(false)
    assert found["true_positive_rate"].to_numpy() == pytest.approx(true)
    assert found["threshold"].to_numpy() == pytest.approx(thresholds)
    area = np.trapezoid(found["true_positive_rate"], found["false_positive_rate"])
    assert area == pytest.approx(auc(some))


@pytest.mark.parametrize("digits", [None, 1, 0])
def test_the_best_threshold_has_the_largest_f1_and_is_the_highest_of_these(digits):
    for seed in range(20):
        some = decisions(10, seed=seed, digits=digits)
        f1 = {score: metrics.f1_score(some.labels, some.scores >= score) for score in np.unique(some.scores)}
        best = max(f1.values())
        assert best_threshold(some) == max(score for score, value in f1.items() if value > best - 1e-12)


def test_equal_scores_say_nothing():
    some = Decisions(np.arange(6), np.array([True, False] * 3), np.zeros(6))
    assert auc(some) == 0.5
    assert len(roc_curve(some)) == 2
    assert best_threshold(some) == 0


@pytest.mark.parametrize("label", [True, False])
def test_without_one_kind_some_metrics_are_undefined(label):
    some = Decisions(np.array([0, 0, 1]), np.full(3, label), np.array([0.1, 0.5, 0.9]))
    table = detection_metrics(some, 0.4, RESAMPLING).set_index("metric")
    assert np.isnan(table.loc["auc"]).all()
    assert table.at["accuracy", "value"] == pytest.approx(2 / 3 if label else 1 / 3)
    assert np.isnan(table.at["recall", "value"]) == (not label)
    assert table.at["precision", "value"] == label
    if not label:
        assert np.isnan(best_threshold(some))


def test_a_threshold_above_all_calls_nothing_wrong():
    table = detection_metrics(decisions(), np.inf, RESAMPLING).set_index("metric")["value"]
    assert np.isnan(table["precision"])
    assert (table["recall"], table["f1"]) == (0, 0)
    assert np.isnan(detection_metrics(decisions(), np.nan, RESAMPLING).set_index("metric")["value"]["precision"])


def test_no_decisions_are_no_error():
    nothing = Decisions(np.empty(0, dtype=np.int64), np.empty(0, dtype=bool), np.empty(0))
    assert np.isnan(auc(nothing))
    assert len(roc_curve(nothing)) == 1
    assert np.isnan(best_threshold(nothing))


def test_numbers_of_stories_and_their_order_change_nothing():
    some = decisions()
    order = np.random.default_rng(3).permutation(len(some))
    other = Decisions(some.stories[order], some.labels[order], some.scores[order])
    first, second = (detection_metrics(d, 0.5, RESAMPLING) for d in (some, other))
    assert first.drop(columns="metric").to_numpy() == pytest.approx(second.drop(columns="metric").to_numpy())


def test_stories_are_resampled_and_not_decisions():
    """Ten copies of a story's decisions are no more evidence than one: intervals are as wide."""
    some = decisions(60, seed=5)
    copied = Decisions(*(np.repeat(values, 10) for values in (some.stories, some.labels, some.scores)))
    wide = Resampling(resamples=1000)
    first, second = (detection_metrics(d, 0.5, wide).set_index("metric") for d in (some, copied))
    for table in (first, second):
        table["width"] = table["ci_high"] - table["ci_low"]
    assert second["value"].to_numpy() == pytest.approx(first["value"].to_numpy())
    assert (second["width"] / first["width"]).to_numpy() == pytest.approx(np.ones(5), abs=0.1)


def test_intervals_hold_the_truth_where_decisions_of_a_story_are_alike():
    """Three hundred runs of 80 stories: were decisions resampled, an interval of 95 % would hold it in two of three."""
    rng = np.random.default_rng(7)
    whole = decisions(60_000, rng=rng, alike=2.0, signal=1.5)
    truth = detection_metrics(whole, 0.5, Resampling(resamples=1)).set_index("metric")["value"]
    held = []
    for _ in range(300):
        table = detection_metrics(
            decisions(80, rng=rng, alike=2.0, signal=1.5), 0.5, Resampling(resamples=300)
        ).set_index("metric")
        held.append((table["ci_low"] <= truth) & (truth <= table["ci_high"]))
    share = np.mean(held, axis=0)
    assert (share > 0.91).all()
    assert (share < 0.985).all()
