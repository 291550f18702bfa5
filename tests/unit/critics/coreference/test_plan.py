"""What a config implies for the coreference critic: whose mentions are read where, and what it cannot judge."""

import pytest

from macroscope.errors import MacroscopeError
from tests.unit.plan.plans import names, plan_of


def test_resources_that_a_stage_reads_are_all_files_of_its_folders():
    stage = plan_of().critics.stage("coreference", "project")
    found = {path.rpartition("resources/")[2] for path in stage.resource_files}
    assert {"persons.yaml", "pronoun_weights.json", "stop_words/en.txt"} <= found
    assert plan_of().critics.stage("coreference", "score").resource_files == []


@pytest.mark.parametrize(
    ("shards", "options", "train", "project"),
    [
        (None, {}, None, None),
        (None, {"resolver": "fastcoref"}, "split.train.parquet", "{system}.parquet"),
        (1000, {"resolver": "neuralcoref"}, "split.train.parquet", "{system}/{shard}.parquet"),
    ],
)
def test_mentions_are_read_where_a_resolver_puts_them(shards, options, train, project):
    plan = plan_of(critics={"coreference": options}, documents_per_shard=shards).critics
    for stage, expected in (("train", train), ("project", project)):
        found = plan.inputs("coreference", stage).get("mentions")
        assert found == (expected and f"results/default/critics/coreference/{{corpus}}/mentions/{expected}")


def test_the_rules_know_english_alone():
    with pytest.raises(MacroscopeError, match=r"critics\.coreference\.resolver: 'rules' knows English.*'german'"):
        plan_of([{"corpus": "german", "critics": ["coreference"]}])


def test_options_with_braces_are_no_pattern_of_wildcards():
    """Snakemake takes braces in a parameter for wildcards, unless a function gives it."""
    plan = plan_of(critics={"coreference": {"resolver": "files", "mentions": "mine/{system}.parquet"}}).critics
    assert "{system}" in plan.options_of("coreference", "train")(names(corpus="wiki"))


def test_mentions_of_ones_own_are_found_by_corpus_and_system():
    options = {"resolver": "files", "mentions": "mine/{corpus}/{system}.parquet"}
    plan = plan_of(critics={"coreference": options}).critics
    wildcards = names(corpus="wiki", system="lm")
    assert plan.inputs("coreference", "project")["mentions"](wildcards) == "mine/wiki/lm.parquet"
    assert plan.inputs("coreference", "train")["mentions"](wildcards) == "mine/wiki/split.train.parquet"
