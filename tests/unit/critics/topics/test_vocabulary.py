"""Which words a topic model sees."""

import numpy as np
import pytest

from macroscope.critics.topics.vocabulary import Limits, lower_case_words, published_words, vocabulary
from macroscope.critics.topics.word_counts import WordCounts, word_counts
from macroscope.documents import Document, Section


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


def test_published_words_are_what_stands_between_spaces():
    assert published_words("The Cat's 9\nlives,") == ["The", "Cat's", "9", "lives,"]


def test_each_limit_leaves_out_its_words_and_counts_them():
    texts = ["the star orbits star star", "the star galaxy galaxy", "the cell cell xmath", "the of gene gene rare"]
    limits = Limits(frozenset({"of"}), 0.5, 2)
    words, dropped = vocabulary(documents(*texts), lower_case_words, limits)
    assert words == ["galaxy", "cell", "gene"]  # as often as each other: in the order of their first occurrence
    assert dropped == {"stop word": 1, "LaTeX debris": 1, "in too many documents": 2, "too rare": 2}
    assert vocabulary(documents(*texts), lower_case_words, Limits(frozenset(), 0.6, 4))[0] == ["star"]


def test_counts_are_those_of_known_words():
    counts = word_counts([["b", "a", "b", "x"], [], ["a"]], {"a": 0, "b": 1})
    assert counts.totals.tolist() == [3, 0, 1]
    words = counts.some(np.array([0, 1, 2]))
    assert words.counts.tolist() == [[1, 2], [0, 0], [1, 0]]
    assert words.types.tolist() == [[0, 1], [0, 0], [0, 0]]
    assert [sorted(some) for some in counts.batches(3)] == [[0, 1, 2]]


def test_halves_share_out_the_words():
    rng = np.random.default_rng(0)
    counts = WordCounts.of([np.array([0, 0, 1, 2, 2, 2]), np.array([5]), np.array([], dtype=int)])
    first, second = counts.halves(rng)
    assert first.totals.tolist() == [3, 0, 0]
    assert second.totals.tolist() == [3, 1, 0]
    both = [a + b for a, b in zip(*(np.bincount(h.types, h.counts, 6) for h in (first, second)), strict=True)]
    assert both == np.bincount(counts.types, counts.counts, 6).tolist()
