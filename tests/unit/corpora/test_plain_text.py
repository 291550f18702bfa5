import pytest
from hypothesis import given
from hypothesis import strategies as st

from macroscope.natural_language.sentences import split_sentences


def sentences(text, language="en"):
    return [sentence.strip() for sentence in split_sentences(text, language)]


def test_abbreviations_and_initials_end_no_sentence():
    text = "Dr. Smith met J. R. R. Tolkien at 5 p.m. on Jan. 3. They spoke of growth, e.g. 3.5 percent, in the U.S."
    assert sentences(text) == [
        "Dr. Smith met J. R. R. Tolkien at 5 p.m. on Jan. 3.",
        "They spoke of growth, e.g. 3.5 percent, in the U.S.",
    ]


def test_speech_is_part_of_its_sentence():
    assert sentences('She said, "Go away. I mean it." He left! "Why?" asked Tom.') == [
        'She said, "Go away. I mean it."',
        "He left!",
        '"Why?" asked Tom.',
    ]


def test_a_line_break_ends_a_sentence():
    assert split_sentences("A list of things\nOne more line. And on.\n") == [
        "A list of things\n",
        "One more line. ",
        "And on.\n",
    ]


def test_abbreviations_are_those_of_the_language():
    assert sentences("Das ist z. B. gut. Ja.", "de") == ["Das ist z. B. gut.", "Ja."]


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_blank_texts_have_no_sentences(text):
    assert split_sentences(text) == []


marks = [*"ab .\n!?\"'A().“”。¿\t\r\x00JÉЖ世😀", "\u00a0", "\u2009", "\u3000", "Dr.", "J.", "J\u00a0."]
alphabet = st.sampled_from(marks)


@pytest.mark.slow
@given(st.lists(alphabet, max_size=25).map("".join), st.sampled_from(["en", "de", "zh", "tlh"]))
def test_sentences_join_to_the_text(text, language):
    parts = split_sentences(text, language)
    assert "".join(parts) == (text if text.strip() else "")
    assert all(sentence.strip() for sentence in parts)
