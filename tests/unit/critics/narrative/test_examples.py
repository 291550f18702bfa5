"""Tests of labels of damaged segments: sizes of the published test sets, and segments by hand."""

import numpy as np
import pytest

from macroscope.critics.narrative.corruption import concatenate
from macroscope.critics.narrative.examples import NONE, make_examples, read_examples, write_examples
from macroscope.critics.narrative.segments import Segment, SegmentSampling, sample_segments

from .made import make_narratives


@pytest.mark.parametrize(
    ("task", "sentences", "damaged", "shown", "decisions"),
    [("missing", 5, 1, 4, 3), ("missing", 8, 2, 6, 5), ("discordant", 5, 1, 5, 5), ("discordant", 8, 2, 8, 8)],
)
def test_rates_are_those_of_the_published_tasks(task, sentences, damaged, shown, decisions):
    """cai2020 §3: of M sentences K are removed, which leaves M - K - 1 slots; or K of the M are replaced."""
    narratives = make_narratives([sentences + 3] * 40)
    sampling = SegmentSampling(task, sentences, damaged, 1, 0.0, False, 0)
    segments = sample_segments(narratives, range(40), sampling).segments
    replacements = {(n, place): 0 for n, s in enumerate(segments) for place in s.places} if task == "discordant" else {}
    examples = make_examples(narratives, segments, task, replacements)
    assert ((examples.inputs != NONE).sum(axis=1) == shown).all()
    assert ((examples.labels != NONE).sum(axis=1) == decisions).all()
    assert ((examples.labels == 1).sum(axis=1) == damaged).all()
    assert examples.damaged.all()


def test_removed_sentences_leave_gaps():
    narratives = make_narratives([3, 8])
    examples = make_examples(narratives, [Segment(1, 1, 6, (1, 3)), Segment(0, 0, 3)], "missing", {})
    assert examples.narratives.tolist() == [1, 0]
    assert examples.inputs.tolist() == [[4, 6, 8, 9], [0, 1, 2, NONE]]
    assert examples.labels.tolist() == [[1, 1, 0, NONE], [0, 0, NONE, NONE]]
    assert examples.targets.tolist() == [[5, 7, NONE, NONE], [NONE] * 4]
    assert examples.damaged.tolist() == [True, False]


def test_only_replaced_sentences_are_labelled():
    narratives = make_narratives([3, 8])
    examples = make_examples(narratives, [Segment(1, 2, 4, (0, 3)), Segment(0, 0, 3)], "discordant", {(0, 3): 1})
    assert examples.inputs.tolist() == [[5, 6, 7, 1], [0, 1, 2, NONE]]
    assert examples.labels.tolist() == [[0, 0, 0, 1], [0, 0, 0, NONE]]
    assert examples.targets.tolist() == [[NONE, NONE, NONE, 8], [NONE] * 4]


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in vars(a))


def test_examples_round_trip_through_a_file(tmp_path):
    narratives = make_narratives([9] * 30)
    segments = sample_segments(narratives, range(30), SegmentSampling("missing", 5, 1, 2, 0.5, True, 0)).segments
    by_split = {
        "train": make_examples(narratives, segments, "missing", {}),
        "valid": make_examples(narratives, segments[:3], "missing", {}),
        "test": make_examples(narratives, [], "missing", {}),
    }
    expected_counts = {"train": {"segments": 3, "ä": None}}
    write_examples(tmp_path / "e.parquet", by_split, expected_counts)
    examples, counts = read_examples(tmp_path / "e.parquet")
    assert counts == expected_counts
    assert same(examples["train"], by_split["train"])
    assert same(examples["valid"], by_split["valid"])
    assert examples["train"].labels.dtype == np.int8
    assert "test" not in examples or not len(examples["test"])


def test_examples_of_different_lengths_are_concatenated():
    narratives = make_narratives([5, 3])
    long = make_examples(narratives, [Segment(0, 0, 5, (2,))], "missing", {})
    short = make_examples(narratives, [Segment(1, 0, 3)], "missing", {})
    for first, second in ((long, short), (short, long)):
        examples = concatenate(first, second)
        assert examples.inputs.shape == examples.labels.shape == examples.targets.shape == (2, 4)
        assert examples.narratives.tolist() == [*first.narratives, *second.narratives]
        row = 0 if first is short else 1
        assert examples.inputs[row].tolist() == [5, 6, 7, NONE]
        assert examples.labels[row].tolist() == [0, 0, NONE, NONE]
