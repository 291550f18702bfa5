"""Tests of evaluation: decisions by story, most confident errors, ROC curve, baselines."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.narrative.evaluation import (
    collect_decisions,
    find_errors,
    mark_text,
    predict_by_position,
    predict_by_single_sentence,
    thin_curve,
)
from macroscope.critics.narrative.examples import NONE, make_examples
from macroscope.critics.narrative.segments import Segment

from .made import make_narratives

NARRATIVES = make_narratives([8, 8], splits=["train", "test"])
EXAMPLES = make_examples(
    NARRATIVES, [Segment(1, 0, 5, (2,)), Segment(0, 2, 4, (1,)), Segment(1, 3, 5, (1, 3))], "missing", {}
)


class Named:
    task = "missing"


def test_every_position_with_a_label_is_a_decision_of_its_story():
    values = np.arange(12.0).reshape(3, 4)
    decisions = collect_decisions(EXAMPLES, lambda _: values, NARRATIVES.families)
    assert decisions.stories.tolist() == [1, 1, 1, 0, 0, 1, 1]
    assert decisions.labels.tolist() == [False, True, False, True, False, True, True]
    assert decisions.scores.tolist() == [0, 1, 2, 4, 5, 8, 9]
    assert set(collect_decisions(EXAMPLES, lambda _: values, np.zeros(2, dtype=np.int64)).stories) == {0}


def test_errors_are_sorted_by_confidence():
    probabilities = np.array([[0.7, 0.9, 0.1, np.nan], [0.2, 0.95, np.nan, np.nan], [0.45, 0.8, np.nan, np.nan]])
    table = find_errors(Named, NARRATIVES, EXAMPLES, probabilities, 0.5)
    assert table["kind"].tolist() == ["not damaged", "not found", "not damaged", "not found"]
    assert table["probability"].tolist() == [0.95, 0.2, 0.7, 0.45]
    assert table["id"].tolist() == ["n0", "n0", "n1", "n1"]
    assert table["text"][0] == "s2. s4. […] s5."
    assert table["text"][3] == "s11. […] s13. s15."


def test_a_place_is_marked_in_its_segment():
    inputs = np.array([3, 4, 5, NONE])
    assert mark_text(NARRATIVES, inputs, 1, "missing") == "s3. s4. […] s5."
    assert mark_text(NARRATIVES, inputs, 1, "discordant") == "s3. [s4.] s5."


def test_rates_by_position_are_those_of_segments_of_equal_length():
    segments = [Segment(0, 0, 5, (1,)), Segment(0, 1, 5, (1,)), Segment(0, 2, 5, (2,)), Segment(0, 0, 4, (2,))]
    train = make_examples(NARRATIVES, segments, "missing", {})
    predicted = predict_by_position(train, EXAMPLES)
    assert predicted[0, :3] == pytest.approx([2 / 3, 1 / 3, 0])
    assert predicted[1, :2] == pytest.approx([0, 1])
    assert predicted[2, :2] == pytest.approx([0, 1])


def test_telling_single_sentences_are_detected():
    narratives = make_narratives(
        [5] * 200, write=lambda n: "A strange one." if n % 5 == 2 else f"The word {'abcdefghij'[n % 7] * 3}."
    )
    segments = [Segment(n, 0, 5, (2,)) for n in range(200)]
    examples = make_examples(narratives, segments, "discordant", {(n, 2): 5 * n + 2 for n in range(200)})
    predicted = predict_by_single_sentence(narratives, examples.select(range(100)), examples.select(range(100, 200)), 0)
    assert (predicted[:, 2] > predicted[:, [0, 1, 3, 4]].max(axis=1)).all()


def test_single_sentence_baseline_needs_both_labels():
    whole = make_examples(NARRATIVES, [Segment(0, 0, 5)], "discordant", {})
    assert (predict_by_single_sentence(NARRATIVES, whole, whole, 0) == 0).all()


def test_a_thin_curve_has_both_ends():
    curve = pd.DataFrame({"x": np.arange(10_000)})
    values = thin_curve(curve)["x"].tolist()
    assert len(values) == 500
    assert (values[0], values[-1]) == (0, 9999)
    assert len(thin_curve(curve[:7])) == 7
