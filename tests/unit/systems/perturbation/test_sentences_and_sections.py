"""Sentences and sections within a document."""

from collections import Counter

import numpy as np
import pytest

from macroscope.documents import Document, Section
from macroscope.systems.perturbation.sections import drop_sections, shuffle_sections
from macroscope.systems.perturbation.sentences import repeat_sentences, shuffle_sentences


def document(*texts):
    return Document("d", "test", "D", tuple(Section(f"title {n}", text) for n, text in enumerate(texts)))


def rng(seed=0):
    return np.random.default_rng(seed)


def test_sections_move_with_their_titles_and_all_orders_come():
    before = document("A.", "B.", "C.")
    drawn = Counter(shuffle_sections(before, rng(seed)).sections for seed in range(600))
    assert all(sorted(order, key=lambda section: section.text) == list(before.sections) for order in drawn)
    assert len(drawn) == 6
    assert min(drawn.values()) > 60


@pytest.mark.parametrize(("n", "share", "kept"), [(4, 0.5, 2), (5, 0.1, 4), (5, 0.99, 1), (2, 0.5, 1), (1, 0.5, 1)])
def test_dropped_sections_leave_the_others_in_order(n, share, kept):
    before = document(*(f"{number}." for number in range(n)))
    found = {drop_sections(before, share, rng(seed)).sections for seed in range(40)}
    for sections in found:
        assert len(sections) == kept
        assert sorted(sections, key=before.sections.index) == list(sections)
    assert len(found) > 1 or kept == n


def test_sentences_stay_in_their_section_and_lines_keep_their_numbers():
    before = document("Dr. Gray came. He saw it.\nIt was Jan. 3. He left!", "One more.")
    found = {shuffle_sentences(before, "en", rng(seed)).sections for seed in range(300)}
    assert len(found) == 24
    for first, second in found:
        assert second == before.sections[1]
        assert first.text.count("\n") == 1
        for sentence in ("Dr. Gray came.", "He saw it.", "It was Jan. 3.", "He left!"):
            assert sentence in first.text


@pytest.mark.parametrize(("share", "repeated"), [(0.25, 1), (0.01, 1), (0.5, 2), (1.0, 4)])
def test_repeated_sentences_stand_side_by_side(share, repeated):
    before = document("One is. Two is.\nThree is.", "Four is.")
    after = repeat_sentences(before, share, "en", rng())
    text = " ".join(section.text for section in after.sections)
    counts = Counter(text.replace(" is.", "").split())
    assert sorted(counts.values()) == [1] * (4 - repeated) + [2] * repeated
    for word in ("One", "Two", "Three", "Four"):
        text = text.replace(f"{word} is. {word} is.", f"{word} is.")
    assert text == "One is. Two is.\nThree is. Four is."
    assert [section.title for section in after.sections] == ["title 0", "title 1"]
