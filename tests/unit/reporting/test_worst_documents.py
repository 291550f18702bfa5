"""The worst document: which one it is, and what of it is opened."""

from contextlib import chdir
from urllib.parse import unquote

import pytest

from macroscope.documents import Document, Section
from macroscope.reporting.results import Results
from macroscope.reporting.worst_documents import MOST_CHARACTERS, opened, worst_document

from ...reader_runs import write_run


def mark(section, start, end, weight=0.5, note="why"):
    return {"section": section, "start": start, "end": end, "weight": weight, "note": note}


def document(*texts):
    return Document("d", "test", None, tuple(Section(f"section {n}", text) for n, text in enumerate(texts)))


def text_of(sections):
    return "".join(piece.text for section in sections for piece in section.pieces)


def pieces_of(section):
    return [(piece.text, piece.note) for piece in section.pieces]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("worst")
    config = write_run(folder, {"control": 30, "shuffled": 40})
    with chdir(folder):
        yield Results(config.relative_to(folder))


def test_the_first_critic_that_marks_places_is_asked(results):
    found = worst_document(results, "wiki", "shuffled", ["topics", "coherence", "strings"])
    # coherence gives text n the score n / 100, and the hostile texts are the last.
    assert found.critic == "coherence"
    assert found.score == "0.440 nats (latent NLL a transition)"
    assert found.larger == "all 34"
    assert unquote(found.address) == "reader/index.html#wiki/shuffled/hostile/4 <i>?&#\"'?by=coherence"
    assert worst_document(results, "wiki", "shuffled", ["strings", "coherence"]).name == "Title 0"


def test_one_that_only_gives_numbers_is_asked_where_no_other_does(results):
    found = worst_document(results, "wiki", "shuffled", ["topics"])
    assert found.critic == "topics"
    assert (found.score, found.larger) == ("0.00 nats (latent NLL)", "34 of 35")
    assert worst_document(results, "wiki", "shuffled", []) is None


def test_a_short_text_is_shown_whole_with_its_marks():
    text = document("One two three.", "Four five.")
    marks = [mark(0, 4, 7, note="rare"), mark(1, 0, 10, note="out of order"), mark(1, 10, 10, note="ends too soon")]
    sections, cut = opened(text, marks)
    assert not cut
    assert pieces_of(sections[0]) == [
        ("One ", ""),
        ("two", "rare"),
        (" three.", ""),
    ]
    assert (sections[1].whole, sections[1].behind) == (["out of order"], ["ends too soon"])
    assert text_of(sections) == "One two three.Four five."


def test_marks_that_overlap_say_both():
    sections, _ = opened(document("abcdef"), [mark(0, 0, 4, note="one"), mark(0, 2, 6, note="two")])
    assert pieces_of(sections[0]) == [
        ("ab", "one"),
        ("cd", "one; two"),
        ("ef", "two"),
    ]


def test_a_long_text_is_opened_around_the_place_that_is_blamed_most():
    words = " ".join(f"word{n}" for n in range(2000))
    at = words.index("word1500")
    sections, cut = opened(document(words), [mark(0, 0, 5, 0.1), mark(0, at, at + 8, 0.9, "here")])
    assert cut
    assert len(text_of(sections)) <= MOST_CHARACTERS + 4  # the dots
    assert [piece.text for piece in sections[0].pieces if piece.note] == ["word1500"]
    shown = text_of(sections)
    assert (shown[0], shown[-1]) == ("…", "…")
    assert set(shown.split()) <= {*words.split(), "…"}  # no word is cut
    sections, _ = opened(document(words, words), [mark(1, 0, len(words), 0.9, "as a whole")])
    assert [section.whole for section in sections] == [[], ["as a whole"]]


def test_a_word_longer_than_all_is_cut_all_the_same():
    sections, cut = opened(document("x" * 5000), [])
    assert cut
    assert len(text_of(sections)) == MOST_CHARACTERS + 2
