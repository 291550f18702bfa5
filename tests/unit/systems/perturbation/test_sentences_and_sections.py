"""Sentences and sections within a document."""

from collections import Counter
from itertools import combinations, pairwise

import pytest

from macroscope.systems.perturbation.sentences import sample_non_adjacent

from .damaging import damage, document, rng


def test_sections_move_with_their_titles_and_all_orders_occur():
    before = document("A.", "B.", "C.")
    counts = Counter(damage("shuffle_sections", before, seed=seed).sections for seed in range(600))
    assert all(sorted(order, key=lambda section: section.text) == list(before.sections) for order in counts)
    assert len(counts) == 6
    assert min(counts.values()) > 60


@pytest.mark.parametrize(("n", "share", "kept"), [(4, 0.5, 2), (5, 0.1, 4), (5, 0.99, 1), (2, 0.5, 1), (1, 0.5, 1)])
def test_dropped_sections_leave_the_others_in_order(n, share, kept):
    before = document(*(f"{number}." for number in range(n)))
    results = {damage("drop_sections", before, share, seed).sections for seed in range(40)}
    for sections in results:
        assert len(sections) == kept
        assert sorted(sections, key=before.sections.index) == list(sections)
    assert len(results) > 1 or kept == n


def test_sentences_stay_in_their_section_and_lines_keep_their_numbers():
    before = document("Dr. Gray came. He saw it.\nIt was Jan. 3. He left!", "One more.")
    results = {damage("shuffle_sentences", before, seed=seed).sections for seed in range(300)}
    assert len(results) == 24
    for first, second in results:
        assert second == before.sections[1]
        assert first.text.count("\n") == 1
        for sentence in ("Dr. Gray came.", "He saw it.", "It was Jan. 3.", "He left!"):
            assert sentence in first.text


@pytest.mark.parametrize(("share", "repeated"), [(0.25, 1), (0.01, 1), (0.5, 2), (1.0, 4)])
def test_repeated_sentences_are_adjacent(share, repeated):
    before = document("One is. Two is.\nThree is.", "Four is.")
    after = damage("repeat_sentences", before, share)
    text = " ".join(section.text for section in after.sections)
    counts = Counter(text.replace(" is.", "").split())
    assert sorted(counts.values()) == [1] * (4 - repeated) + [2] * repeated
    for word in ("One", "Two", "Three", "Four"):
        text = text.replace(f"{word} is. {word} is.", f"{word} is.")
    assert text == "One is. Two is.\nThree is. Four is."
    assert [section.title for section in after.sections] == ["title 0", "title 1"]


@pytest.mark.parametrize(
    ("places", "number"), [(3, 1), (5, 2), (6, 2), (6, 3), (5, 3), (4, 9), (1, 1), (0, 1), (-1, 2)]
)
def test_all_choices_of_non_adjacent_places_are_equally_likely(places, number):
    """Compare with all subsets; in cai2020 section 3, 1 of 5 sentences is in one of 3 slots, and 2 of 8 in 6."""
    most = min(number, max(0, (places + 1) // 2))
    expected = {
        subset
        for subset in combinations(range(max(0, places)), most)
        if all(second - first > 1 for first, second in pairwise(subset))
    }
    runs = 400 * len(expected)
    counts = Counter(tuple(sample_non_adjacent(places, number, rng(seed)).tolist()) for seed in range(runs))
    assert set(counts) == expected
    assert all(abs(count - 400) < 6 * 20 for count in counts.values())


def test_removed_sentences_are_neither_the_first_nor_the_last():
    before = document("One is. Two is. Three is.\nFour is. Five is.", "Six is. Seven is. Eight is.")
    sentences = "One Two Three Four Five Six Seven Eight".split()
    for seed in range(60):
        after = damage("remove_sentences", before, seed=seed, number=2)
        remaining = " ".join(section.text for section in after.sections).replace(" is.", "").split()
        removed = [place for place, word in enumerate(sentences) if word not in remaining]
        assert remaining == [word for word in sentences if word in remaining]
        assert len(removed) == 2
        assert removed[1] - removed[0] > 1
        assert {0, 7}.isdisjoint(removed)
        assert after.sections[0].text.count("\n") == 1


def test_a_paragraph_of_one_sentence_is_removed_with_its_line():
    lines = ["One is.", "Two is.", "Three is.", "Four is."]
    for seed in range(20):
        remaining = damage("remove_sentences", document("\n".join(lines)), seed=seed, number=1).text.split("\n")
        assert remaining in ([lines[0], *lines[2:]], [*lines[:2], lines[3]])


def test_a_short_text_loses_as_many_sentences_as_possible():
    assert damage("remove_sentences", document("One is. Two is."), number=3).text == "One is. Two is."
    assert damage("remove_sentences", document("One is. Two is. Three is."), number=3).text == "One is. Three is."
