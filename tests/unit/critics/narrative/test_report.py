"""The published table agrees with the arithmetic of its tasks: what a metric has to give, recomputed from it."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.narrative.figures import plot_roc
from macroscope.critics.narrative.generation import GENERATED, GENERATION, compute_generation_metrics
from macroscope.critics.narrative.latents import METRICS, ROC
from macroscope.critics.narrative.report import (
    _generation,
    _written,
    directions_table,
    published_table,
    read_published_detection,
)
from macroscope.options import Resampling

SIZES = {
    ("TimeTravel", "missing"): (1200, 400),
    ("TripAdvisor", "missing"): (500, 200),
    ("TimeTravel", "discordant"): (2000, 400),
    ("TripAdvisor", "discordant"): (500, 125),
}
"""Decisions (Table 2), and those that are positive: 1 of 3 slots, 2 of 5, 1 of 5 sentences, 2 of 8."""
WORKERS = 3
"""The human rows are means over so many."""


def rows():
    return [pytest.param(row, id="-".join(row[1:4])) for row in read_published_detection().itertuples()]


@pytest.mark.slow
@pytest.mark.parametrize("row", rows())
def test_accuracy_precision_and_recall_are_of_so_many_decisions(row):
    """With the numbers of decisions and of positives, whole counts give back all three, to their last digit.

    Of people it is the mean of each that is published, which is not that of their decisions together.
    """
    decisions, positives = SIZES[row.corpus, row.task]
    limit = 0.1
    if row.model == "human":
        decisions, positives, limit = decisions * WORKERS, positives * WORKERS, 0.25
    true_positives = np.arange(positives + 1)[:, None]
    called = np.arange(1, decisions + 1)[None]
    right = true_positives + decisions - positives - (called - true_positives)
    fits = (
        (np.abs(100 * true_positives / positives - row.recall) < limit)
        & (np.abs(100 * true_positives / called - row.precision) < limit)
        & (np.abs(100 * right / decisions - row.accuracy) < limit)
        & (called >= true_positives)
        & (called - true_positives <= decisions - positives)
    )
    assert fits.any()


@pytest.mark.parametrize("row", rows())
def test_positives_follow_from_accuracy_precision_and_recall(row):
    """1 - accuracy = p [1 - R + R (1 - P) / P] with p the share of positives: the published rate, within rounding."""
    decisions, positives = SIZES[row.corpus, row.task]
    a, p, r = (np.array([value - 0.06, value + 0.06]) / 100 for value in (row.accuracy, row.precision, row.recall))
    shares = [
        (1 - accuracy) / (1 - recall + recall * (1 - precision) / precision)
        for accuracy in a
        for precision in p
        for recall in r
    ]
    assert min(shares) <= positives / decisions <= max(shares)


@pytest.mark.parametrize("row", rows())
def test_f1_is_that_of_precision_and_recall(row):
    within = 0.2 if row.model == "human" else 0.1
    assert row.f1 == pytest.approx(2 * row.precision * row.recall / (row.precision + row.recall), abs=within)


def test_table_is_complete():
    table = read_published_detection()
    assert table.groupby(["corpus", "task"]).size().to_dict() == dict.fromkeys(SIZES, 8)
    assert table["auc"].isna().equals(table["model"] == "human")
    assert set(published_table(["missing"])["task"]) == {"missing"}


def test_systems_that_differ_have_a_direction_and_its_meaning():
    rows = [("control", 0.05, np.nan), ("greedy", 0.01, 0.01), ("shuffled", 0.2, 0.01), ("process", 0.06, 0.6)]
    statistics = pd.DataFrame(rows, columns=["system", "value", "p_adjusted"]).assign(statistic="discordant_share")
    table = directions_table(statistics, ["missing", "discordant"]).set_index("system")
    assert list(table.index) == ["greedy", "shuffled"]
    assert list(table["discordant sentences"]) == ["fewer than in real text", "more than in real text"]
    assert list(table["meaning"]) == [
        "have fewer sentences that seem out of place, as uniform or repetitive texts do",
        "have more sentences that seem out of place",
    ]


@pytest.mark.slow
def test_the_true_sentences_of_a_task_have_one_row(tmp_path):
    """All detectors of a task fill the same gaps."""
    true = ["she packed a green tent .", "he rowed to the lake ."]
    detectors = {"plain": ["she had a tent .", "he was old ."], "denoising": ["she had .", "he rowed ."]}
    for name, written in detectors.items():
        folder = tmp_path / "infilled" / f"missing.{name}"
        folder.mkdir(parents=True)
        metrics = compute_generation_metrics(written, true, [0, 1], Resampling(resamples=20))
        metrics.to_csv(folder / GENERATION, index=False)
    options = SimpleNamespace(tasks=["missing"], detectors=lambda: detectors)
    table = _generation(SimpleNamespace(folder=tmp_path, options=options))
    assert [name for name in table["detector"] if "published" not in name] == ["plain", "true sentences", "denoising"]


def test_examples_of_generated_sentences_stand_below_each_other(tmp_path):
    """The sentences of all detectors for one context."""
    detectors = {"plain": ["she had a tent .", "he was old ."], "denoising": ["she had .", "he rowed ."]}
    for name, written in detectors.items():
        folder = tmp_path / "infilled" / f"missing.{name}"
        folder.mkdir(parents=True)
        table = pd.DataFrame({"id": ["1", "2"], "context": ["tents […]", "boats […]"], "true": ["a", "b"]})
        table.assign(generated=written).to_csv(folder / GENERATED, index=False)
    options = SimpleNamespace(tasks=["missing"], detectors=lambda: detectors)
    table = _written(SimpleNamespace(folder=tmp_path, options=options))
    assert list(table["context"]) == ["tents […]", "tents […]", "boats […]", "boats […]"]
    assert list(table["generated"]) == ["she had a tent .", "she had .", "he was old .", "he rowed ."]


def test_each_detector_has_a_colour_of_its_own(tmp_path):
    pd.DataFrame({"false_positive_rate": [0, 1], "true_positive_rate": [0, 1]}).to_csv(tmp_path / ROC, index=False)
    metrics = {"of": ["detector"], "metric": ["auc"], "value": [0.5], "ci_low": [0.4], "ci_high": [0.6]}
    pd.DataFrame(metrics).to_csv(tmp_path / METRICS, index=False)
    (axes,) = plot_roc({"missing": dict.fromkeys(["judge", "token", "sm"], tmp_path)}).axes
    assert len({line.get_color() for line in axes.lines[:3]}) == 3
