"""The scorecard: verdicts, the order of systems, and its texts."""

import numpy as np
import pandas as pd
import pytest

from macroscope.gaps import TOO_FEW, UNUSABLE
from macroscope.options import SPLIT_HALF
from macroscope.reporting.formats import format_percent, format_percent_inline
from macroscope.reporting.scorecard import (
    CHECKS,
    COLUMNS,
    INCONCLUSIVE,
    LIKE,
    UNLIKE,
    build_scorecards,
    decide_verdict,
    format_cell,
)
from macroscope.reporting.scorecard_text import render_legend, render_scorecards
from macroscope.reporting.tables import with_adjusted_p_values
from macroscope.systems import kinds


@pytest.mark.parametrize(
    ("estimate", "verdict"),
    [
        ((0.9, 0.8, 0.95, 1), UNLIKE),
        ((0.9, 0.8, 0.95, 0), INCONCLUSIVE),  # no test differs after adjustment
        ((0.5, 0.45, 0.55, 2), LIKE),
        ((0.56, 0.52, 0.59, 1), LIKE),  # a difference, but smaller than the margin
        ((0.56, 0.45, 0.66, 1), INCONCLUSIVE),
        ((0.6, 0.51, 0.69, 1), UNLIKE),
        ((0.5, 0.4, 0.6, 0), LIKE),
        ((np.nan, np.nan, np.nan, 0), TOO_FEW),
    ],
)
def test_verdicts(estimate, verdict):
    value, low, high, different = estimate
    assert decide_verdict(value, low, high, 0.1, different) == verdict


def cells():
    rows = [
        ("wiki", "good", "coherence", LIKE, 0.5, 0.45, 0.55),
        ("wiki", "bad", "coherence", UNLIKE, 0.994, 0.97, 0.999),
        ("wiki", "bad", "topics", UNUSABLE, 0.2, 0.1, 0.3),
        ("wiki", SPLIT_HALF, "coherence", INCONCLUSIVE, 0.6, 0.4, 0.75),
        ("web", "tiny", "coherence", TOO_FEW, np.nan, np.nan, np.nan),
    ]
    table = pd.DataFrame(rows, columns=["corpus", "system", "critic", "verdict", "c2st_auc", "ci_low", "ci_high"])
    return completed(table)


def completed(table):
    return table.reindex(columns=list(COLUMNS)).assign(
        **{name: table.get(name, default) for name, default in DEFAULTS.items()}
    )


DEFAULTS = {
    **{"corpus": "wiki", "check": False, "warned": False, "n_candidate": 5, "n_reference": 7},
    **{"reason": "", "explanation": "", "matched_explanation": ""},
}


def scorecard_of(*rows, checks=(), warned=()):
    """Return the scorecard of cells (system, critic, verdict, c2st_auc)."""
    table = completed(pd.DataFrame(rows, columns=["system", "critic", "verdict", "c2st_auc"]))
    table = table.assign(
        check=table["system"].isin(checks),
        warned=table["critic"].isin(warned),
        ci_low=table["c2st_auc"] - 0.05,
        ci_high=table["c2st_auc"] + 0.05,
    )
    (scorecard,) = build_scorecards(table)
    return scorecard


def test_the_least_like_real_text_comes_first_and_real_text_last():
    wiki, web = build_scorecards(cells())
    assert list(wiki.rows) == ["bad", "good", SPLIT_HALF]
    assert wiki.systems == ["bad", "good"]
    assert wiki.critics == ["coherence", "topics"]
    assert list(web.rows) == ["tiny"]


def test_overall_verdicts_combine_all_critics():
    rows = [
        ("one-unlike", "a", UNLIKE),
        ("one-unlike", "b", LIKE),
        ("all-like", "a", LIKE),
        ("all-like", "b", UNUSABLE),
    ]
    rows += [("open", "a", LIKE), ("open", "b", INCONCLUSIVE), ("none", "a", TOO_FEW), (SPLIT_HALF, "a", LIKE)]
    table = pd.DataFrame(rows, columns=["system", "critic", "verdict"])
    (wiki,) = build_scorecards(completed(table).assign(n_candidate=range(len(rows))))
    assert wiki.systems_with_overall_verdict(UNLIKE) == ["one-unlike"]
    assert wiki.systems_with_overall_verdict(LIKE) == ["all-like"]
    assert set(wiki.systems_with_overall_verdict(INCONCLUSIVE)) == {"open", "none"}
    assert (wiki.n_documents, wiki.n_texts("one-unlike")) == (7, 1)
    assert wiki.critics_with_verdict("all-like", UNUSABLE) == ["b"]


