"""Where narratives are damaged: enumeration of all choices, chi-square, and what whole segments must not tell."""

from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.stats import chisquare

from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.critics.narrative.segments import Drawing, Segment, draw_segments, drawing_of

from .made import told


def drawing(task="missing", sentences=5, damaged=1, draws=1, intact=0.0, balanced=False, seed=3):
    return Drawing(task, sentences, damaged, draws, intact, balanced or intact > 0, seed)


def drawn(lengths, how):
    return draw_segments(told(lengths), range(len(lengths)), how)


def not_side_by_side(sentences, damaged):
    """Every choice of inner places with no two side by side."""
    return [
        places
        for places in combinations(range(1, sentences - 1), damaged)
        if all(b - a > 1 for a, b in pairwise(places))
    ]


@pytest.mark.parametrize(("sentences", "damaged", "choices"), [(5, 1, 3), (8, 2, 10), (9, 3, 10), (7, 3, 1)])
def test_all_choices_of_removed_sentences_are_equally_likely(sentences, damaged, choices):
    found = drawn([sentences] * 3000, drawing(sentences=sentences, damaged=damaged)).segments
    counts = Counter(segment.places for segment in found)
    assert set(counts) == set(not_side_by_side(sentences, damaged))
    assert len(counts) == choices
    assert chisquare(list(counts.values())).pvalue > 1e-3 or choices == 1


@pytest.mark.parametrize(("sentences", "damaged"), [(5, 1), (8, 2)])
def test_all_choices_of_replaced_sentences_are_equally_likely(sentences, damaged):
    found = drawn([sentences] * 3000, drawing("discordant", sentences, damaged)).segments
    counts = Counter(segment.places for segment in found)
    assert set(counts) == set(combinations(range(sentences), damaged))
    assert chisquare(list(counts.values())).pvalue > 1e-3


@pytest.mark.parametrize("task", ["missing", "discordant"])
def test_segments_begin_anywhere(task):
    found = drawn([12] * 4000, drawing(task)).segments
    counts = Counter(segment.first for segment in found)
    assert set(counts) == set(range(12 - 5 + 1))
    assert chisquare(list(counts.values())).pvalue > 1e-3


def ends(segments, length, removed):
    """Share of segments, as a detector sees them, that hold the beginning, and the end, of their narrative."""
    first = np.array([segment.first for segment in segments])
    last = np.array([segment.first + segment.length for segment in segments])
    assert {segment.length - removed for segment in segments} == {segments[0].length - removed}
    return np.mean(first == 0), np.mean(last == length)


@pytest.mark.parametrize("draws", [1, 8])
@pytest.mark.parametrize(("sentences", "damaged", "length"), [(5, 1, 5), (5, 1, 6), (5, 1, 8), (8, 2, 10), (8, 2, 14)])
def test_whole_segments_look_like_damaged_ones_after_removal(sentences, damaged, length, draws):
    """They hold the beginning and the end of their narrative as often, however many are drawn of it."""
    how = drawing("missing", sentences, damaged, draws, intact=0.5)
    found = drawn([length] * (24_000 // draws), how).segments
    whole = [segment for segment in found if not segment.places]
    damaged_ones = [segment for segment in found if segment.places]
    assert {s.length for s in whole} == {s.length - damaged for s in damaged_ones}
    for theirs, ours in zip(ends(whole, length, 0), ends(damaged_ones, length, damaged), strict=True):
        error = np.sqrt(ours * (1 - ours) * (1 / len(whole) + 1 / len(damaged_ones)))
        assert abs(theirs - ours) < 4 * error + 1e-9


def test_no_segment_holds_both_ends_where_some_are_whole():
    how = drawing("missing", 5, 1, draws=20, intact=0.5)
    for length in (4, 5, 6, 9):
        found = drawn([length] * 50, how).segments
        assert found
        assert not any(segment.first == 0 and segment.length == length for segment in found)


def test_whole_segments_have_the_share_that_is_asked_for():
    found = drawn([60] * 4000, drawing("discordant", 5, 1, draws=1, intact=0.3)).segments
    assert np.mean([not segment.places for segment in found]) == pytest.approx(0.3, abs=0.025)


def test_without_whole_segments_a_narrative_of_their_length_is_one_segment():
    assert drawn([5], drawing("missing", 5, 1)).segments[0].length == 5
    assert drawn([5], drawing("missing", 5, 1, balanced=True)).segments[0].length == 4


def test_what_is_drawn_of_a_narrative_depends_on_its_id_alone():
    lengths = [9, 30, 12, 7]
    all_of_them = told(lengths)
    how = drawing("missing", 5, 1, draws=4, intact=0.5)
    together = draw_segments(all_of_them, range(4), how).segments
    alone = draw_segments(all_of_them, [2], how).segments
    assert [segment for segment in together if segment.narrative == 2] == alone
    moved = replace(told([12, 3]), ids=["n2", "x"])
    assert draw_segments(moved, [0], how).segments == [replace(segment, narrative=0) for segment in alone]


def test_a_seed_gives_the_same_segments_and_another_one_others():
    one, again = (drawn([20] * 30, drawing(draws=3)).segments for _ in range(2))
    assert one == again
    assert one != drawn([20] * 30, drawing(draws=3, seed=4)).segments


def test_no_two_segments_of_a_narrative_are_the_same():
    found = drawn([5] * 20, drawing(draws=30)).segments
    assert len(set(found)) == len(found) == 20 * 3


def test_short_narratives_are_counted():
    found = drawn([2, 3, 4, 5, 6], drawing("missing", 5, 1, balanced=True))
    assert (found.too_short, found.shorter) == (2, 2)  # of 2 and 3; of 4 and 5
    assert [segment.narrative for segment in found.segments] == [2, 3, 4]
    assert found.segments[0] == Segment(2, found.segments[0].first, 3, (1,))
    found = drawn([2, 3, 4, 5, 6], drawing("discordant", 5, 1))
    assert (found.too_short, found.shorter) == (1, 2)


def test_other_splits_than_that_for_training_have_one_damaged_segment_a_narrative():
    options = NarrativeOptions(draws=7, intact=0.4)
    assert (drawing_of(options, "missing", "train", 1).draws, drawing_of(options, "missing", "train", 1).intact) == (
        7,
        0.4,
    )
    for split in ("valid", "test"):
        how = drawing_of(options, "missing", split, 1)
        assert (how.draws, how.intact, how.spare) == (1, 0.0, 1)
    assert drawing_of(NarrativeOptions(intact=0.0), "missing", "test", 1).spare == 0
