"""The worst document: which one it is, and what of it is opened."""

from contextlib import chdir
from dataclasses import replace
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.attributions import Attribution, write_attributions
from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.reporting.example_selection import Choice, choose, mark_counts, text_lengths
from macroscope.reporting.examples import MOST_CHARACTERS, opened, worst_document
from macroscope.reporting.reader.index import ScoresOfCritic
from macroscope.reporting.results import Results
from macroscope.reporting.scorecard import INCONCLUSIVE, LIKE, NOT_USABLE, UNLIKE
from macroscope.reporting.system_pages import Judgement, document_to_begin_with

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


@pytest.fixture
def held_against(tmp_path):
    """Function that holds scores of a system against those of real texts."""

    def compare(scores, real):
        own, control = tmp_path / "own.parquet", tmp_path / "control.parquet"
        write_attributions([Attribution(f"t{n}", score) for n, score in enumerate(scores)], own)
        write_attributions([Attribution(f"r{n}", score) for n, score in enumerate(real)], control)
        return ScoresOfCritic.read(own, control)

    return compare


REAL = np.arange(1.0, 101.0)


def chosen(judged, lengths=None, marks=None, **more):
    number = len(judged.scores)
    return choose(
        judged,
        np.full(number, 50) if lengths is None else np.array(lengths),
        np.zeros(number, int) if marks is None else np.array(marks),
        **more,
    )


def test_the_text_lies_where_most_of_the_systems_do(held_against):
    assert chosen(held_against([20.0, 30.0, 3.0, 1e6], REAL)).row == 2
    assert chosen(held_against([80.0, 70.0, 60.0, -1e6], REAL)).row == 3  # none of the others lies out
    assert chosen(held_against([20.0, 80.0, 3.0, 1e6], REAL)).row == 3


def test_a_text_is_chosen_by_how_far_out_it_lies_on_either_side(held_against):
    # The largest score is an ordinary one: the system's texts are likelier than real ones.
    assert chosen(held_against([2.0, 53.0, -7.0, 0.5], REAL)) == Choice(2, marked=False)
    assert chosen(held_against([2.0, 53.0, 107.0, 109.0, -7.0], REAL)).row == 3  # 58.5 from the middle against 57.5
    assert chosen(held_against([2.0, np.nan, np.inf, 1e300], REAL)).row == 2
    # 2 of 100 real texts are as far out as either of the first two.
    assert chosen(held_against([99.0, 2.5, 0.0, 60.0], REAL), lengths=[9, 9, 1, 9]).row == 0
    assert chosen(held_against([200.0, 200.0], REAL)).row == 0


def test_no_text_within_the_middle_90_percent_is_chosen(held_against):
    assert chosen(held_against([5.5, 95.5, 50.0], REAL)) == Choice(0, marked=False)  # 5 real texts lie further out
    assert chosen(held_against([6.0, 95.0, 50.0, np.nan], REAL)) is None
    assert chosen(held_against([1.0, 2.0], [1.0] * 10 + [2.0] * 10)) is None  # as many real texts have the extremes
    assert chosen(held_against([np.nan, np.nan], REAL)) is None
    assert chosen(held_against([1.0], [np.nan])) is None


def test_a_small_distance_is_nothing_unusual(held_against):
    judged = held_against([0.0, 97.0], REAL)
    assert chosen(judged).row == 0
    assert chosen(judged, distance=True).row == 1
    assert chosen(held_against([0.0], REAL), distance=True) is None


def test_short_texts_and_those_without_marks_are_left_aside(held_against):
    judged = held_against([500.0, 400.0, 300.0, 200.0], REAL)
    assert chosen(judged, lengths=[6, 70, 80, 90]).row == 1
    assert chosen(judged, lengths=[70, 70, 70, 70]).row == 0
    assert chosen(judged, marks=[0, 0, 2, 9]) == Choice(2, marked=True)
    assert chosen(judged, lengths=[6, 70, 80, 90], marks=[3, 0, 0, 0]) == Choice(1, marked=False)
    # Marks do not make an ordinary text a bad one.
    assert chosen(held_against([500.0, 50.0], REAL), marks=[0, 5]) == Choice(0, marked=False)


def test_lengths_and_marks_are_counted_in_their_columns(tmp_path):
    samples, attribute = tmp_path / "samples.parquet", tmp_path / "blame.parquet"
    documents = [document("one", "\u05e9\u05dc\u05d5\u05dd \U0001d518"), document(""), document("three")] * 700
    write_documents(samples, [replace(some, id=f"d{n}") for n, some in enumerate(documents)], Provenance("c"))
    assert text_lengths(samples).tolist() == [9, 0, 5] * 700
    rows = [Attribution("a", 1.0), Attribution("b", np.nan, [((0, 0, 1), 0.5, "x"), ((1, 0, 1), 0.5, "y")])]
    write_attributions(rows * 800, attribute)
    assert mark_counts(attribute).tolist() == [0, 2] * 800


def test_the_first_critic_with_marked_places_in_its_text_is_asked(results):
    found = worst_document(results, "wiki", "shuffled", ["topics", "coherence", "strings"])
    # coherence gives text n the score n / 100; of those beyond all real texts every third is marked, and the hostile
    # ones, which are last, are short.
    assert found.critic == "coherence"
    assert (found.name, found.score) == ("Title 39", "0.390 nats a section (latent NLL)")
    assert (found.beside, found.marked) == ("more than all 34 real texts", True)
    assert unquote(found.address) == "reader/index.html#wiki/shuffled/text-39?by=coherence"
    assert worst_document(results, "wiki", "shuffled", ["strings", "coherence"]).name == "Title 0"


def test_one_that_only_gives_numbers_is_asked_where_no_other_does(results):
    found = worst_document(results, "wiki", "shuffled", ["topics"])
    assert (found.critic, found.name) == ("topics", "Title 39")  # text n has the score -1.5 n
    assert (found.score, found.beside) == ("-58.5 nats (latent NLL)", "less than all 35 real texts")
    assert not found.marked
    assert worst_document(results, "wiki", "shuffled", []) is None


def test_critics_that_find_the_system_unlike_real_text_are_asked_first(results):
    def asked(**verdicts):
        cells = {critic: pd.Series({"verdict": verdict}) for critic, verdict in verdicts.items()}
        judgements = [Judgement(critic, "page", cell, [], "", []) for critic, cell in cells.items()]
        found = document_to_begin_with(results, "wiki", "shuffled", judgements)
        return found and found.critic

    assert asked(coherence=LIKE, topics=UNLIKE) == "topics"  # although it marks nothing
    assert asked(topics=UNLIKE, coherence=UNLIKE) == "coherence"
    assert asked(coherence=NOT_USABLE, topics=INCONCLUSIVE) == "topics"
    assert asked(coherence=NOT_USABLE) is None


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


def test_a_text_without_spaces_but_one_is_opened_at_the_place_that_is_blamed():
    text = "第 1章" + "字" * 5000
    assert len(text_of(opened(document(text), [])[0])) > MOST_CHARACTERS
    sections, cut = opened(document(text), [mark(0, 3000, 3010, 0.9, "here")])
    assert cut
    assert "here" in [piece.note for piece in sections[0].pieces]
    assert len(text_of(sections)) > MOST_CHARACTERS
