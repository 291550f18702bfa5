"""Keys that texts of one prompt share."""

import pytest

from macroscope.document_keys import key_of_prompt, key_of_text, opening_of, split_key

STORY = "Once upon a time a fox lived in a wood by the sea."
FIRST_WORDS = opening_of(STORY)


@pytest.mark.parametrize(
    ("prompt", "parts"),
    [
        (None, ("", FIRST_WORDS)),
        ("", ("", "")),
        (" \n", ("", FIRST_WORDS)),
        ("Tell me of a fox.", (key_of_prompt("Tell me of a fox."), "")),
        ("Once upon", (key_of_prompt("Once upon"), FIRST_WORDS)),
    ],
)
def test_a_key_has_the_prompt_the_first_words_or_both(prompt, parts):
    assert split_key(key_of_text(STORY, prompt)) == parts


def test_the_prompt_counts_where_a_text_is_no_longer_than_its_opening():
    assert split_key(key_of_text("Once upon", "Once")) == (key_of_prompt("Once"), "")


@pytest.mark.parametrize("text", ["prompt: tell me of a fox", "prompt:fox and more"])
def test_first_words_that_look_like_a_key_are_words(text):
    key = key_of_text(f"{text} who lived in a wood by the sea", None)
    assert split_key(key) == ("", key)