def test_cells_as_text():
    texts = [format_cell(row) for _, row in cells().iterrows()]
    assert texts == ["≈ 50 % [45, 55]", "≠ 99 % [97, > 99]", "– not usable", "60 % [40, 75]", "– too few texts"]


def test_certainty_is_not_rounded_up():
    assert [format_percent(share) for share in (1.0, 0.9999, 0.994, 0.0)] == ["100", "> 99", "99", "0"]


def test_a_sign_and_a_number_do_not_read_as_one_relation():
    assert [format_percent_inline(share) for share in (1.0, 0.9999, 0.93)] == ["100 %", "over 99 %", "93 %"]


def test_text_version_names_every_system_and_what_the_signs_mean():
    scorecards = list(build_scorecards(cells()))
    text = render_scorecards(scorecards)
    for word in ("bad", "good", "real text against itself", "tiny", "wiki", "web"):
        assert word in text
    legend = " ".join(render_legend(scorecards, 0.1).split())
    assert legend.endswith("50 % is chance. ≠ unlike real text; ≈ like real text, at most 10 points above chance.")


@pytest.mark.parametrize(("verdict", "sign"), [(UNLIKE, "≠"), (LIKE, "≈"), (INCONCLUSIVE, "?"), (UNUSABLE, "")])
@pytest.mark.parametrize("warned", [(), ("a",)])
def test_the_legend_explains_the_signs_that_occur(verdict, sign, warned):
    legend = render_legend([scorecard_of(("bad", "a", verdict, 0.9), warned=warned)], 0.1)
    assert [mark for mark in "≠≈?⚠" if mark in legend] == [*sign, *("⚠" if warned else "")]
    assert sign or warned or legend.endswith(" 50 %\nis chance.")


def test_checks_are_below_the_candidates():
    cells = [("damaged", "a", UNLIKE, 1.0), ("mild", "a", UNLIKE, 0.7), ("process", "a", LIKE, 0.5)]
    cells += [(SPLIT_HALF, "a", INCONCLUSIVE, 0.5), ("bad", "a", UNLIKE, 0.9)]
    scorecard = scorecard_of(*cells, checks=("damaged", "process"))
    assert scorecard.groups == [("", ["bad", "mild"]), (CHECKS, ["damaged", "process"]), ("", [SPLIT_HALF])]
    assert scorecard.systems_with_overall_verdict(UNLIKE) == ["bad", "mild"]
    assert scorecard.systems_with_overall_verdict(UNLIKE, checks=True) == ["damaged"]
    assert scorecard.systems_with_overall_verdict(LIKE) == []


def test_checks_alone_are_treated_as_candidates():
    scorecard = scorecard_of(("damaged", "a", UNLIKE, 1.0), ("process", "a", LIKE, 0.5), checks=("damaged", "process"))
    assert scorecard.groups == [("", ["damaged", "process"])]
    assert scorecard.systems_with_overall_verdict(UNLIKE) == ["damaged"]


def test_verdicts_by_critics_with_a_warning_alone_are_separate():
    scorecard = scorecard_of(
        ("worse", "sound", LIKE, 0.5),
        ("worse", "warned", UNLIKE, 0.9),
        ("like", "warned", LIKE, 0.5),
        ("sure", "sound", UNLIKE, 0.8),
        ("sure", "warned", UNLIKE, 0.9),
        ("open", "warned", INCONCLUSIVE, 0.55),
        warned=("warned",),
    )
    assert scorecard.systems_with_overall_verdict(UNLIKE) == ["sure"]
    assert scorecard.systems_with_overall_verdict(UNLIKE, warned=True) == ["worse"]
    assert (
        scorecard.systems_with_overall_verdict(LIKE),
        scorecard.systems_with_overall_verdict(LIKE, warned=True),
    ) == ([], ["like"])
    assert scorecard.systems_with_overall_verdict(INCONCLUSIVE, warned=True) == ["open"]
    assert scorecard.deciding_critics("sure") == ["sound"]


def test_systems_are_indistinguishable_if_intervals_overlap_for_every_shared_critic():
    cells = [("worst", "a", UNLIKE, 0.9), ("worst", "b", UNLIKE, 0.9), ("close", "a", UNLIKE, 0.85)]
    cells += [("half", "a", UNLIKE, 0.9), ("half", "b", UNLIKE, 0.7), ("apart", "c", UNLIKE, 0.9)]
    assert scorecard_of(*cells, ("like", "a", LIKE, 0.9)).indistinguishable_from("worst") == ["close"]


