"""Sentences about what cannot be found in two collections, or would be found whatever their structure."""

from dataclasses import replace

import pytest

from macroscope.criticize.limits_of_texts import describe_limits
from macroscope.criticize.profile import Profile
from macroscope.criticize.typesetting import count_marks, different_families


def profile(name, texts, words=100, first=0, prompts=None):
    """Return the profile of different texts of one length."""
    numbers = list(range(first, first + texts))
    single = [hash((name, number)) for number in numbers]
    return Profile(name, words=[words] * texts, texts=numbers, prompts=single if prompts is None else prompts)


REAL = profile("reference", 200)


def test_two_hundred_texts_of_the_same_length_have_no_limits():
    assert describe_limits(REAL, [profile("mine", 200, first=1000)]) == []
    assert describe_limits(REAL, [profile("mine", 0)]) == []


@pytest.mark.parametrize(("texts", "said"), [(2, "no critic gives a verdict: it needs 4"), (5, "detectability of 89%")])
def test_few_texts(texts, said):
    (sentence,) = describe_limits(REAL, [profile("mine", texts, first=1000)])
    assert sentence.startswith(f"With 200 real texts and {texts} of mine, ")
    assert said in sentence
    assert said in " ".join(describe_limits(profile("mine", texts), [profile("other", 200, first=1000)]))


def test_texts_of_a_prompt_count_as_one():
    candidate = profile("mine", 200, first=1000, prompts=[number % 20 for number in range(200)])
    (sentence,) = describe_limits(REAL, [candidate])
    assert sentence.startswith("With 200 real texts and 20 of mine, most differences stay inconclusive")


def test_other_lengths():
    for words in (3, 50, 200):
        (sentence,) = describe_limits(REAL, [profile("mine", 200, words, 1000)])
        assert sentence.startswith(f"The median text of mine has {words} words, and that of the reference 100")


def test_repeated_texts_and_copies():
    (sentence,) = describe_limits(REAL, [replace(profile("mine", 200), texts=[7777] * 200)])
    assert sentence.startswith("199 of 200 texts of mine occur again, word for word")
    (sentence,) = describe_limits(REAL, [profile("mine", 200)])
    assert sentence.startswith("200 texts of mine are in the reference, word for word")


PROSE = 'Ann said: "It rains in May." She left. He saw NASA, and a fox.\n' * 30


@pytest.mark.parametrize(
    ("text", "families"),
    [
        (PROSE.replace("fox", "hen"), []),
        (PROSE.upper(), ["words with capitals"]),
        (PROSE.lower(), ["beginnings of sentences"]),
        (PROSE.replace("fox", "f\0ox"), ["spaces"]),
    ],
)
def test_capitals_and_control_characters_are_typesetting(text, families):
    assert different_families(count_marks(PROSE), count_marks(text)) == families
