"""The plan of comparisons at matched length: derived systems, their files, and critics that compare them."""

import json

import pytest

from .plans import FOLDER, find_job, names, plan_of, values_of

SYSTEMS = "results/default/systems/wiki"
MINE = names(corpus="wiki", system="mine")


def matched_plan(critics=("coherence", "strings"), **keys):
    compared = {"corpus": "wiki", "systems": ["mine", "lm"], "critics": list(critics), "matched_length": True}
    return plan_of([compared], **keys)


def test_a_derived_system_is_compared_with_real_text_at_its_length():
    plan = matched_plan()
    inputs = find_job(plan, "compare_strings").inputs
    assert inputs["control_latents"](names(corpus="wiki", system="mine@matched")) == (
        f"{FOLDER}/strings/wiki/latents/mine@reference.parquet"
    )
    scores = find_job(plan, "compare_scores_coherence").inputs["control_scores"]
    assert scores(names(corpus="wiki", system="lm@matched")) == f"{FOLDER}/coherence/wiki/scores/lm@reference.parquet"
    assert scores(MINE) == f"{FOLDER}/coherence/wiki/scores/control.parquet"
    assert "statistics/strings/wiki/mine@matched.csv" in plan.reporting.contents.statistics


def test_derived_systems_are_tested_and_nothing_else_reads_them():
    plan = matched_plan(critics={"clusters": 1})
    derived = ["mine@matched", "mine@reference", "lm@matched", "lm@reference"]
    given = values_of(find_job(plan, "two_sample_test_clusters"), corpus="wiki")
    assert json.loads(given["systems"]) == ["control", "mine", "lm", *derived]
    latents = find_job(plan, "learn_shared_clusters").inputs["all_latents"](names(corpus="wiki"))
    assert not any("@" in path for path in latents)


def test_critics_that_read_the_whole_corpus_have_all_of_it_at_matched_length():
    plan = matched_plan(
        systems={
            "mine": {"kind": "files", "files": ["y"]},
            "lm": {"kind": "files", "files": ["z"]},
            "control": {"kind": "control", "whole": True},
        }
    )
    job = find_job(plan, "match_corpus")
    assert job.inputs["control"](MINE) == "results/default/corpora/wiki/documents.parquet"
    assert job.inputs["held_out"](MINE) == f"{SYSTEMS}/control/samples.parquet"
    texts = {critic: plan.critics.texts(critic, "wiki", "mine@reference") for critic in ("coherence", "strings")}
    folder = f"{SYSTEMS}/mine@reference"
    assert texts == {"coherence": f"{folder}/samples.parquet", "strings": f"{folder}/documents.parquet"}


def test_a_critic_that_cannot_match_lengths_says_so():
    plan = plan_of(
        [{"corpus": "chains", "systems": ["other"], "critics": ["synthetic", "tendencies"], "matched_length": True}],
        corpora={"chains": {"source": "simulated", "kind": "hsmm"}},
        systems={"other": {"kind": "simulated", "order": "shuffled"}},
    )
    assert list(plan.critics.matched) == [("tendencies", "chains")]
    (gap,) = plan.critics.unmatched
    assert (gap.critic, gap.corpus) == ("synthetic", "chains")
    assert "fixed number of sub-sequences" in gap.explanation


@pytest.mark.parametrize("missing", [{"system": "mine@matched"}, {"system": "mine"}])
def test_what_failed_is_left_out(missing):
    plan = matched_plan(gaps=[{"kind": "failed", "corpus": "wiki", "explanation": "it failed", **missing}])
    assert plan.critics.matched["strings", "wiki"] == ["lm"]
    assert ("mine" in plan.critics.chapters["strings", "wiki"]) == (missing["system"] != "mine")
