"""Places in the strings that a user gave, although documents are read without blank lines, wrapping and headings."""

import json
from unicodedata import normalize

import pytest

from macroscope.api.given_texts import locate_as_judged, locate_document
from macroscope.documents import Document, Section
from macroscope.readers.reading import read_given_texts
from macroscope.readers.selection import Selection

STORY = "The river rose, and the mill stood still. No one came.\n\nThe miller slept. The end."
WRAPPED = "\n".join(["the quick brown fox jumps over the lazy dog and then it goes on"] * 8)
ODD = {
    "plain": STORY,
    "blank lines": f"\n\n \t{STORY}\n\n\n \n",
    "CRLF": f"  {STORY}".replace("\n", "\r\n"),
    "spaces": STORY.replace(" ", "  \u00a0"),
    "decomposed": STORY.replace("e", "e\u0301").replace("o", "o\u0323\u0302"),
    "beyond the first plane": STORY.replace("o", "\U0001d518"),
    "other line breaks": STORY.replace(". ", ".\u2028").replace("mill ", "mill\x85"),
    "a heading of the same words": f"# The river\n\n{STORY}\n\n## The miller slept.\n\nThe miller slept.",
    "front matter": f"---\ntitle: The river\n---\n{STORY}",
    "a fence": f"Sure! The river:\n```markdown\n{STORY}\n```",
    "reasoning": f"<think>The river rose</think>\n{STORY}",
    "hard wraps": WRAPPED,
    "Hangul": normalize("NFD", "\ud55c\uad6d\uc5b4 \ubb38\uc7a5\uc774\ub2e4."),
}


def solid(text):
    return "".join(normalize("NFC", text).split())


@pytest.mark.parametrize("name", ODD)
def test_every_passage_of_a_document_is_a_slice_of_the_given_string(name, tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"text": ODD[name]}))
    [(document, given)] = read_given_texts([path], Selection(authors="models"))
    assert given == ODD[name]
    located = locate_document(document, given)
    for number, section in enumerate(document.sections):
        for start in range(len(section.text)):
            for end in range(start + 1, min(start + 20, len(section.text)) + 1):
                mark = located.locate({"section": number, "start": start, "end": end})
                passage = given[mark["start"] : mark["end"]].replace("```markdown", "")  # the fence is within one
                assert solid(passage) == solid(section.text[start:end])


def test_the_end_of_a_section_is_after_its_last_character(tmp_path):
    document = Document("a", "test", None, (Section(None, "One."), Section(None, "Two.")))
    located = locate_document(document, " One. \n\n\n Two. ")
    assert located.locate({"section": 0, "start": 4, "end": 4, "note": "n"}) == {
        "section": 0,
        "start": 5,
        "end": 5,
        "note": "n",
    }
    assert located.locate({"section": 1, "start": 0, "end": 4})["start"] == 10


def test_a_text_that_changed_is_not_located_and_a_document_is_its_own_text():
    document = Document("a", "test", None, (Section(None, "One."), Section(None, "Two.")))
    assert locate_document(document, "One. Three.") is None
    mark = locate_as_judged(document).locate({"section": 1, "start": 0, "end": 3})
    assert document.text[mark["start"] : mark["end"]] == "Two"


def test_sections_and_prompts_keep_the_strings_of_the_file(tmp_path):
    path = tmp_path / "mine.jsonl"
    records = [{"sections": ["  One.", {"title": "t", "text": "Two. "}]}, {"text": "Say: it is.", "prompt": "Say:"}]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    read = list(read_given_texts([path], Selection(authors="models")))
    assert [given for _, given in read] == ["  One.\nTwo. ", "Say: it is."]
