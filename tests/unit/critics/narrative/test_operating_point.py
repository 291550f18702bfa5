"""Where something is found, and known damage in whole narratives."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.narrative.detector import Detector
from macroscope.critics.narrative.examples import NONE, examples_of
from macroscope.critics.narrative.known_damage import found_in, subset, with_damage, write_operating_point
from macroscope.critics.narrative.latents import FOUND
from macroscope.critics.narrative.operating_point import BINS, operating_point, read_operating_points
from macroscope.critics.narrative.segments import Drawing, Segment, draw_segments

from .made import told


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("places", [50, 1000])
def test_the_share_that_is_asked_for_lies_above_the_threshold(rate, places):
    whole = np.random.default_rng(0).random(places)
    point = operating_point(whole, rate)
    share = (whole >= point.threshold).mean()
    assert rate - 1.01 / places <= share <= rate
    assert point.expected == pytest.approx(whole.mean())
    assert point.places == places


def test_of_tied_places_all_or_none_lie_above_and_never_more_than_asked_for():
    for rate in (0.05, 0.3, 0.45):
        whole = np.repeat([0.1, 0.2, 0.6, 0.9], [40, 30, 20, 10])
        expected = {0.05: 0.0, 0.3: 0.1, 0.45: 0.3}[rate]
        found = (whole >= operating_point(whole, rate).threshold).mean()
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("value", [0.1, 0.3, 1 / 3, 0.7])
def test_a_detector_that_says_the_same_everywhere_finds_nothing_whatever_the_precision(value):
    """Latents are in single precision, in which a number may be larger than it was."""
    point = operating_point(np.full(100, value), 0.05)
    assert np.float64(value) < point.threshold
    assert np.float64(np.float32(value)) < point.threshold


def test_classes_have_as_many_places_each():
    whole = np.random.default_rng(1).beta(1, 5, 5000)
    edges = operating_point(whole, 0.05).edges
    assert len(edges) == BINS - 1
    assert np.bincount(np.searchsorted(edges, whole, side="right")).tolist() == pytest.approx([500] * BINS, abs=1)


def test_narratives_are_told_with_their_gaps():
    narratives = told([3, 8, 6])
    examples = examples_of(narratives, [Segment(2, 1, 5, (1, 3)), Segment(1, 2, 5, (1,))], "missing", {})
    found, marks = with_damage(narratives, examples, "missing")
    assert found.ids == ["n2", "n1"]
    assert found.lengths.tolist() == [4, 7]
    assert found.sentences[:4] == ["s11.", "s12.", "s14.", "s16."]
    assert found.sentences[4:] == ["s3.", "s4.", "s5.", "s7.", "s8.", "s9.", "s10."]
    assert marks[0].tolist() == [False, True, True, False]
    assert marks[1].tolist() == [False, False, True, False, False, False, False]


def test_narratives_are_told_with_their_replacements():
    narratives = told([3, 8, 6])
    examples = examples_of(
        narratives, [Segment(2, 1, 5, (0, 3)), Segment(1, 2, 5, (4,))], "discordant", {(0, 0): 0, (0, 3): 5, (1, 4): 2}
    )
    found, marks = with_damage(narratives, examples, "discordant")
    assert found.sentences[:6] == ["s11.", "s0.", "s13.", "s14.", "s5.", "s16."]
    assert found.sentences[6:] == ["s3.", "s4.", "s5.", "s6.", "s7.", "s8.", "s2.", "s10."]
    assert marks[0].tolist() == [False, True, False, False, True, False]
    assert np.flatnonzero(marks[1]).tolist() == [6]
    assert narratives.sentences[3] == "s3."


def test_embeddings_go_with_their_sentences():
    vectors = np.arange(17.0)[:, None]
    narratives = told([3, 8, 6], vectors=vectors)
    examples = examples_of(narratives, [Segment(2, 1, 5, (1, 3))], "missing", {})
    assert with_damage(narratives, examples, "missing")[0].vectors[:, 0].tolist() == [11, 12, 14, 16]
    some = subset(narratives, [2, 0])
    assert some.vectors[:, 0].tolist() == [*range(11, 17), 0, 1, 2]
    assert (some.ids, some.starts.tolist()) == (["n2", "n0"], [0, 6, 9])


class Knows(Detector):
    """A detector that knows a gap, between sentences that do not follow, with a probability by the sentence before."""

    def probabilities(self, narratives, inputs):
        found = np.full(inputs.shape, np.nan)
        numbers = [int(sentence[1:-1]) for sentence in narratives.sentences]
        for row, some in enumerate(inputs):
            shown = [numbers[n] for n in some[some != NONE]]
            for place in range(len(shown) - 1):
                found[row, place] = 0.9 if shown[place + 1] != shown[place] + 1 else 0.1 * (shown[place] % 10 == 0)
        return found


def test_known_damage_is_counted_in_whole_narratives(tmp_path):
    lengths = [9] * 30
    narratives = told(lengths, splits=["train"] * 10 + ["valid"] * 20)
    drawing = Drawing("missing", 6, 2, 1, 0.0, True, 0)
    valid = draw_segments(narratives, narratives.of_split("valid"), drawing).segments
    whole = [Segment(10, 0, 4)]
    examples = examples_of(narratives, valid + whole, "missing", {})
    detector = Knows("missing", "sentence", 4, 2, None)
    found = found_in(detector, narratives, examples, 0.5)
    assert found["id"].tolist() == [narratives.ids[segment.narrative] for segment in valid]
    assert (found["damaged"] == 2).all()
    assert (found["found"] == 2).all()
    assert (found_in(detector, narratives, examples, 0.95)["found"] == 0).all()
    (tmp_path / "missing").mkdir()
    write_operating_point(tmp_path / "missing", detector, narratives, examples, 0.1)
    point = read_operating_points(tmp_path)["missing"]
    assert point.places == 20 * 8
    assert 0.1 < point.threshold < 0.1001 or point.threshold == np.nextafter(0.1, 2)
    assert pd.read_csv(tmp_path / "missing" / FOUND)["found"].sum() == 40
    assert list(read_operating_points(tmp_path)) == ["missing"]
