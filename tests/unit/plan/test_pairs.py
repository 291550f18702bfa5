"""Pairs of systems that are compared with each other, and the input of the jobs that read several systems."""

import json
from types import SimpleNamespace

import pytest

from macroscope.config.schema import parse_config
from macroscope.errors import MacroscopeError
from macroscope.plan import Plan

from .plans import find_job, values_of

SYSTEMS = {name: {"kind": "files", "files": [f"{name}.jsonl"]} for name in ("one", "two", "three")}
WIKI = SimpleNamespace(corpus="wiki")


def plan_of(**comparison):
    judged = {"corpus": "wiki", "systems": list(SYSTEMS), "critics": ["coherence", "strings"], **comparison}
    corpora = {"wiki": {"source": "simulated", "kind": "wiki"}}
    return Plan(parse_config({"corpora": corpora, "systems": SYSTEMS, "comparisons": [judged]}))


def test_no_pairs_unless_they_are_asked_for():
    assert plan_of().critics.compared_pairs == {}
    assert plan_of().reporting.contents.pairs_files == []


def test_all_pairs_are_each_pair_once_and_without_the_control():
    pairs = [("one", "two"), ("one", "three"), ("two", "three")]
    plan = plan_of(pairs="all", systems="all")
    assert plan.critics.compared_pairs == {("coherence", "wiki"): pairs, ("strings", "wiki"): pairs}
    assert plan.reporting.contents.pairs_files == [
        f"statistics/{critic}/wiki.pairs.csv" for critic in ("coherence", "strings")
    ]


def test_values_name_systems_in_the_order_of_their_files():
    plan = plan_of(pairs=[["two", "one"]])
    systems = ["control", "one", "two", "three"]
    for name in ("coherence", "strings"):
        given = values_of(find_job(plan, f"compare_pairs_{name}"), corpus="wiki")
        assert json.loads(given["pairs"]) == [["two", "one"]]
        assert json.loads(given["systems"]) == systems
    inputs = find_job(plan, "compare_pairs_coherence").inputs
    assert [path.rsplit("/", 1)[1] for path in inputs["all_latents"](WIKI)] == [f"{name}.parquet" for name in systems]
    assert set(inputs) == {"all_latents", "all_scores", "all_statistics"}
    assert set(find_job(plan, "compare_pairs_strings").inputs) == {"all_latents", "all_statistics"}


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([["one", "tow"]], "no system of this comparison 'tow'.*two"),
        ([["one", "one"]], "is paired with itself"),
        ([["one", "control"]], "compared with 'control' anyway"),
        ([["one"]], "pairs"),
        ("every", "pairs"),
    ],
)
def test_invalid_pairs_are_one_sentence(pairs, message):
    with pytest.raises(MacroscopeError, match=message):
        plan_of(pairs=pairs, systems=[*SYSTEMS, "control"])
