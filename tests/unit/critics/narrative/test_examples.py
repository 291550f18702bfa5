"""Labels of damaged segments: the arithmetic of the published test sets, and segments written out by hand."""

import numpy as np
import pytest

from macroscope.critics.narrative.corruption import joined
from macroscope.critics.narrative.examples import NONE, examples_of, read_examples, write_examples
from macroscope.critics.narrative.segments import Drawing, Segment, draw_segments

from .made import told


@pytest.mark.parametrize(
    ("task", "sentences", "damaged", "shown", "decisions"),
    [("missing", 5, 1, 4, 3), ("missing", 8, 2, 6, 5), ("discordant", 5, 1, 5, 5), ("discordant", 8, 2, 8, 8)],
)
def test_rates_are_those_of_the_published_tasks(task, sentences, damaged, shown, decisions):
    """cai2020 §3: of M sentences K are removed, which leaves M - K - 1 slots; or K of the M are replaced."""
    narratives = told([sentences + 3] * 40)
    drawing = Drawing(task, sentences, damaged, 1, 0.0, False, 0)
    segments = draw_segments(narratives, range(40), drawing).segments
    replacements = {(n, place): 0 for n, s in enumerate(segments) for place in s.places} if task == "discordant" else {}
    found = examples_of(narratives, segments, task, replacements)
    assert ((found.inputs != NONE).sum(axis=1) == shown).all()
    assert ((found.labels != NONE).sum(axis=1) == decisions).all()
    assert ((found.labels == 1).sum(axis=1) == damaged).all()
    assert found.damaged.all()


def test_removed_sentences_leave_gaps():
    narratives = told([3, 8])
    found = examples_of(narratives, [Segment(1, 1, 6, (1, 3)), Segment(0, 0, 3)], "missing", {})
    assert found.narratives.tolist() == [1, 0]
    assert found.inputs.tolist() == [[4, 6, 8, 9], [0, 1, 2, NONE]]
    assert found.labels.tolist() == [[1, 1, 0, NONE], [0, 0, NONE, NONE]]
    assert found.targets.tolist() == [[5, 7, NONE, NONE], [NONE] * 4]
    assert found.damaged.tolist() == [True, False]


def test_replaced_sentences_are_labelled_and_one_without_a_replacement_is_not():
    narratives = told([3, 8])
    found = examples_of(narratives, [Segment(1, 2, 4, (0, 3)), Segment(0, 0, 3)], "discordant", {(0, 3): 1})
    assert found.inputs.tolist() == [[5, 6, 7, 1], [0, 1, 2, NONE]]
    assert found.labels.tolist() == [[0, 0, 0, 1], [0, 0, 0, NONE]]
    assert found.targets.tolist() == [[NONE, NONE, NONE, 8], [NONE] * 4]


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in vars(a))


def test_examples_come_back_from_a_file(tmp_path):
    narratives = told([9] * 30)
    segments = draw_segments(narratives, range(30), Drawing("missing", 5, 1, 2, 0.5, True, 0)).segments
    by_split = {
        "train": examples_of(narratives, segments, "missing", {}),
        "valid": examples_of(narratives, segments[:3], "missing", {}),
        "test": examples_of(narratives, [], "missing", {}),
    }
    about = {"train": {"segments": 3, "ä": None}}
    write_examples(tmp_path / "e.parquet", by_split, about)
    found, said = read_examples(tmp_path / "e.parquet")
    assert said == about
    assert same(found["train"], by_split["train"])
    assert same(found["valid"], by_split["valid"])
    assert found["train"].labels.dtype == np.int8
    assert "test" not in found or not len(found["test"])


def test_examples_of_other_lengths_are_joined():
    narratives = told([5, 3])
    long = examples_of(narratives, [Segment(0, 0, 5, (2,))], "missing", {})
    short = examples_of(narratives, [Segment(1, 0, 3)], "missing", {})
    for first, second in ((long, short), (short, long)):
        found = joined(first, second)
        assert found.inputs.shape == found.labels.shape == found.targets.shape == (2, 4)
        assert found.narratives.tolist() == [*first.narratives, *second.narratives]
        row = 0 if first is short else 1
        assert found.inputs[row].tolist() == [5, 6, 7, NONE]
        assert found.labels[row].tolist() == [0, 0, NONE, NONE]
