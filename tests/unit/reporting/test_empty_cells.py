"""Cells of the scorecard without a number: their reasons in the table, on a terminal, in a notebook."""

import pandas as pd
import pytest

from macroscope.critics.findings import ReportItem
from macroscope.gaps import FAILED, SKIPPED, TOO_FEW, UNUSABLE, find_gap
from macroscope.options import SPLIT_HALF
from macroscope.reporting.headline import find_unusable
from macroscope.reporting.scorecard import (
    LIKE,
    UNLIKE,
    Scorecard,
    build_scorecards,
    format_cell,
    is_too_few_to_say,
    read_scorecard,
    without_empty_cells,
)
from macroscope.reporting.scorecard_text import render_html, render_scorecards
from macroscope.tables import write_csv

from .test_scorecard import completed

TITLES = (SKIPPED, "needs 20 texts with section titles", "it needs 20 documents with section titles, and 'r' has 0")
CHINESE = (SKIPPED, "does not read Chinese", "most of 'two' is Chinese, and the encoder knows few words of it")
ABSENT = (SKIPPED, "not in the config", "")
BROKEN = (FAILED, "", "no word occurs twice; see logs/train_topics/wiki.log")
POOR = (UNUSABLE, "", "The classifier errs too often.")
FEW = (TOO_FEW, "", "fewer than 4 judged documents in a collection")
NUMBER = (UNLIKE, "", "")
HALVES = "halves of fewer than 50 real texts differ by chance alone"


def scorecard_of(cells: dict[str, dict[str, tuple[str, str, str]]]) -> Scorecard:
    """Return the scorecard of cells: system -> critic -> (verdict, reason, explanation)."""
    rows = [(system, critic, *cell) for system, row in cells.items() for critic, cell in row.items()]
    table = completed(pd.DataFrame(rows, columns=["system", "critic", "verdict", "reason", "explanation"]))
    has_number = table["verdict"].isin([UNLIKE, LIKE, UNUSABLE])
    numbers = {"c2st_auc": 0.9, "ci_low": 0.85, "ci_high": 0.95}
    (scorecard,) = build_scorecards(table.assign(**{name: has_number.map({True: n}) for name, n in numbers.items()}))
    return scorecard


EVERY_KIND = {
    "one": {"strings": NUMBER, "clusters": NUMBER, "tendencies": POOR, "coherence": TITLES, "topics": BROKEN},
    "two": {"strings": FEW, "clusters": CHINESE, "tendencies": ABSENT, "coherence": TITLES, "topics": BROKEN},
}


def test_no_cell_is_blank():
    scorecard = scorecard_of(EVERY_KIND)
    assert (scorecard.critics, scorecard.critics_without_numbers) == (
        ["strings", "clusters", "tendencies"],
        ["coherence", "topics"],
    )
    texts = {critic: format_cell(cell) for critic, cell in scorecard.cells("two").items()}
    assert texts == {
        "strings": "– too few texts",
        "clusters": "skipped: does not read Chinese",
        "tendencies": "skipped: not in the config",
        "coherence": "skipped: needs 20 texts with section titles",
        "topics": "failed",
    }


def test_each_explanation_is_one_note():
    scorecard = scorecard_of(EVERY_KIND)
    assert list(scorecard.notes) == [
        f"not usable: {POOR[2]}",
        f"skipped: {TITLES[2]}",
        f"failed: {BROKEN[2]}",
        f"too few texts: {FEW[2]}",
        f"skipped: {CHINESE[2]}",
    ]
    numbers = {critic: scorecard.note(cell) for critic, cell in scorecard.cells("two").items()}
    assert numbers == {"strings": 4, "clusters": 5, "tendencies": None, "coherence": 2, "topics": 3}
    assert scorecard.note(scorecard.rows["one"]["strings"]) is None


def test_verdicts_do_not_depend_on_empty_cells():
    full = {
        system: {c: cell for c, cell in row.items() if cell[0] not in (SKIPPED, FAILED)}
        for system, row in EVERY_KIND.items()
    }
    with_empty, without = scorecard_of(EVERY_KIND), scorecard_of(full)
    assert with_empty.systems == without.systems
    assert [with_empty.overall_verdict(s) for s in with_empty.systems] == [
        without.overall_verdict(s) for s in without.systems
    ]
    assert (with_empty.usable, without.empty_by_reason("one")) == (without.usable, {})


