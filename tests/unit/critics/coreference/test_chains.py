"""Chains, by the rules of deng2022's Appendix G."""

import pytest

from macroscope.critics.coreference.chains import chain_of, gender_of
from macroscope.critics.coreference.mentions import Mention, Resolved


def resolved(text, *mentions, sentences=(0,)):
    """Mentions (words, number of their occurrence, entity, pronoun, person) of a text."""
    found = []
    for words, occurrence, entity, pronoun, person in mentions:
        start = -1
        for _ in range(occurrence):
            start = text.index(words, start + 1)
        head = start + words.rindex(" ") + 1 if " " in words else start
        found.append(Mention(start, start + len(words), head, start + len(words), entity, pronoun, person))
    return Resolved("x", tuple(sentences), tuple(found))


def symbols(chain):
    return [s if e < 0 else f"{s}:{e}" for s, e in zip(chain.surfaces, chain.entities, strict=True)]


def test_the_example_of_figure_5():
    text = "Lisa runs off to find him and they kiss. Josh tells her why he and Lisa go to their gig."
    found = resolved(
        text,
        ("Lisa", 1, 4, False, True),
        ("him", 1, 2, True, True),
        ("they", 1, 9, True, True),
        ("Josh", 1, 2, False, True),
        ("her", 1, 4, True, True),
        ("he", 3, 2, True, True),
        ("Lisa", 2, 4, False, True),
        ("their", 1, 9, True, True),
        sentences=(0, 41),
    )
    assert symbols(chain_of(found, text)) == (
        [".", "Female:0", "him:1", "they:2", ".", "Male:1", "her:0", "he:1", "Female:0", "their:2"]
    )


def test_an_entity_is_a_person_if_any_of_its_mentions_tells_so():
    text = "The company grew. It moved. The doctor slept. She woke."
    found = resolved(
        text,
        ("The company", 1, 0, False, False),
        ("It", 1, 0, True, False),
        ("The doctor", 1, 1, False, False),
        ("She", 1, 1, True, True),
    )
    assert symbols(chain_of(found, text)) == [".", "Female:0", "She:0"]


def test_it_makes_nobody_a_person():
    text = "The company grew. It moved."
    found = resolved(text, ("The company", 1, 0, False, False), ("It", 1, 0, True, True))
    assert symbols(chain_of(found, text)) == ["."]


@pytest.mark.parametrize(
    ("single", "expected"), [("none", ["."]), ("pronouns", [".", "He:0"]), ("all", [".", "He:0", "None:1"])]
)
def test_who_is_mentioned_once(single, expected):
    text = "He met Ann."
    found = resolved(text, ("He", 1, 0, True, True), ("Ann", 1, 1, False, True))
    assert symbols(chain_of(found, text, single)) == expected


@pytest.mark.parametrize("word", ["you", "I", "our", "its"])
def test_of_other_pronouns_that_are_alone_nothing_is_kept(word):
    assert symbols(chain_of(resolved(word, (word, 1, 0, True, True)), word)) == ["."]


def test_the_gender_is_that_of_most_pronouns_and_of_as_many_the_first():
    text = "she he Kim his her"
    mentions = resolved(
        text,
        ("she", 1, 0, True, True),
        ("Kim", 1, 0, False, True),
        ("his", 1, 0, True, True),
        ("her", 1, 0, True, True),
    ).mentions
    assert gender_of(mentions, text) == "Female"
    assert gender_of([mentions[0], mentions[2]], text) == "Female"
    assert gender_of([mentions[1]], text) == "None"


def test_of_several_clusters_with_one_head_the_last_is_taken():
    text = "Ann and her. She. Her."
    found = Resolved(
        "x",
        (0,),
        (
            Mention(0, 3, 0, 3, 0, False, True),
            Mention(0, 11, 0, 3, 1, False, True),
            Mention(13, 16, 13, 16, 0, True, True),
            Mention(18, 21, 18, 21, 1, True, True),
        ),
    )
    assert symbols(chain_of(found, text)) == [".", "Female:0", "She:1", "Her:0"]


def test_empty_and_outside_mentions_are_counted_and_overlapping_ones_are_not():
    text = "Ann saw her."
    good = (Mention(0, 3, 0, 3, 0, False, True), Mention(8, 11, 8, 11, 0, True, True))
    bad = (
        Mention(4, 4, 4, 4, 0, False, True),
        Mention(8, 99, 90, 99, 0, True, True),
        Mention(-1, 3, 0, 3, 1, False, True),
    )
    nobody = (Mention(0, 3, 0, 3, -1, False, True),)
    overlapping = (Mention(0, 11, 8, 11, 0, True, True),)
    chain = chain_of(Resolved("x", (0, 999), (*good, *bad, *nobody, *overlapping)), text)
    assert chain.invalid == 5  # one of them is the beginning of a sentence outside of the text
    assert symbols(chain) == [".", "Female:0", "her:0"]
    assert [text[a:b] for a, b in zip(chain.starts, chain.ends, strict=True)] == ["", "Ann", "her"]
