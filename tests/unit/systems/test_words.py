"""Splitting of texts into words, and joining."""

import pytest

from macroscope.systems.words import join_words, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a (b).", ["a", "(", "￭b", "￭)."]),
        ("A b, c.\n\nD!", ["A", "b", "￭,", "c", "￭.", "\n\n", "D", "￭!"]),
        ("don't  stop", ["don", "￭'", "￭t", "stop"]),
        ("", []),
    ],
)
def test_words_of_a_text(text, words):
    assert split_words(text) == words


@pytest.mark.parametrize(
    "text", ["A b, c.\n\nD (e)!", "naïve café 北京; 1,000.5", "x", "", "title: text\n\nother: more"]
)
def test_joining_words_restores_the_text(text):
    assert join_words(split_words(text)) == text


def test_white_space_becomes_one_space():
    assert join_words(split_words("two  words\t here \n next")) == "two words here\nnext"