def test_a_terminal_has_notes_below_the_table():
    text = render_scorecards([scorecard_of(EVERY_KIND)])
    table, _, notes = text.partition("\n\n")
    assert table.splitlines()[0].split() == ["strings", "clusters", "tendencies"]
    assert "skipped: does not read Chinese (5)" in table
    assert notes.splitlines() == [
        "Critics without numbers: coherence, skipped: needs 20 texts with section titles (2); topics, failed (3).",
        *(f"({number}) {text}" for text, number in scorecard_of(EVERY_KIND).notes.items()),
    ]


def test_a_notebook_has_them_too():
    html = render_html([scorecard_of(EVERY_KIND)], 0.1, [])
    assert html.count("<td></td>") == 0
    assert "skipped: does not read Chinese (5)</td>" in html
    assert "<p>(3) failed: no word occurs twice; see logs/train_topics/wiki.log</p>" in html


def test_a_scorecard_without_such_cells_has_no_notes():
    scorecard = scorecard_of({"one": {"strings": NUMBER}, SPLIT_HALF: {"strings": (LIKE, "", "")}})
    assert (scorecard.notes, scorecard.critics_without_numbers) == ({}, [])
    assert "\n\n" not in render_scorecards([scorecard])


def test_thirty_systems_share_a_note():
    cells = {f"system-{number}": {"strings": NUMBER, "coherence": TITLES} for number in range(30)}
    scorecard = scorecard_of({**cells, SPLIT_HALF: {"strings": (LIKE, "", ""), "coherence": TITLES}})
    assert scorecard.notes == {f"skipped: {TITLES[2]}": 1}
    assert {format_cell(scorecard.cells(system)["coherence"]) for system in scorecard.rows} == {
        "skipped: needs 20 texts with section titles"
    }
    text = render_scorecards([scorecard])
    assert text.count("section titles") == 2
    assert max(map(len, text.splitlines())) < 110


def test_the_table_keeps_its_reasons(tmp_path):
    rows = [pd.Series(cell) for row in scorecard_of(EVERY_KIND).rows.values() for cell in row.values()]
    rows += [cell for row in scorecard_of(EVERY_KIND).empty.values() for cell in row.values()]
    table = pd.DataFrame(rows)
    write_csv(table, tmp_path / "scorecard.csv")
    read = read_scorecard(tmp_path)
    for name in ("verdict", "reason", "explanation"):
        assert read[name].tolist() == table[name].tolist()
    assert without_empty_cells(read)["critic"].tolist() == ["strings", "clusters", "tendencies", "strings"]


def test_a_table_of_an_older_version_has_no_reasons(tmp_path):
    (tmp_path / "scorecard.csv").write_text(
        "corpus,system,critic,verdict,check,warned\nwiki,one,strings,unlike,False,False\n"
    )
    (scorecard,) = build_scorecards(read_scorecard(tmp_path))
    assert scorecard.notes == {}


@pytest.mark.parametrize("corpus", ["wiki", "web"])
def test_numbers_are_unusable_for_the_reason_of_the_critic(corpus):
    chapter = ReportItem("model", "The model", warning="It errs.", unusable=True)
    system = ReportItem("errors", "Errors", unusable_systems={"one": "Errors explain it."})
    gaps = find_unusable({("coherence", "wiki"): [system], ("topics", "wiki"): [chapter]})
    expected = {
        ("coherence", "one"): "Errors explain it.",
        ("topics", "one"): "It errs.",
        ("topics", "two"): "It errs.",
    }
    for critic in ("coherence", "topics", "strings"):
        for name in ("one", "two"):
            reason = expected.get((critic, name)) if corpus == "wiki" else None
            gap = find_gap(gaps, corpus, name, critic)
            assert (None if gap is None else gap.explanation) == reason


@pytest.mark.parametrize(("n", "is_too_few"), [(20, True), (49, True), (50, False)])
def test_small_halves_of_real_text_are_too_few_to_say(n, is_too_few):
    assert is_too_few_to_say(SPLIT_HALF, n, 500) == is_too_few
    assert not is_too_few_to_say("mine", n, 500)


def test_a_cell_that_is_too_few_to_say_has_its_reason_in_a_note():
    scorecard = scorecard_of(
        {"mine": {"strings": NUMBER}, SPLIT_HALF: {"strings": (TOO_FEW, "too few to say", HALVES)}}
    )
    assert scorecard.real_text("strings") is None
    assert scorecard.without_real_text == {HALVES: ["strings"]}
    text = render_scorecards([scorecard])
    assert "too few to say (1)" in text
    assert f"(1) too few texts: {HALVES}" in text
    assert "too few to say (1)" in render_html([scorecard], 0.1, [])
