"""The picture: verdicts, the order of systems, and what a person reads."""

import numpy as np
import pandas as pd
import pytest

from macroscope.options import SPLIT_HALF
from macroscope.reporting.scorecard import (
    CHECKS,
    COLUMNS,
    INCONCLUSIVE,
    LIKE,
    NOT_USABLE,
    TOO_FEW,
    UNLIKE,
    answer,
    in_percent,
    legend,
    percent,
    read_off,
    scorecard_text,
    scorecards,
    verdict_of,
)
from macroscope.systems import kinds


@pytest.mark.parametrize(
    ("estimate", "verdict"),
    [
        ((0.9, 0.8, 0.95), UNLIKE),
        ((0.5, 0.45, 0.55), LIKE),
        ((0.56, 0.52, 0.59), LIKE),  # a difference, but smaller than the margin
        ((0.56, 0.45, 0.66), INCONCLUSIVE),
        ((0.6, 0.51, 0.69), UNLIKE),
        ((0.5, 0.4, 0.6), LIKE),
        ((np.nan, np.nan, np.nan), TOO_FEW),
    ],
)
def test_verdicts(estimate, verdict):
    assert verdict_of(*estimate, 0.1) == verdict


def cells():
    rows = [
        ("wiki", "good", "coherence", LIKE, 0.5, 0.45, 0.55),
        ("wiki", "bad", "coherence", UNLIKE, 0.994, 0.97, 0.999),
        ("wiki", "bad", "topics", NOT_USABLE, 0.2, 0.1, 0.3),
        ("wiki", SPLIT_HALF, "coherence", INCONCLUSIVE, 0.6, 0.4, 0.75),
        ("web", "tiny", "coherence", TOO_FEW, np.nan, np.nan, np.nan),
    ]
    table = pd.DataFrame(rows, columns=["corpus", "system", "critic", "verdict", "c2st_auc", "ci_low", "ci_high"])
    return completed(table)


def completed(table):
    return table.reindex(columns=list(COLUMNS)).assign(
        **{name: table.get(name, default) for name, default in DEFAULTS.items()}
    )


DEFAULTS = {"corpus": "wiki", "check": False, "warned": False, "n_candidate": 5, "n_reference": 7}


def matrix_of(*rows, checks=(), warned=()):
    """The matrix of cells (system, critic, verdict, c2st_auc)."""
    table = completed(pd.DataFrame(rows, columns=["system", "critic", "verdict", "c2st_auc"]))
    table = table.assign(
        check=table["system"].isin(checks),
        warned=table["critic"].isin(warned),
        ci_low=table["c2st_auc"] - 0.05,
        ci_high=table["c2st_auc"] + 0.05,
    )
    (found,) = scorecards(table)
    return found


def test_the_least_like_real_text_comes_first_and_real_text_last():
    wiki, web = scorecards(cells())
    assert list(wiki.rows) == ["bad", "good", SPLIT_HALF]
    assert wiki.systems == ["bad", "good"]
    assert wiki.critics == ["coherence", "topics"]
    assert list(web.rows) == ["tiny"]


def test_standings_take_all_critics_together():
    rows = [
        ("one-unlike", "a", UNLIKE),
        ("one-unlike", "b", LIKE),
        ("all-like", "a", LIKE),
        ("all-like", "b", NOT_USABLE),
    ]
    rows += [("open", "a", LIKE), ("open", "b", INCONCLUSIVE), ("none", "a", TOO_FEW), (SPLIT_HALF, "a", LIKE)]
    table = pd.DataFrame(rows, columns=["system", "critic", "verdict"])
    (wiki,) = scorecards(completed(table).assign(n_candidate=range(len(rows))))
    assert wiki.overall_verdicts(UNLIKE) == ["one-unlike"]
    assert wiki.overall_verdicts(LIKE) == ["all-like"]
    assert set(wiki.overall_verdicts(INCONCLUSIVE)) == {"open", "none"}
    assert (wiki.documents, wiki.texts("one-unlike")) == (7, 1)
    assert wiki.judged("all-like", NOT_USABLE) == ["b"]


