"""Sentences about what cannot be found in two collections, or would be found whatever their structure."""

from dataclasses import replace

import pytest

from macroscope.criticize.checks import TEXTS, describe
from macroscope.criticize.profile import Profile
from macroscope.documents import Count
from macroscope.natural_language.typesetting import count_marks, different_families


def profile(name, texts, words=100, first=0, prompts=None):
    """Return the profile of different texts of one length."""
    numbers = list(range(first, first + texts))
    single = [hash((name, number)) for number in numbers]
    prompts = single if prompts is None else prompts
    return Profile(name, words=[words] * texts, texts=numbers, prompts=prompts, openings=[0] * texts)


REAL = profile("reference", 200)


def test_two_hundred_texts_of_the_same_length_have_no_limits():
    assert describe(TEXTS, REAL, [profile("mine", 200, first=1000)]) == []
    assert describe(TEXTS, REAL, [profile("mine", 0)]) == []


@pytest.mark.parametrize(("texts", "said"), [(2, "no critic gives a verdict: it needs 4"), (5, "detectability of 89%")])
def test_few_texts(texts, said):
    (sentence,) = describe(TEXTS, REAL, [profile("mine", texts, first=1000)])
    assert sentence.startswith(f"With 200 real texts and {texts} of mine, ")
    assert said in sentence
    assert said in " ".join(describe(TEXTS, profile("mine", texts), [profile("other", 200, first=1000)]))


def test_texts_of_a_prompt_count_as_one():
    candidate = profile("mine", 200, first=1000, prompts=[number % 20 for number in range(200)])
    (sentence,) = describe(TEXTS, REAL, [candidate])
    assert sentence.startswith("With 200 real texts and 20 of mine, most differences stay inconclusive")


def test_other_lengths():
    for words in (3, 50, 200):
        (sentence,) = describe(TEXTS, REAL, [profile("mine", 200, words, 1000)])
        assert sentence.startswith(f"The median text has 100 words in the reference, and {words} in mine: length")


def test_systems_of_which_the_same_holds_share_a_sentence():
    candidates = [profile(f"system {n}", 20, 10 + n, first=1000 * n) for n in range(1, 31)]
    sizes, lengths = describe(TEXTS, REAL, candidates)
    named = "system 1, system 2, system 3, system 4, system 5 and 25 more"
    assert sizes.startswith(f"With 200 real texts and 20 each of {named}, most differences stay inconclusive")
    assert (
        "and 11 in system 1, 12 in system 2, 13 in system 3, 14 in system 4, 15 in system 5 and 25 more: length"
        in lengths
    )


def test_repeated_texts_and_copies():
    (sentence,) = describe(TEXTS, REAL, [replace(profile("mine", 200), texts=[7777] * 200)])
    assert sentence.startswith("199 of 200 texts of mine occur again, word for word")
    (sentence,) = describe(TEXTS, REAL, [profile("mine", 200)])
    assert sentence.startswith("200 texts of mine are in the reference: 200 whole, 0 by about half")


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


@pytest.mark.parametrize(("empty", "is_said"), [(5, False), (100, True)])
def test_many_records_without_text_are_said(empty, is_said):
    counts = [Count("document without text", 200, empty), Count("some other filter", 200, 150)]
    said = describe(TEXTS, REAL, [replace(profile("mine", 200, first=1000), counts=counts)])
    assert len(said) == is_said
    assert all(sentence.startswith("100 of 300 records of mine have no text and are left out:") for sentence in said)


def test_few_prompts_are_said_for_all_collections_at_once():
    few = [profile(name, 200, first=first, prompts=[7] * 200) for name, first in (("a", 1000), ("b", 2000))]
    (sentence,) = describe(TEXTS, REAL, few)
    assert sentence.startswith("1 prompt each of a, b is too few to say anything of texts of other prompts.")
    assert sentence.endswith("the results hold for this prompt alone.")
