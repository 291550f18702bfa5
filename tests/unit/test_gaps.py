"""Parts of a run that failed: their reach, their words, their table."""

import pytest

from macroscope.errors import MacroscopeError
from macroscope.gaps import (
    FAILED,
    FILE,
    SKIPPED,
    UNMATCHED,
    Gap,
    describe_gaps,
    read_missing,
    rules_with_failed_stages,
    write_missing,
)

REASON = "no word occurs twice; give more texts"
CRITIC = Gap(kind=FAILED, corpus="wiki", critic="topics", explanation=REASON, log="logs/x.log")
SYSTEM = Gap(kind=FAILED, corpus="wiki", system="lm", explanation=REASON)
CORPUS = Gap(kind=FAILED, corpus="web", explanation=REASON)


@pytest.mark.parametrize(
    ("entry", "covered", "others"),
    [
        (CRITIC, [("wiki", None, "topics"), ("wiki", "lm", "topics")], [("wiki", None, None), ("wiki", "lm", None)]),
        (SYSTEM, [("wiki", "lm", None), ("wiki", "lm", "topics")], [("wiki", None, "topics"), ("web", "lm", None)]),
        (CORPUS, [("web", None, None), ("web", "lm", None), ("web", "lm", "topics")], [("wiki", None, None)]),
    ],
)
def test_it_covers_what_cannot_be_made_without_it(entry, covered, others):
    assert all(entry.covers(*part) for part in covered)
    assert not any(entry.covers(*part) for part in others)


def test_words_for_readers():
    assert [entry.name for entry in (CRITIC, SYSTEM, CORPUS)] == [
        "critic 'topics' on 'wiki'",
        "system 'lm' on 'wiki'",
        "corpus 'web'",
    ]
    assert CRITIC.note == f"failed: {REASON}; see logs/x.log"
    assert [entry.is_in_scorecard for entry in (CRITIC, SYSTEM, CORPUS)] == [True, False, False]


def test_the_table_holds_all_of_it_and_is_absent_if_all_finished(tmp_path):
    write_missing([], tmp_path)
    assert (list(tmp_path.iterdir()), read_missing(tmp_path)) == ([], [])
    write_missing([CRITIC, SYSTEM, CORPUS], tmp_path)
    assert read_missing(tmp_path) == [CRITIC, SYSTEM, CORPUS]


def test_a_job_that_left_out_a_failed_stage_is_known(tmp_path):
    for name in ("tables", "figures"):
        (tmp_path / name).mkdir()
    write_missing([CRITIC, SYSTEM], tmp_path / "tables")
    assert rules_with_failed_stages(tmp_path) == set()
    write_missing([CRITIC.model_copy(update={"stage": "overview"})], tmp_path / "figures")
    assert rules_with_failed_stages(tmp_path) == {"plot_figures"}


def test_critics_with_the_same_reason_share_a_sentence():
    why = {"corpus": "wiki", "reason": "needs titles", "explanation": "it needs 20 titles"}
    skipped = [Gap(critic=name, **why) for name in ("coherence", "topics")]
    theirs = Gap(corpus="wiki", system="lm", critic="clusters", reason="does not read Chinese")
    uncut = [Gap(kind=UNMATCHED, corpus=corpus, critic="synthetic", explanation="no sentences") for corpus in "ab"]
    assert describe_gaps([*skipped, theirs, *uncut]) == [
        "The critics 'coherence', 'topics' are left out, each for this reason: it needs 20 titles.",
        "The critic 'clusters' does not judge 'lm': does not read Chinese.",
        "The critic 'synthetic' does not compare texts at matched length: no sentences.",
    ]


@pytest.mark.parametrize(
    ("fields", "lacking"),
    [({"kind": SKIPPED, "critic": "topics"}, "reason"), ({"kind": FAILED, "reason": "few"}, "explanation")],
)
def test_a_gap_without_its_reason_is_refused(fields, lacking):
    with pytest.raises(ValueError, match=f"without {lacking}"):
        Gap(corpus="wiki", **fields)


@pytest.mark.parametrize("content", ["", "garbage\n", "corpus,system\nwiki,lm\n", "\x00\x01", "corpus,reason\n"])
def test_a_garbled_table_is_not_a_run_without_failures(tmp_path, content):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / FILE).write_text(content)
    with pytest.raises(MacroscopeError, match=r"missing\.csv: not a table of what failed; run the same command again"):
        read_missing(tmp_path / "tables")
    assert rules_with_failed_stages(tmp_path) == {"make_tables"}