def test_what_is_read_off():
    found = [read_off(row) for _, row in cells().iterrows()]
    assert found == ["≈ 50 % [45, 55]", "≠ 99 % [97, > 99]", "– not usable", "60 % [40, 75]", "– too few texts"]


def test_certainty_is_not_rounded_up():
    assert [percent(share) for share in (1.0, 0.9999, 0.994, 0.0)] == ["100", "> 99", "99", "0"]


def test_a_sign_and_a_number_do_not_read_as_one_relation():
    assert [in_percent(share) for share in (1.0, 0.9999, 0.93)] == ["100 %", "over 99 %", "93 %"]


def test_text_version_names_every_system_and_what_the_signs_mean():
    text = scorecard_text(cells())
    for word in ("bad", "good", "real text against itself", "tiny", "wiki", "web"):
        assert word in text
    assert all(sign in legend(0.1) for sign in "≠≈?")
    assert "10 points" in legend(0.1)


def test_checks_stand_below_the_systems_in_question():
    cells = [("damaged", "a", UNLIKE, 1.0), ("mild", "a", UNLIKE, 0.7), ("process", "a", LIKE, 0.5)]
    cells += [(SPLIT_HALF, "a", INCONCLUSIVE, 0.5), ("bad", "a", UNLIKE, 0.9)]
    found = matrix_of(*cells, checks=("damaged", "process"))
    assert found.groups == [("", ["bad", "mild"]), (CHECKS, ["damaged", "process"]), ("", [SPLIT_HALF])]
    assert found.overall_verdicts(UNLIKE) == ["bad", "mild"]
    assert found.overall_verdicts(UNLIKE, checks=True) == ["damaged"]
    assert found.overall_verdicts(LIKE) == []
    assert answer([found]) == "None of the 2 systems is like real text: each is unlike it to one critic or more."


def test_where_there_are_only_checks_they_are_spoken_of_as_systems_are():
    found = matrix_of(("damaged", "a", UNLIKE, 1.0), ("process", "a", LIKE, 0.5), checks=("damaged", "process"))
    assert found.groups == [("", ["damaged", "process"])]
    assert found.overall_verdicts(UNLIKE) == ["damaged"]
    assert (
        answer([found])
        == "Of the 2 checks 1 is like real text to every critic that can tell; 1 is unlike it to one critic or more."
    )


def test_no_verdict_comes_from_critics_with_a_warning_alone():
    found = matrix_of(
        ("worse", "sound", LIKE, 0.5),
        ("worse", "warned", UNLIKE, 0.9),
        ("like", "warned", LIKE, 0.5),
        ("sure", "sound", UNLIKE, 0.8),
        ("sure", "warned", UNLIKE, 0.9),
        ("open", "warned", INCONCLUSIVE, 0.55),
        warned=("warned",),
    )
    assert found.overall_verdicts(UNLIKE) == ["sure"]
    assert found.overall_verdicts(UNLIKE, warned=True) == ["worse"]
    assert (found.overall_verdicts(LIKE), found.overall_verdicts(LIKE, warned=True)) == ([], ["like"])
    assert found.overall_verdicts(INCONCLUSIVE, warned=True) == ["open"]
    assert found.deciding_critics("sure") == ["sound"]
    assert answer([found]) == (
        "Of the 4 systems none is shown to be like real text; 1 is unlike it to one critic or more; 3 are judged only"
        " by critics that carry a warning (⚠)."
    )


