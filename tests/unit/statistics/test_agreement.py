"""Krippendorff's alpha against the published worked example, its definition by brute force, and simulation."""

import itertools

import numpy as np
import pytest
from sklearn import metrics

from macroscope.options import Resampling
from macroscope.statistics.agreement import (
    LEVELS,
    METRICS,
    Decisions,
    _auc,
    _Ranked,
    answer_metrics,
    auc,
    best_threshold,
    detection_metrics,
    krippendorff,
    roc_curve,
)

_ = None
EXAMPLE_C = [  # Krippendorff 2011, section C: four observers, twelve units, missing data
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]


def long(table):
    cells = [(unit, value) for row in table for unit, value in enumerate(row) if value is not None]
    return [unit for unit, _ in cells], [value for _, value in cells]


@pytest.mark.parametrize(("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_published_example(level, published):
    agreement = krippendorff(*long(EXAMPLE_C), level)
    assert agreement.alpha == pytest.approx(published, abs=0.0006)
    assert (agreement.units, agreement.values) == (11, 40)
    assert agreement.low < agreement.alpha < agreement.high <= 1


def test_the_published_example_of_two_observers_and_two_values():
    # Krippendorff 2011, section A: ten units, alpha = 0.095
    table = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
    assert krippendorff(*long(table), "nominal").alpha == pytest.approx(0.095, abs=0.0006)


def by_definition(units, values, level):
    """Mean difference within units over that of all pairs of values, pair by pair."""
    by_unit = {}
    for unit, value in zip(units, values, strict=True):
        by_unit.setdefault(unit, []).append(value)
    pairable = [values_of_unit for values_of_unit in by_unit.values() if len(values_of_unit) > 1]
    everything = [value for values_of_unit in pairable for value in values_of_unit]
    count = {value: everything.count(value) for value in everything}

    def difference(a, b):
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(count[value] for value in count if low <= value <= high)
        return 0.0 if a == b else (between - (count[a] + count[b]) / 2) ** 2

    n = len(everything)
    observed = sum(
        difference(a, b) / (len(values_of_unit) - 1)
        for values_of_unit in pairable
        for a, b in itertools.permutations(values_of_unit, 2)
    )
    expected = sum(difference(a, b) for a, b in itertools.permutations(everything, 2))
    return 1 - (observed / n) / (expected / (n * (n - 1)))


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_its_definition(level):
    rng = np.random.default_rng(3)
    for _trial in range(20):
        n = int(rng.integers(6, 40))
        units, values = rng.integers(0, 8, n).tolist(), rng.integers(0, 5, n).tolist()
        agreement = krippendorff(units, values, level)
        if np.isfinite(agreement.alpha):
            assert agreement.alpha == pytest.approx(by_definition(units, values, level))


def test_undefined_alpha_has_a_reason():
    assert krippendorff([1, 2, 3], [0, 1, 0], "nominal").reason == "nothing was judged twice"
    assert krippendorff([1, 1, 2, 2], [1, 1, 1, 1], "nominal").reason == "all values are equal"
    assert krippendorff([1, 1], [0, 1], "nominal").reason == "only one unit was judged twice"
    perfect = krippendorff([1, 1, 2, 2, 3, 3], [0, 0, 1, 1, 0, 0], "nominal")
    assert perfect.alpha == 1
    assert perfect.reason.startswith("fewer than two units show disagreement")


@pytest.mark.slow
def test_the_interval_covers_at_its_level():
    rng = np.random.default_rng(1)
    spread, noise = 1.0, 0.7
    truth = spread**2 / (spread**2 + noise**2)  # interval scale: the intraclass correlation
    hits = 0
    for _run in range(1000):
        ratings = rng.normal(0, spread, 60)[:, None] + rng.normal(0, noise, (60, 3))
        ratings = np.round(ratings, 1)
        units = np.repeat(np.arange(60), 3)
        agreement = krippendorff(units.tolist(), ratings.ravel().tolist(), "interval")
        hits += agreement.low <= truth <= agreement.high
    assert 0.925 <= hits / 1000 <= 0.97


RESAMPLING = Resampling(resamples=50)


def decisions(stories=40, places=4, seed=0, digits=None, story_sd=1.0, signal=1.0, rng=None):
    """Sample decisions whose scores have a part common to a story; rounded, so that some are equal."""
    rng = rng or np.random.default_rng(seed)
    labels = rng.random((stories, places)) < np.clip(rng.beta(1, 2, (stories, 1)), 0, 1)
    scores = signal * labels + story_sd * rng.normal(size=(stories, 1)) + rng.normal(size=(stories, places))
    if digits is not None:
        scores = scores.round(digits)
    numbers = np.repeat(rng.permutation(stories) * 3, places)
    return Decisions(numbers, labels.ravel(), scores.ravel())


def auc_of_pairs(sample, weights=None):
    """Return the probability that a damaged position scores higher than an intact one, over pairs; ties count half."""
    weights = np.ones(len(sample)) if weights is None else weights
    total = above = 0.0
    for i in np.flatnonzero(sample.labels):
        for j in np.flatnonzero(~sample.labels):
            weight = weights[i] * weights[j]
            total += weight
            above += weight * (0.5 if sample.scores[i] == sample.scores[j] else sample.scores[i] > sample.scores[j])
    return above / total


@pytest.mark.parametrize("digits", [None, 1, 0])
@pytest.mark.parametrize("threshold", [-0.5, 0.0, 1.0, 2.5])
def test_values_are_those_of_scikit_learn(digits, threshold):
    sample = decisions(digits=digits)
    table = detection_metrics(sample, threshold, RESAMPLING).set_index("metric")["value"]
    marked = sample.scores >= threshold
    assert table["accuracy"] == pytest.approx(metrics.accuracy_score(sample.labels, marked))
    assert table["precision"] == pytest.approx(metrics.precision_score(sample.labels, marked))
    assert table["recall"] == pytest.approx(metrics.recall_score(sample.labels, marked))
    assert table["f1"] == pytest.approx(metrics.f1_score(sample.labels, marked))
    assert table["auc"] == pytest.approx(metrics.roc_auc_score(sample.labels, sample.scores))
    assert tuple(table.index) == METRICS


@pytest.mark.parametrize("digits", [None, 0])
def test_auc_of_weighted_decisions_is_that_of_all_pairs(digits):
    sample = decisions(8, digits=digits)
    weights = np.random.default_rng(1).integers(0, 4, (5, len(sample))).astype(float)
    values = _auc(_Ranked(sample), weights)
    assert values == pytest.approx([auc_of_pairs(sample, row) for row in weights])
    repeated = np.repeat(np.arange(len(sample)), weights[0].astype(int))
    assert values[0] == pytest.approx(metrics.roc_auc_score(sample.labels[repeated], sample.scores[repeated]))
    assert auc(sample) == pytest.approx(auc_of_pairs(sample))


@pytest.mark.parametrize("digits", [None, 1, 0])
def test_the_curve_is_that_of_scikit_learn_and_auc_its_area(digits):
    sample = decisions(digits=digits)
    curve = roc_curve(sample)
    false, true, thresholds = metrics.roc_curve(sample.labels, sample.scores, drop_intermediate=False)
    assert curve["false_positive_rate"].to_numpy() == pytest.approx(false)
    assert curve["true_positive_rate"].to_numpy() == pytest.approx(true)
    assert curve["threshold"].to_numpy() == pytest.approx(thresholds)
    area = np.trapezoid(curve["true_positive_rate"], curve["false_positive_rate"])
    assert area == pytest.approx(auc(sample))


@pytest.mark.slow
@pytest.mark.parametrize("digits", [None, 1, 0])
def test_the_best_threshold_has_the_largest_f1_and_is_the_highest_of_these(digits):
    for seed in range(20):
        sample = decisions(10, seed=seed, digits=digits)
        f1 = {score: metrics.f1_score(sample.labels, sample.scores >= score) for score in np.unique(sample.scores)}
        best = max(f1.values())
        assert best_threshold(sample) == max(score for score, value in f1.items() if value > best - 1e-12)


def test_equal_scores_are_uninformative():
    sample = Decisions(np.arange(6), np.array([True, False] * 3), np.zeros(6))
    assert auc(sample) == 0.5
    assert len(roc_curve(sample)) == 2
    assert best_threshold(sample) == 0


@pytest.mark.parametrize("label", [True, False])
def test_without_one_class_some_metrics_are_undefined(label):
    sample = Decisions(np.array([0, 0, 1]), np.full(3, label), np.array([0.1, 0.5, 0.9]))
    table = detection_metrics(sample, 0.4, RESAMPLING).set_index("metric")
    assert np.isnan(table.loc["auc"]).all()
    assert table.at["accuracy", "value"] == pytest.approx(2 / 3 if label else 1 / 3)
    assert np.isnan(table.at["recall", "value"]) == (not label)
    assert table.at["precision", "value"] == label
    if not label:
        assert np.isnan(best_threshold(sample))


def test_a_threshold_above_all_scores_marks_no_position():
    table = detection_metrics(decisions(), np.inf, RESAMPLING).set_index("metric")["value"]
    assert np.isnan(table["precision"])
    assert (table["recall"], table["f1"]) == (0, 0)
    assert np.isnan(detection_metrics(decisions(), np.nan, RESAMPLING).set_index("metric")["value"]["precision"])


def test_no_decisions_are_no_error():
    nothing = Decisions(np.empty(0, dtype=np.int64), np.empty(0, dtype=bool), np.empty(0))
    assert np.isnan(auc(nothing))
    assert len(roc_curve(nothing)) == 1
    assert np.isnan(best_threshold(nothing))


def test_numbers_and_order_of_stories_do_not_matter():
    sample = decisions()
    order = np.random.default_rng(3).permutation(len(sample))
    permuted = Decisions(sample.stories[order], sample.labels[order], sample.scores[order])
    first, second = (detection_metrics(d, 0.5, RESAMPLING) for d in (sample, permuted))
    assert first.drop(columns="metric").to_numpy() == pytest.approx(second.drop(columns="metric").to_numpy())


def test_stories_are_resampled_and_not_decisions():
    """Ten copies of a story's decisions are not more evidence than one: intervals are as wide."""
    sample = decisions(60, seed=5)
    copied = Decisions(*(np.repeat(values, 10) for values in (sample.stories, sample.labels, sample.scores)))
    wide = Resampling(resamples=1000)
    first, second = (detection_metrics(d, 0.5, wide).set_index("metric") for d in (sample, copied))
    for table in (first, second):
        table["width"] = table["ci_high"] - table["ci_low"]
    assert second["value"].to_numpy() == pytest.approx(first["value"].to_numpy())
    assert (second["width"] / first["width"]).to_numpy() == pytest.approx(np.ones(5), abs=0.1)


@pytest.mark.slow
def test_intervals_hold_the_truth_if_decisions_of_a_story_are_correlated():
    """Resampling of decisions instead of stories would give a coverage of two thirds (300 runs of 80 stories)."""
    rng = np.random.default_rng(7)
    whole = decisions(60_000, rng=rng, story_sd=2.0, signal=1.5)
    truth = detection_metrics(whole, 0.5, Resampling(resamples=1)).set_index("metric")["value"]
    held = []
    for _ in range(300):
        table = detection_metrics(
            decisions(80, rng=rng, story_sd=2.0, signal=1.5), 0.5, Resampling(resamples=300)
        ).set_index("metric")
        held.append((table["ci_low"] <= truth) & (truth <= table["ci_high"]))
    share = np.mean(held, axis=0)
    assert (share > 0.91).all()
    assert (share < 0.985).all()


def test_answers_of_people_have_the_mean_of_each_ones_metrics_and_the_intervals_of_one_who_is_alone():
    """Two people who judged different stories; a person alone has the intervals of a detector with these decisions."""
    people = [decisions(signal=2.0, seed=seed) for seed in (1, 2)]
    people = [Decisions(p.stories + 600 * n, p.labels, (p.scores > 1).astype(float)) for n, p in enumerate(people)]
    tables = [detection_metrics(person, 0.5, RESAMPLING).set_index("metric") for person in people]
    together = answer_metrics(people, RESAMPLING).set_index("metric")
    alone = answer_metrics(people[:1], RESAMPLING).set_index("metric")
    for name in ("accuracy", "precision", "recall", "f1"):
        assert together.at[name, "value"] == pytest.approx(np.mean([table.at[name, "value"] for table in tables]))
        assert alone.loc[name].tolist() == pytest.approx(tables[0].loc[name].tolist())
    assert "auc" not in together.index
    assert (together["ci_low"] < together["value"]).all()