def test_systems_of_another_structure_are_distinguishable():
    table = completed(
        pd.DataFrame(
            [("worst", 1.0, 90.0, 70.0, 110.0), ("other", 1.0, 20.0, 15.0, 25.0), ("close", 1.0, 80.0, 60.0, 100.0)],
            columns=["system", "c2st_auc", "latent_ppl_ratio", "latent_ppl_ratio_low", "latent_ppl_ratio_high"],
        )
    )
    (scorecard,) = build_scorecards(table.assign(critic="a", verdict=UNLIKE, ci_low=0.95, ci_high=1.0))
    assert list(scorecard.rows) == ["worst", "close", "other"]
    assert scorecard.indistinguishable_from("worst") == ["close"]
    assert scorecard.ratios("a") == {"worst": 90.0, "close": 80.0, "other": 20.0}


def test_the_text_version_separates_checks_and_marks_warnings():
    table = completed(
        pd.DataFrame(
            [("process", LIKE, 0.5, True), ("mine", UNLIKE, 0.9, False)],
            columns=["system", "verdict", "c2st_auc", "check"],
        )
    )
    lines = render_scorecards(
        list(build_scorecards(table.assign(critic="coherence", warned=True, ci_low=0.4, ci_high=0.95)))
    ).splitlines()
    assert "coherence ⚠" in lines[0]
    assert [line.split()[0] for line in lines[1:]] == ["mine", "Checks:", "process"]


def test_kinds_with_known_answers_are_checks():
    checks = {name for name, kind in kinds().items() if kind.data.check}
    assert {"simulated", "perturbation", "other_domain", "training_texts", "control"} <= checks
    assert not checks & {"language_model", "resampled", "ngram", "hsmm", "translation", "files", "server", "hub"}


def test_an_inconclusive_critic_with_a_warning_is_overruled_by_one_without():
    scorecard = scorecard_of(
        ("process", "sound", LIKE, 0.5),
        ("process", "warned", INCONCLUSIVE, 0.51),
        ("open", "sound", INCONCLUSIVE, 0.55),
        ("open", "warned", LIKE, 0.5),
        warned=("warned",),
    )
    assert (scorecard.overall_verdict("process"), scorecard.overall_verdict("open")) == (LIKE, INCONCLUSIVE)


def test_a_critic_without_any_verdict_is_not_usable():
    scorecard = scorecard_of(
        ("one", "sound", LIKE, 0.5), ("one", "broken", UNUSABLE, 0.9), ("two", "broken", UNUSABLE, 0.9)
    )
    assert scorecard.usable == ["sound"]


def test_the_test_of_the_detectability_is_in_the_family_of_its_critic():
    """A verdict "unlike" next to "0 of 14 tests differ" would contradict itself."""
    about = {"corpus": "wiki", "system": "nucleus", "critic": "narrative", "n_reference": 50, "n_candidate": 50}
    p_values = {"c2st_auc": 0.02} | {f"worst_missing_{name}": 0.5 for name in ("ks", "cliffs_delta", "hedges_g")}
    rows = [about | {"statistic": name, "p_value": p, "n_paired": 0} for name, p in p_values.items()]
    adjusted = with_adjusted_p_values(pd.DataFrame(rows)).set_index("statistic")["p_adjusted"]
    assert adjusted["c2st_auc"] == pytest.approx(0.08)
    assert decide_verdict(0.7, 0.55, 0.85, 0.1, int((adjusted < 0.05).sum())) == INCONCLUSIVE


def test_numbers_at_matched_length_stand_below_those_of_the_system():
    matched = {"matched_verdict": LIKE, "matched_c2st_auc": 0.52, "matched_ci_low": 0.47, "matched_ci_high": 0.57}
    table = cells()
    table = table.assign(**{name: [None, value, None, None, None] for name, value in matched.items()})
    wiki, web = build_scorecards(table)
    assert {critic: format_cell(cell) for critic, cell in wiki.at_matched_length("bad").items()} == {
        "coherence": "≈ 52 % [47, 57]"
    }
    assert wiki.at_matched_length("good") == web.at_matched_length("tiny") == {}
    lines = render_scorecards(list(build_scorecards(table))).splitlines()
    (number,) = (number for number, line in enumerate(lines) if "at matched length" in line)
    assert "bad" in lines[number - 1]
    assert "≈ 52 % [47, 57]" in lines[number]
