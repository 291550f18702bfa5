"""Excerpts end at word boundaries."""

import pytest

from macroscope.critics.excerpts import shorten


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("one two", "one two"),
        ("one  two\nsix", "one two …"),
        ("one two, six", "one two, …"),
        ("twelve twelve", "twelve …"),
        ("x" * 30, "x" * 8 + " …"),
        ("one" + " " * 40 + "two", "one …"),
        (" " * 40 + "two", "…"),
    ],
)
def test_only_a_word_longer_than_the_excerpt_is_cut(text, shown):
    assert shorten(text, 8) == shown
