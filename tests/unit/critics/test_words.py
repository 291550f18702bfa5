"""Excerpts end where words end."""

import pytest

from macroscope.critics.words import beginning


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
def test_no_word_is_cut_but_one_that_is_too_long(text, shown):
    assert beginning(text, 8) == shown
