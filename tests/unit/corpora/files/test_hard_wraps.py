"""Hard-wrapped lines, as e-mail, Project Gutenberg and PDF extraction have them."""

import json
import textwrap

import pytest

from macroscope.corpora.files.hard_wraps import join_hard_wraps
from macroscope.corpora.files.parsing import HARD_WRAPPED
from macroscope.corpora.files.reading import read_user_documents
from macroscope.documents import Provenance

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
