"""The result of a run in plain sentences."""

from types import SimpleNamespace

import pandas as pd
import pytest

from macroscope.gaps import UNUSABLE
from macroscope.options import SPLIT_HALF
from macroscope.reporting.scorecard import INCONCLUSIVE, LIKE, UNLIKE
from macroscope.reporting.summary import summarise_run, summarise_scorecard
from macroscope.tables import write_csv

from .test_differences import row
from .test_scorecard import completed, scorecard_of
from .test_sensitivity_summary import matrix


def sentences(*cells, checks=(), warned=(), subject="your texts"):
    scorecard = scorecard_of(*cells, checks=checks, warned=warned)
    return " ".join(summarise_scorecard(scorecard, dict.fromkeys(scorecard.systems, subject)))


@pytest.mark.parametrize(
    ("verdicts", "text"),
    [
        ([UNLIKE, UNLIKE, LIKE], "Your texts differ from real text in 2 of 3 aspects."),
        ([UNLIKE, UNLIKE, UNUSABLE], "Your texts differ from real text in both aspects."),
        ([UNLIKE, UNLIKE, UNLIKE], "Your texts differ from real text in all 3 aspects."),
        ([UNLIKE], "Your texts differ from real text in the order of sections."),
        ([LIKE, LIKE], "Your texts are like real text in both aspects."),
        ([LIKE, INCONCLUSIVE], "Your texts are like real text in 1 of 2 aspects, and too few to tell in the other."),
        ([INCONCLUSIVE, INCONCLUSIVE], "Your texts are not told from real text, but too few to be called like it."),
        ([UNUSABLE], "No critic is accurate enough on your texts for a verdict."),
    ],
)
def test_the_verdict_on_one_system(verdicts, text):
    names = ("coherence", "topics", "tendencies")
    assert sentences(*[("mine", *cell, 0.8) for cell in zip(names, verdicts, strict=False)]) == text


def test_a_verdict_of_critics_with_a_warning_alone_says_so():
    cells = [("mine", "topics", UNLIKE, 0.9), ("mine", "tendencies", LIKE, 0.5)]
    assert sentences(*cells, warned=["topics"]).endswith("in 1 of 2 aspects, by critics with a warning alone.")


def test_of_many_systems_the_worst_the_best_and_those_like_real_text_are_named():
    names = ("tendencies", "topics")
    worst = [("worst", name, UNLIKE, 0.9) for name in names]
    best = [("best", "tendencies", UNLIKE, 0.7), ("best", "topics", LIKE, 0.5)]
    like = [("like", name, LIKE, 0.5) for name in names]
    few = [("few", name, INCONCLUSIVE, 0.55) for name in names]
    assert sentences(*worst, *best) == (
        "Both systems differ from real text: worst most (in both aspects), best least (in 1 of 2 aspects)."
    )
    assert sentences(*worst, *best, *like, *few, ("check", "topics", UNLIKE, 1.0), checks=["check"]) == (
        "2 of 4 systems differ from real text: worst most (in both aspects), best least (in 1 of 2 aspects)."
        " Like real text: like. Too few texts to tell: few."
    )
    same = [("same", name, UNLIKE, 0.7) for name in names]
    assert sentences(*worst, *same) == (
        "Both systems differ from real text, each in both aspects: worst most, same least."
    )
    assert sentences(*like, *few) == (
        "None of 2 systems differs from real text. Like real text: like. Too few texts to tell: few."
    )
    assert sentences(*worst, *like).startswith("1 of 2 systems differs from real text: worst, in both aspects.")


def run(kinds, matrix=None, wrapped=None):
    systems = {name: SimpleNamespace(kind=kind) for name, kind in kinds.items()}
    config = SimpleNamespace(cited_sensitivity=matrix, wrapped=wrapped or {}, system=systems.__getitem__)
    return SimpleNamespace(config=config)


def cells(*rows):
    table = completed(pd.DataFrame(rows, columns=["corpus", "system", "critic", "verdict", "c2st_auc"]))
    return table.assign(ci_low=table["c2st_auc"] - 0.05, ci_high=table["c2st_auc"] + 0.05)


STATISTICS = pd.DataFrame(
    [
        row("mine", "duplicate_2grams_mean", 0.117, 0.11, 0.124),
        row("control", "duplicate_2grams_mean", 0.075, 0.07, 0.08),
        row("mine", "duplicate_2grams_mean_difference", 0.042, 0.03, 0.05, 0.001),
        row("mine", "c2st_auc", 0.8, 0.75, 0.85, 0.001),
    ]
).assign(signature="", reason=None)


def test_the_clearest_difference_is_in_the_readers_words():
    table = cells(("c", "mine", "tendencies", UNLIKE, 0.8), ("c", SPLIT_HALF, "tendencies", LIKE, 0.5))
    clearest = "they repeat word pairs more, 11.7 % against 7.5 %."
    observed = "lengths, vocabulary and repetition"
    assert summarise_run(run({"mine": "files"}), table, STATISTICS) == (
        f"Your texts differ from real text in {observed}. Clearest: {clearest}"
    )
    assert summarise_run(run({"mine": "ngram"}), table, STATISTICS).startswith("The texts of mine differ")
    two = pd.concat([table, cells(("c", "other", "tendencies", LIKE, 0.5))])
    assert summarise_run(run({"mine": "files", "other": "files"}), two, STATISTICS).endswith(
        f"Like real text: other. Clearest, in the texts of mine: {clearest}"
    )
    assert summarise_run(run({"mine": "files"}), table, STATISTICS.iloc[3:]).endswith(
        f"Clearest: a classifier tells them from real texts by {observed}, in 80 % of pairs."
    )


def test_several_corpora_have_a_line_each_but_those_with_checks_alone():
    like, check = ("a", "mine", "topics", LIKE, 0.5), ("b", "mine", "topics", LIKE, 0.5)
    table = pd.concat([cells(like, check), cells(("c", "known", "topics", LIKE, 0.5)).assign(check=True)])
    lines = summarise_run(run({"mine": "ngram", "known": "ngram"}), table, STATISTICS).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["a", "b"]


def test_what_would_have_been_seen_is_said_if_it_is_known(tmp_path):
    table = cells(("c", "mine", "tendencies", LIKE, 0.5)).assign(n_reference=120, n_candidate=120)
    path = tmp_path / "matrix.csv"
    assert "would have been found" not in summarise_run(run({"mine": "files"}), table, STATISTICS)
    assert "would have been found" not in summarise_run(run({"mine": "files"}, str(path)), table, STATISTICS)
    write_csv(matrix(), path)
    assert summarise_run(run({"mine": "files"}, str(path)), table, STATISTICS).endswith(
        "Among as many texts, these damages would have been found: drop words, shuffle sentences."
    )
