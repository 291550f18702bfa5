"""Tests of segment sampling: enumeration, chi-square tests, and no leaks through intact segments."""

from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.stats import chisquare

from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.critics.narrative.segments import Segment, SegmentSampling, sample_segments, segment_sampling

from .made import make_narratives


def sampling(task="missing", sentences=5, damaged=1, draws=1, intact=0.0, balanced=False, seed=3):
    return SegmentSampling(task, sentences, damaged, draws, intact, balanced or intact > 0, seed)


def sample(lengths, config):
    return sample_segments(make_narratives(lengths), range(len(lengths)), config)


def non_adjacent_places(sentences, damaged):
    """Return all choices of non-adjacent inner places."""
    return [
        places
        for places in combinations(range(1, sentences - 1), damaged)
        if all(b - a > 1 for a, b in pairwise(places))
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("sentences", "damaged", "choices"), [(5, 1, 3), (8, 2, 10), (9, 3, 10), (7, 3, 1)])
def test_all_choices_of_removed_sentences_are_equally_likely(sentences, damaged, choices):
    segments = sample([sentences] * 3000, sampling(sentences=sentences, damaged=damaged)).segments
    counts = Counter(segment.places for segment in segments)
    assert set(counts) == set(non_adjacent_places(sentences, damaged))
    assert len(counts) == choices
    assert chisquare(list(counts.values())).pvalue > 1e-3 or choices == 1


@pytest.mark.parametrize(("sentences", "damaged"), [(5, 1), (8, 2)])
def test_all_choices_of_replaced_sentences_are_equally_likely(sentences, damaged):
    segments = sample([sentences] * 3000, sampling("discordant", sentences, damaged)).segments
    counts = Counter(segment.places for segment in segments)
    assert set(counts) == set(combinations(range(sentences), damaged))
    assert chisquare(list(counts.values())).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("task", ["missing", "discordant"])
def test_segments_begin_anywhere(task):
    segments = sample([12] * 4000, sampling(task)).segments
    counts = Counter(segment.first for segment in segments)
    assert set(counts) == set(range(12 - 5 + 1))
    assert chisquare(list(counts.values())).pvalue > 1e-3


def ends(segments, length, removed):
    """Return the shares of segments after damage that contain the beginning and the end of their narrative."""
    first = np.array([segment.first for segment in segments])
    last = np.array([segment.first + segment.length for segment in segments])
    assert {segment.length - removed for segment in segments} == {segments[0].length - removed}
    return np.mean(first == 0), np.mean(last == length)


@pytest.mark.slow
@pytest.mark.parametrize("draws", [1, 8])
@pytest.mark.parametrize(("sentences", "damaged", "length"), [(5, 1, 5), (5, 1, 6), (5, 1, 8), (8, 2, 10), (8, 2, 14)])
def test_intact_segments_contain_ends_as_often_as_damaged_ones(sentences, damaged, length, draws):
    """The shares are equal, however many segments are sampled per narrative."""
    config = sampling("missing", sentences, damaged, draws, intact=0.5)
    segments = sample([length] * (24_000 // draws), config).segments
    intact = [segment for segment in segments if not segment.places]
    damaged_ones = [segment for segment in segments if segment.places]
    assert {s.length for s in intact} == {s.length - damaged for s in damaged_ones}
    for intact_share, damaged_share in zip(ends(intact, length, 0), ends(damaged_ones, length, damaged), strict=True):
        error = np.sqrt(damaged_share * (1 - damaged_share) * (1 / len(intact) + 1 / len(damaged_ones)))
        assert abs(intact_share - damaged_share) < 4 * error + 1e-9


def test_no_segment_contains_both_ends_if_some_are_intact():
    config = sampling("missing", 5, 1, draws=20, intact=0.5)
    for length in (4, 5, 6, 9):
        segments = sample([length] * 50, config).segments
        assert segments
        assert not any(segment.first == 0 and segment.length == length for segment in segments)


@pytest.mark.slow
def test_share_of_intact_segments():
    segments = sample([60] * 4000, sampling("discordant", 5, 1, draws=1, intact=0.3)).segments
    assert np.mean([not segment.places for segment in segments]) == pytest.approx(0.3, abs=0.025)


def test_without_intact_segments_a_narrative_may_be_one_segment():
    assert sample([5], sampling("missing", 5, 1)).segments[0].length == 5
    assert sample([5], sampling("missing", 5, 1, balanced=True)).segments[0].length == 4


def test_segments_of_a_narrative_depend_only_on_its_sentences():
    lengths = [9, 30, 12, 7]
    all_of_them = make_narratives(lengths)
    config = sampling("missing", 5, 1, draws=4, intact=0.5)
    together = sample_segments(all_of_them, range(4), config).segments
    alone = sample_segments(all_of_them, [2], config).segments
    assert [segment for segment in together if segment.narrative == 2] == alone
    sentences = all_of_them.sentences[all_of_them.starts[2] : all_of_them.starts[3]]
    moved = replace(make_narratives([12, 3]), ids=["x", "y"], sentences=[*sentences, "A.", "B.", "C."])
    assert sample_segments(moved, [0], config).segments == [replace(segment, narrative=0) for segment in alone]


def test_segments_depend_on_the_seed():
    first, second = (sample([20] * 30, sampling(draws=3)).segments for _ in range(2))
    assert first == second
    assert first != sample([20] * 30, sampling(draws=3, seed=4)).segments


def test_no_two_segments_of_a_narrative_are_the_same():
    segments = sample([5] * 20, sampling(draws=30)).segments
    assert len(set(segments)) == len(segments) == 20 * 3


def test_short_narratives_are_counted():
    sampled = sample([2, 3, 4, 5, 6], sampling("missing", 5, 1, balanced=True))
    assert (sampled.too_short, sampled.shorter) == (2, 2)  # of 2 and 3; of 4 and 5
    assert [segment.narrative for segment in sampled.segments] == [2, 3, 4]
    assert sampled.segments[0] == Segment(2, sampled.segments[0].first, 3, (1,))
    sampled = sample([2, 3, 4, 5, 6], sampling("discordant", 5, 1))
    assert (sampled.too_short, sampled.shorter) == (1, 2)


def test_validation_and_test_have_one_damaged_segment_per_narrative():
    options = NarrativeOptions(draws=7, intact=0.4)
    assert (
        segment_sampling(options, "missing", "train", 1).draws,
        segment_sampling(options, "missing", "train", 1).intact,
    ) == (
        7,
        0.4,
    )
    for split in ("valid", "test"):
        config = segment_sampling(options, "missing", split, 1)
        assert (config.draws, config.intact, config.spare) == (1, 0.0, 1)
    assert segment_sampling(NarrativeOptions(intact=0.0), "missing", "test", 1).spare == 0
