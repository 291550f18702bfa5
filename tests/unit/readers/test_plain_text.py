"""Hard-wrapped lines, as e-mail, Project Gutenberg and PDF extraction have them."""

import json
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macroscope.documents import Provenance
from macroscope.natural_language.sentences import split_sentences
from macroscope.readers.parsing import HARD_WRAPPED
from macroscope.readers.plain_text import join_hard_wraps
from macroscope.readers.reading import read_user_documents


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


PARAGRAPHS = [
    " ".join(f"The {who} walked slowly along the river while the bells of the church rang {n} times." for n in range(6))
    for who in ("old sailor", "teacher", "baker's young apprentice")
]

VERSE = [
    "Shall I compare thee to a summer's day?",
    "Thou art more lovely and more temperate:",
    "Rough winds do shake the darling buds of May,",
    "And summer's lease hath all too short a date;",
    "Sometime too hot the eye of heaven shines,",
    "And often is his gold complexion dimm'd;",
]
DIALOGUE = [
    "Where is he?",
    "Gone to the river, where the boats are, long ago.",
    "When?",
    "This morning.",
    "Alone?",
    "Yes.",
]


@pytest.mark.parametrize("width", [45, 60, 72, 100])
def test_paragraphs_are_one_line_again(width):
    wrapped = "\n\n".join(textwrap.fill(paragraph, width) for paragraph in PARAGRAPHS)
    assert join_hard_wraps(wrapped) == "\n\n".join(PARAGRAPHS)


def test_headings_and_lists_stay_lines():
    text = "# The river\n{}\n- one\n- two\n\n## Later\n\n{}"
    wrapped = text.format(*(textwrap.fill(paragraph, 60) for paragraph in PARAGRAPHS[:2]))
    assert join_hard_wraps(wrapped) == text.format(*PARAGRAPHS[:2])


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(PARAGRAPHS),
        "\n".join(sentence for sentence in PARAGRAPHS[0].split(". ")),
        "\n".join(VERSE),
        "\n".join(DIALOGUE),
        "\n".join(["- bread and a little butter for the morning", "- milk", "- apples", "- a newspaper", "- salt"]),
        "",
        "one",
    ],
    ids=["paragraphs", "sentences", "verse", "dialogue", "list", "empty", "word"],
)
def test_other_lines_stay(text):
    assert join_hard_wraps(text) == text


def test_joined_texts_are_counted(tmp_path):
    wrapped = textwrap.fill(PARAGRAPHS[0], 70)
    records = [{"text": wrapped}, {"sections": [{"title": "a", "text": wrapped}, "b"]}, {"text": PARAGRAPHS[0]}]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, records)))
    provenance = Provenance("c")
    texts = [
        document.sections[0].text for document in read_user_documents([tmp_path / "x.jsonl"], provenance, 0.1, 0.2)
    ]
    assert texts == [PARAGRAPHS[0]] * 3
    assert provenance.source[HARD_WRAPPED] == 2
