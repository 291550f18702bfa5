"""Vocabulary of a topic model, and counts of its words."""

import numpy as np
import pytest

from macroscope.critics.topics.vocabulary import (
    LATEX_DEBRIS,
    Limits,
    WordCounts,
    build_vocabulary,
    count_words,
    lower_case_words,
    published_words,
)
from macroscope.documents import Document, Section
from macroscope.natural_language.words import stop_words


def documents(*texts):
    return [Document(str(n), "train", None, (Section(None, text),)) for n, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Cat's 9 lives, re-told!", ["the", "cat's", "lives", "re", "told"]),
        ("@xmath0 ÉTÉ_x Straße", ["xmath", "été", "x", "straße"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("cafe\u0301", ["café"]),
        ("", []),
    ],
)
def test_words_are_lower_case_letters(text, words):
    assert lower_case_words(text) == words


def test_published_words_are_separated_by_white_space():
    assert published_words("The Cat's 9\nlives,") == ["The", "Cat's", "9", "lives,"]


def test_each_limit_excludes_its_words_and_counts_them():
    texts = ["the star orbits star star", "the star galaxy galaxy", "the cell cell xmath", "the of gene gene rare"]
    limits = Limits(frozenset({"of"}), most_documents=0.5, least_frequency=2)
    words, dropped = build_vocabulary(documents(*texts), lower_case_words, limits)
    assert words == ["galaxy", "cell", "gene"]  # of equal frequency: in the order of first occurrence
    assert dropped == {"stop word": 1, "LaTeX debris": 1, "in too many documents": 2, "too rare": 2}
    assert build_vocabulary(
        documents(*texts), lower_case_words, Limits(frozenset(), most_documents=0.6, least_frequency=4)
    )[0] == ["star"]


def test_the_released_code_keeps_marks_of_citations():
    texts = ["xcite xmath star", "xcite xmath cell"] * 2
    for convention, kept in (("definition", ["star", "cell"]), ("published", ["xcite", "star", "cell"])):
        limits = Limits(frozenset(), LATEX_DEBRIS[convention], most_documents=1.1, least_frequency=1)
        assert build_vocabulary(documents(*texts), published_words, limits)[0] == kept


def test_smart_is_the_list_of_524_lines_of_mallet():
    """Its 571 words have 47 with an apostrophe, and "would" twice."""
    words = stop_words("smart")
    assert len(words) == 523
    assert {"howbeit", "thanx", "uucp", "zero"} <= words
    assert not any("'" in word for word in words)


def test_counts_are_those_of_the_vocabulary():
    counts = count_words([["b", "a", "b", "x"], [], ["a"]], {"a": 0, "b": 1})
    assert counts.totals.tolist() == [3, 0, 1]
    words = counts.batch(np.array([0, 1, 2]))
    assert words.counts.tolist() == [[1, 2], [0, 0], [1, 0]]
    assert words.types.tolist() == [[0, 1], [0, 0], [0, 0]]
    assert [sorted(batch) for batch in counts.batches(3)] == [[0, 1, 2]]


def test_halves_partition_the_words():
    rng = np.random.default_rng(0)
    counts = WordCounts.from_documents([np.array([0, 0, 1, 2, 2, 2]), np.array([5]), np.array([], dtype=int)])
    first, second = counts.split_words(rng)
    assert first.totals.tolist() == [3, 0, 0]
    assert second.totals.tolist() == [3, 1, 0]
    both = [a + b for a, b in zip(*(np.bincount(h.types, h.counts, 6) for h in (first, second)), strict=True)]
    assert both == np.bincount(counts.types, counts.counts, 6).tolist()