def test_rivals_are_those_whose_intervals_overlap_to_every_critic_that_judged_both():
    cells = [("worst", "a", UNLIKE, 0.9), ("worst", "b", UNLIKE, 0.9), ("close", "a", UNLIKE, 0.85)]
    cells += [("half", "a", UNLIKE, 0.9), ("half", "b", UNLIKE, 0.7), ("apart", "c", UNLIKE, 0.9)]
    assert matrix_of(*cells, ("like", "a", LIKE, 0.9)).indistinguishable_from("worst") == ["close"]


def test_systems_of_another_structure_are_no_rivals():
    table = completed(
        pd.DataFrame(
            [("worst", 1.0, 90.0, 70.0, 110.0), ("other", 1.0, 20.0, 15.0, 25.0), ("close", 1.0, 80.0, 60.0, 100.0)],
            columns=["system", "c2st_auc", "latent_ppl_ratio", "latent_ppl_ratio_low", "latent_ppl_ratio_high"],
        )
    )
    (found,) = scorecards(table.assign(critic="a", verdict=UNLIKE, ci_low=0.95, ci_high=1.0))
    assert list(found.rows) == ["worst", "close", "other"]
    assert found.indistinguishable_from("worst") == ["close"]
    assert found.ratios("a") == {"worst": 90.0, "close": 80.0, "other": 20.0}


def test_the_run_in_one_sentence():
    one, other = matrix_of(("a", "x", LIKE, 0.5)), matrix_of(("b", "x", INCONCLUSIVE, 0.6))
    assert answer([one]) == "The one system that was judged is like real text."
    assert answer([other]) == "The one system that was judged is inconclusive: too few texts."
    assert answer([one, other]) == (
        "Of the 2 systems on 2 corpora 1 is like real text to every critic that can tell; 1 is inconclusive: too few"
        " texts."
    )
    unusable = matrix_of(("c", "y", NOT_USABLE, 0.9), warned=("y",))
    assert unusable.overall_verdicts(NOT_USABLE) == ["c"]
    assert unusable.overall_verdicts(INCONCLUSIVE) == []
    assert answer([unusable]) == "The one system is judged by no critic that is usable."
    assert answer([one, unusable]).endswith("to every critic that can tell; 1 is judged by no critic that is usable.")
    checks = matrix_of(("process", "x", UNLIKE, 0.9), checks=("process",))
    assert answer([checks, one]) == "The one system that was judged is like real text."


def test_the_text_version_sets_checks_apart_and_marks_warnings():
    table = completed(
        pd.DataFrame(
            [("process", LIKE, 0.5, True), ("mine", UNLIKE, 0.9, False)],
            columns=["system", "verdict", "c2st_auc", "check"],
        )
    )
    lines = scorecard_text(table.assign(critic="coherence", warned=True, ci_low=0.4, ci_high=0.95)).splitlines()
    assert "coherence ⚠" in lines[0]
    assert [line.split()[0] for line in lines[1:]] == ["mine", "Checks:", "process"]


def test_kinds_whose_answer_is_known_are_checks():
    checks = {name for name, kind in kinds().items() if kind.data.check}
    assert {"simulated", "perturbation", "other_domain", "training_texts", "control"} <= checks
    assert not checks & {"language_model", "resampled", "ngram", "hsmm", "translation", "files", "server", "hub"}


def test_a_critic_with_a_warning_leaves_nothing_open_that_another_one_has_settled():
    found = matrix_of(
        ("process", "sound", LIKE, 0.5),
        ("process", "warned", INCONCLUSIVE, 0.51),
        ("open", "sound", INCONCLUSIVE, 0.55),
        ("open", "warned", LIKE, 0.5),
        warned=("warned",),
    )
    assert (found.overall_verdict("process"), found.overall_verdict("open")) == (LIKE, INCONCLUSIVE)


def test_a_critic_that_no_row_has_a_verdict_of_is_not_usable():
    found = matrix_of(
        ("one", "sound", LIKE, 0.5), ("one", "broken", NOT_USABLE, 0.9), ("two", "broken", NOT_USABLE, 0.9)
    )
    assert found.usable == ["sound"]
