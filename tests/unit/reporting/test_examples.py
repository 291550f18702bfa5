"""Example documents: their selection, and the excerpt that is shown."""

from contextlib import chdir
from dataclasses import replace
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.attributions import Attribution, write_attributions
from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.gaps import UNUSABLE
from macroscope.reporting.examples import (
    MOST_CHARACTERS,
    Choice,
    choose_document,
    find_example,
    mark_counts,
    open_document,
    text_lengths,
)
from macroscope.reporting.flags import Flags, flag_texts, read_keys
from macroscope.reporting.reader.index import CriticScores
from macroscope.reporting.scorecard import INCONCLUSIVE, LIKE, UNLIKE
from macroscope.reporting.system_pages import Evaluation, choose_example
from macroscope.runs.results import Results
from macroscope.statistics.conformal import Scores, conformal_p_values

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
    config = write_run(folder, {"control": 30, "shuffled": 130})
    with chdir(folder):
        yield Results(config.relative_to(folder))


@pytest.fixture(scope="module")
def flags(results):
    return flag_texts(results, "wiki", "shuffled", read_keys(results, "wiki", "control"))


@pytest.fixture
def compare_scores(tmp_path):
    """Return a function that compares scores of a system with those of real texts."""

    def compare(scores, real):
        candidate, control = tmp_path / "candidate.parquet", tmp_path / "control.parquet"
        write_attributions([Attribution(f"t{n}", score) for n, score in enumerate(scores)], candidate)
        write_attributions([Attribution(f"r{n}", score) for n, score in enumerate(real)], control)
        return CriticScores.read(candidate, control)

    return compare


REAL = np.arange(1.0, 101.0)


def choose(scores, lengths=None, marks=None, **more):
    """Choose among the texts with a p-value of at most 10 %, without regard to their number."""
    number = len(scores.scores)
    samples = (
        Scores(scores.scores, 1000 + np.arange(number)),
        Scores(scores.reference, np.arange(len(scores.reference))),
    )
    p_values = conformal_p_values(*samples, one_sided=more.get("distance", False))
    return choose_document(
        scores,
        Flags(p_values, p_values <= 0.1),
        np.full(number, 50) if lengths is None else np.array(lengths),
        np.zeros(number, int) if marks is None else np.array(marks),
        **more,
    )


def test_the_example_is_on_the_side_of_most_texts(compare_scores):
    assert choose(compare_scores([20.0, 30.0, 3.0, 1e6], REAL)).row == 2
    assert choose(compare_scores([80.0, 70.0, 60.0, -1e6], REAL)).row == 3  # none of the others is unusual
    assert choose(compare_scores([20.0, 80.0, 3.0, 1e6], REAL)).row == 3


def test_the_example_is_the_most_unusual_on_either_side(compare_scores):
    # The largest score is an ordinary one: the system's texts are likelier than real ones.
    assert choose(compare_scores([2.0, 53.0, -7.0, 0.5], REAL)) == Choice(2, marked=False)
    assert choose(compare_scores([2.0, 53.0, 107.0, 109.0, -7.0], REAL)).row == 3  # 58.5 from the middle against 57.5
    assert choose(compare_scores([2.0, np.nan, np.inf, 1e300], REAL)).row == 2
    # 2 of 100 real texts are as unusual as either of the first two.
    assert choose(compare_scores([99.0, 2.5, 0.0, 60.0], REAL), lengths=[9, 9, 1, 9]).row == 0
    assert choose(compare_scores([200.0, 200.0], REAL)).row == 0


def test_only_flagged_texts_are_chosen(compare_scores):
    assert choose(compare_scores([4.5, 96.5, 50.0], REAL)) == Choice(0, marked=False)  # 4 real texts lie further out
    assert choose(compare_scores([5.5, 95.5, 50.0, np.nan], REAL)) is None
    assert choose(compare_scores([1.0, 2.0], [1.0] * 10 + [2.0] * 10)) is None  # as many real texts have the extremes
    assert choose(compare_scores([np.nan, np.nan], REAL)) is None
    assert choose(compare_scores([1.0], [np.nan])) is None


def test_a_small_distance_is_not_unusual(compare_scores):
    scores = compare_scores([0.0, 97.0], REAL)
    assert choose(scores).row == 0
    assert choose(scores, distance=True).row == 1
    assert choose(compare_scores([0.0], REAL), distance=True) is None


def test_short_texts_and_those_without_marks_are_excluded(compare_scores):
    scores = compare_scores([500.0, 400.0, 300.0, 200.0], REAL)
    assert choose(scores, lengths=[6, 70, 80, 90]).row == 1
    assert choose(scores, lengths=[70, 70, 70, 70]).row == 0
    assert choose(scores, marks=[0, 0, 2, 9]) == Choice(2, marked=True)
    assert choose(scores, lengths=[6, 70, 80, 90], marks=[3, 0, 0, 0]) == Choice(1, marked=False)
    # Marks do not make an ordinary text a bad one.
    assert choose(compare_scores([500.0, 50.0], REAL), marks=[0, 5]) == Choice(0, marked=False)


