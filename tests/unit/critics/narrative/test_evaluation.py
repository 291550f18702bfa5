"""What a detector is tested by: decisions with their stories, its surest errors, points of its curve."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.narrative.baselines import by_position, by_single_sentence
from macroscope.critics.narrative.evaluation import decisions_of, errors, marked_text, thin
from macroscope.critics.narrative.examples import NONE, examples_of
from macroscope.critics.narrative.segments import Segment

from .made import told

NARRATIVES = told([8, 8], splits=["train", "test"])
EXAMPLES = examples_of(
    NARRATIVES, [Segment(1, 0, 5, (2,)), Segment(0, 2, 4, (1,)), Segment(1, 3, 5, (1, 3))], "missing", {}
)


class Named:
    task = "missing"


def test_every_position_with_a_label_is_a_decision_of_its_story():
    values = np.arange(12.0).reshape(3, 4)
    found = decisions_of(EXAMPLES, lambda _: values, NARRATIVES.families)
    assert found.stories.tolist() == [1, 1, 1, 0, 0, 1, 1]
    assert found.labels.tolist() == [False, True, False, True, False, True, True]
    assert found.scores.tolist() == [0, 1, 2, 4, 5, 8, 9]
    assert set(decisions_of(EXAMPLES, lambda _: values, np.zeros(2, dtype=np.int64)).stories) == {0}


def test_errors_are_the_surest_first():
    found = np.array([[0.7, 0.9, 0.1, np.nan], [0.2, 0.95, np.nan, np.nan], [0.45, 0.8, np.nan, np.nan]])
    table = errors(Named, NARRATIVES, EXAMPLES, found, 0.5)
    assert table["kind"].tolist() == ["not damaged", "not found", "not damaged", "not found"]
    assert table["probability"].tolist() == [0.95, 0.2, 0.7, 0.45]
    assert table["id"].tolist() == ["n0", "n0", "n1", "n1"]
    assert table["text"][0] == "s2. s4. […] s5."
    assert table["text"][3] == "s11. […] s13. s15."


def test_a_place_is_marked_in_its_segment():
    inputs = np.array([3, 4, 5, NONE])
    assert marked_text(NARRATIVES, inputs, 1, "missing") == "s3. s4. […] s5."
    assert marked_text(NARRATIVES, inputs, 1, "discordant") == "s3. [s4.] s5."


def test_rates_by_position_are_those_of_segments_as_long():
    segments = [Segment(0, 0, 5, (1,)), Segment(0, 1, 5, (1,)), Segment(0, 2, 5, (2,)), Segment(0, 0, 4, (2,))]
    train = examples_of(NARRATIVES, segments, "missing", {})
    found = by_position(train, EXAMPLES)
    assert found[0, :3] == pytest.approx([2 / 3, 1 / 3, 0])
    assert found[1, :2] == pytest.approx([0, 1])
    assert found[2, :2] == pytest.approx([0, 1])


def test_single_sentences_that_tell_are_seen():
    narratives = told(
        [5] * 200, write=lambda n: "A strange one." if n % 5 == 2 else f"The word {'abcdefghij'[n % 7] * 3}."
    )
    segments = [Segment(n, 0, 5, (2,)) for n in range(200)]
    examples = examples_of(narratives, segments, "discordant", {(n, 2): 5 * n + 2 for n in range(200)})
    found = by_single_sentence(narratives, examples.some(range(100)), examples.some(range(100, 200)), 0)
    assert (found[:, 2] > found[:, [0, 1, 3, 4]].max(axis=1)).all()


def test_without_two_kinds_of_labels_single_sentences_tell_nothing():
    whole = examples_of(NARRATIVES, [Segment(0, 0, 5)], "discordant", {})
    assert (by_single_sentence(NARRATIVES, whole, whole, 0) == 0).all()


def test_a_thin_curve_has_both_ends():
    curve = pd.DataFrame({"x": np.arange(10_000)})
    found = thin(curve)["x"].tolist()
    assert len(found) == 500
    assert (found[0], found[-1]) == (0, 9999)
    assert len(thin(curve[:7])) == 7
