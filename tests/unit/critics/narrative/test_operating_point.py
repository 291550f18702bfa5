"""Tests of operating points, and of known damage in whole narratives."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.narrative.detector import Detector
from macroscope.critics.narrative.evaluation import (
    apply_damage,
    count_detections,
    select_narratives,
    write_operating_point,
)
from macroscope.critics.narrative.examples import NONE, make_examples
from macroscope.critics.narrative.latents import DETECTION_COUNTS
from macroscope.critics.narrative.operating_point import BINS, choose_operating_point, read_operating_points
from macroscope.critics.narrative.segments import Segment, SegmentSampling, sample_segments
from macroscope.critics.narrative.similarity_detector import SimilarityDetector, SimilaritySize

from .made import make_narratives


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("places", [50, 1000])
def test_requested_share_is_above_the_threshold(rate, places):
    probabilities = np.random.default_rng(0).random(places)
    point = choose_operating_point(probabilities, rate)
    share = (probabilities >= point.threshold).mean()
    assert rate - 1.01 / places <= share <= rate
    assert point.expected == pytest.approx(probabilities.mean())
    assert point.places == places


def test_ties_never_exceed_the_requested_share():
    for rate in (0.05, 0.3, 0.45):
        probabilities = np.repeat([0.1, 0.2, 0.6, 0.9], [40, 30, 20, 10])
        expected = {0.05: 0.0, 0.3: 0.1, 0.45: 0.3}[rate]
        share = (probabilities >= choose_operating_point(probabilities, rate).threshold).mean()
        assert share == pytest.approx(expected)


@pytest.mark.parametrize("value", [0.1, 0.3, 1 / 3, 0.7])
def test_constant_detector_detects_nothing_at_any_precision(value):
    """Latents are in single precision, and rounding may increase a number."""
    point = choose_operating_point(np.full(100, value), 0.05)
    assert np.float64(value) < point.threshold
    assert np.float64(np.float32(value)) < point.threshold


def test_classes_have_equally_many_places():
    probabilities = np.random.default_rng(1).beta(1, 5, 5000)
    edges = choose_operating_point(probabilities, 0.05).edges
    assert len(edges) == BINS - 1
    assert np.bincount(np.searchsorted(edges, probabilities, side="right")).tolist() == pytest.approx(
        [500] * BINS, abs=1
    )


def test_gaps_are_applied_to_whole_narratives():
    narratives = make_narratives([3, 8, 6])
    examples = make_examples(narratives, [Segment(2, 1, 5, (1, 3)), Segment(1, 2, 5, (1,))], "missing", {})
    damaged, flags = apply_damage(narratives, examples, "missing")
    assert damaged.ids == ["n2", "n1"]
    assert damaged.lengths.tolist() == [4, 7]
    assert damaged.sentences[:4] == ["s11.", "s12.", "s14.", "s16."]
    assert damaged.sentences[4:] == ["s3.", "s4.", "s5.", "s7.", "s8.", "s9.", "s10."]
    assert flags[0].tolist() == [False, True, True, False]
    assert flags[1].tolist() == [False, False, True, False, False, False, False]


def test_replacements_are_applied_to_whole_narratives():
    narratives = make_narratives([3, 8, 6])
    examples = make_examples(
        narratives, [Segment(2, 1, 5, (0, 3)), Segment(1, 2, 5, (4,))], "discordant", {(0, 0): 0, (0, 3): 5, (1, 4): 2}
    )
    damaged, flags = apply_damage(narratives, examples, "discordant")
    assert damaged.sentences[:6] == ["s11.", "s0.", "s13.", "s14.", "s5.", "s16."]
    assert damaged.sentences[6:] == ["s3.", "s4.", "s5.", "s6.", "s7.", "s8.", "s2.", "s10."]
    assert flags[0].tolist() == [False, True, False, False, True, False]
    assert np.flatnonzero(flags[1]).tolist() == [6]
    assert narratives.sentences[3] == "s3."


def test_embeddings_follow_their_sentences():
    vectors = np.arange(17.0)[:, None]
    narratives = make_narratives([3, 8, 6], vectors=vectors)
    examples = make_examples(narratives, [Segment(2, 1, 5, (1, 3))], "missing", {})
    assert apply_damage(narratives, examples, "missing")[0].vectors[:][:, 0].tolist() == [11, 12, 14, 16]
    selected = select_narratives(narratives, [2, 0])
    assert selected.vectors[:][:, 0].tolist() == [*range(11, 17), 0, 1, 2]
    assert (selected.ids, selected.starts.tolist()) == (["n2", "n0"], [0, 6, 9])


class GapOracle(Detector):
    """A detector that knows gaps, between non-consecutive sentences, with a probability by the sentence before."""

    def probabilities(self, narratives, inputs):
        values = np.full(inputs.shape, np.nan)
        numbers = [int(sentence[1:-1]) for sentence in narratives.sentences]
        for row, segment in enumerate(inputs):
            shown = [numbers[n] for n in segment[segment != NONE]]
            for place in range(len(shown) - 1):
                values[row, place] = 0.9 if shown[place + 1] != shown[place] + 1 else 0.1 * (shown[place] % 10 == 0)
        return values


def test_known_damage_is_counted_in_whole_narratives(tmp_path):
    lengths = [9] * 30
    narratives = make_narratives(lengths, splits=["train"] * 10 + ["valid"] * 20)
    sampling = SegmentSampling("missing", 6, 2, 1, 0.0, True, 0)
    valid = sample_segments(narratives, narratives.of_split("valid"), sampling).segments
    intactbilities = [Segment(10, 0, 4)]
    examples = make_examples(narratives, valid + intactbilities, "missing", {})
    detector = GapOracle("missing", "sentence", 4, 2, None)
    table = count_detections(detector, narratives, examples, 0.5)
    assert table["id"].tolist() == [narratives.ids[segment.narrative] for segment in valid]
    assert (table["damaged"] == 2).all()
    assert (table["found"] == 2).all()
    assert (count_detections(detector, narratives, examples, 0.95)["found"] == 0).all()
    (tmp_path / "missing").mkdir()
    write_operating_point(tmp_path / "missing", detector, narratives, examples, 0.1)
    point = read_operating_points(tmp_path)["missing"]
    assert point.places == 20 * 8
    assert 0.1 < point.threshold < 0.1001 or point.threshold == np.nextafter(0.1, 2)
    assert pd.read_csv(tmp_path / "missing" / DETECTION_COUNTS)["found"].sum() == 40
    assert list(read_operating_points(tmp_path)) == ["missing"]


@pytest.mark.slow
def test_memory_of_counting_hardly_grows_with_the_narratives():
    """Eight times as many narratives, 31 MB of whose embeddings were once copied."""
    detector = Detector("discordant", "similarity", 5, 0, SimilarityDetector(SimilaritySize("discordant", 384, 0)))
    peaks = []
    for number in (1000, 8000):
        vectors = np.random.default_rng(1).normal(size=(5 * number, 384)).astype(np.float16)
        narratives = make_narratives([5] * number, vectors=vectors)
        segments = [Segment(n, 0, 5, (2,)) for n in range(number)]
        replacements = {(n, 2): (5 * n + 7) % (5 * number) for n in range(number)}
        examples = make_examples(narratives, segments, "discordant", replacements)
        tracemalloc.start()
        assert count_detections(detector, narratives, examples, 0.5)["damaged"].sum() == number
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