def test_lengths_and_marks_are_counted_in_their_columns(tmp_path):
    samples, attribute = tmp_path / "samples.parquet", tmp_path / "attributions.parquet"
    documents = [document("one", "\u05e9\u05dc\u05d5\u05dd \U0001d518"), document(""), document("three")] * 700
    write_documents(samples, [replace(copy, id=f"d{n}") for n, copy in enumerate(documents)], Provenance("c"))
    assert text_lengths(samples).tolist() == [9, 0, 5] * 700
    rows = [Attribution("a", 1.0), Attribution("b", np.nan, [((0, 0, 1), 0.5, "x"), ((1, 0, 1), 0.5, "y")])]
    write_attributions(rows * 800, attribute)
    assert mark_counts(attribute).tolist() == [0, 2] * 800


def test_the_first_critic_with_marks_in_its_choice_takes_precedence(results, flags):
    example = find_example(results, "wiki", "shuffled", ["topics", "coherence", "strings"], flags)
    # coherence gives text n the score n / 100; of those beyond all real texts every third is marked, and the hostile
    # ones, which are last, are short.
    assert example.critic == "coherence"
    assert (example.name, example.score) == ("Title 126", "1.26 nats per section (latent NLL)")
    assert (example.comparison, example.marked) == ("more than all 34 real texts", True)
    assert unquote(example.address) == "reader/index.html#wiki/shuffled/text-126?by=coherence"
    assert find_example(results, "wiki", "shuffled", ["strings", "coherence"], flags).name == "Title 30"


def test_a_critic_without_marks_is_used_if_no_other_has_any(results, flags):
    example = find_example(results, "wiki", "shuffled", ["topics"], flags)
    assert (example.critic, example.name) == ("topics", "Title 128")  # text n has the score -1.5 n
    assert (example.score, example.comparison) == ("-192 nats (latent NLL)", "less than all 35 real texts")
    assert not example.marked
    assert find_example(results, "wiki", "shuffled", [], flags) is None


def test_critics_that_find_the_system_unlike_real_text_take_precedence(results, flags):
    def critic_of_example(**verdicts):
        cells = {critic: pd.Series({"verdict": verdict}) for critic, verdict in verdicts.items()}
        evaluations = [Evaluation(critic, "page", cell, [], "", []) for critic, cell in cells.items()]
        example = choose_example(results, "wiki", "shuffled", evaluations, flags)
        return example and example.critic

    assert critic_of_example(coherence=LIKE, topics=UNLIKE) == "topics"  # although it marks nothing
    assert critic_of_example(topics=UNLIKE, coherence=UNLIKE) == "coherence"
    assert critic_of_example(coherence=UNUSABLE, topics=INCONCLUSIVE) == "topics"
    assert critic_of_example(coherence=UNUSABLE) is None


def test_a_short_text_is_shown_whole_with_its_marks():
    text = document("One two three.", "Four five.")
    marks = [mark(0, 4, 7, note="rare"), mark(1, 0, 10, note="out of order"), mark(1, 10, 10, note="ends too soon")]
    sections, cut = open_document(text, marks)
    assert not cut
    assert pieces_of(sections[0]) == [
        ("One ", ""),
        ("two", "rare"),
        (" three.", ""),
    ]
    assert (sections[1].whole, sections[1].behind) == (["out of order"], ["ends too soon"])
    assert text_of(sections) == "One two three.Four five."


def test_overlapping_marks_have_both_notes():
    sections, _ = open_document(document("abcdef"), [mark(0, 0, 4, note="one"), mark(0, 2, 6, note="two")])
    assert pieces_of(sections[0]) == [
        ("ab", "one"),
        ("cd", "one; two"),
        ("ef", "two"),
    ]


def test_a_long_text_is_opened_around_the_largest_mark():
    words = " ".join(f"word{n}" for n in range(2000))
    at = words.index("word1500")
    sections, cut = open_document(document(words), [mark(0, 0, 5, 0.1), mark(0, at, at + 8, 0.9, "here")])
    assert cut
    assert len(text_of(sections)) <= MOST_CHARACTERS + 4  # the dots
    assert [piece.text for piece in sections[0].pieces if piece.note] == ["word1500"]
    shown = text_of(sections)
    assert (shown[0], shown[-1]) == ("…", "…")
    assert set(shown.split()) <= {*words.split(), "…"}  # no word is cut
    sections, _ = open_document(document(words, words), [mark(1, 0, len(words), 0.9, "as a whole")])
    assert [section.whole for section in sections] == [[], ["as a whole"]]
    assert set(text_of(sections[:1]).split()) <= {*words.split(), "…"}


def test_a_word_longer_than_all_is_cut_all_the_same():
    sections, cut = open_document(document("x" * 5000), [])
    assert cut
    assert len(text_of(sections)) == MOST_CHARACTERS + 2


def test_a_text_with_a_single_space_is_opened_at_its_mark():
    text = "第 1章" + "字" * 5000
    assert len(text_of(open_document(document(text), [])[0])) > MOST_CHARACTERS
    sections, cut = open_document(document(text), [mark(0, 3000, 3010, 0.9, "here")])
    assert cut
    assert "here" in [piece.note for piece in sections[0].pieces]
    assert len(text_of(sections)) > MOST_CHARACTERS
