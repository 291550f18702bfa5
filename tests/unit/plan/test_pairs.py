"""Which systems are compared with each other, and what the jobs that look at several of them are given."""

from types import SimpleNamespace

import pytest

from macroscope.config.schema import parse_config
from macroscope.errors import MacroscopeError
from macroscope.plan import Plan

SYSTEMS = {name: {"kind": "files", "files": [f"{name}.jsonl"]} for name in ("one", "two", "three")}
WIKI = SimpleNamespace(corpus="wiki")


def plan_of(**comparison):
    judged = {"corpus": "wiki", "systems": list(SYSTEMS), "critics": ["coherence", "strings"], **comparison}
    corpora = {"wiki": {"source": "simulated", "kind": "wiki"}}
    return Plan(parse_config({"corpora": corpora, "systems": SYSTEMS, "comparisons": [judged]})).critics.side_by_side


def test_no_pairs_unless_they_are_asked_for():
    assert plan_of().against == {}
    assert plan_of().pairs_files() == []


def test_all_pairs_are_each_pair_once_and_without_the_control():
    pairs = [("one", "two"), ("one", "three"), ("two", "three")]
    plan = plan_of(pairs="all", systems="all")
    assert plan.against == {("coherence", "wiki"): pairs, ("strings", "wiki"): pairs}
    assert plan.pairs_files() == [f"results/default/statistics/{c}/wiki.pairs.csv" for c in ("coherence", "strings")]


def test_flags_name_systems_in_the_order_of_their_files():
    plan = plan_of(pairs=[["two", "one"]])
    assert plan.pair_flags("strings")(WIKI) == ["--pair", "two:one"]
    assert plan.system_flags("strings")(WIKI)[1::2] == ["control", "one", "two", "three"]
    latents = plan.seen("coherence")["latents"](WIKI)
    assert [path.rsplit("/", 1)[1] for path in latents] == [
        f"{system}.parquet" for system in ("control", "one", "two", "three")
    ]
    assert set(plan.seen("coherence")) == {"latents", "scores"}
    assert set(plan.seen("strings")) == {"latents"}


def test_pairs_read_every_table_of_the_critic():
    found = plan_of(pairs="all").statistics_of_all("coherence")(WIKI)
    assert found[-1] == "results/default/statistics/coherence/wiki.c2st_auc.csv"
    assert len(found) == 5


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([["one", "tow"]], "no system of this comparison 'tow'.*two"),
        ([["one", "one"]], "stands against itself"),
        ([["one", "control"]], "compared with 'control' anyway"),
        ([["one"]], "pairs"),
        ("every", "pairs"),
    ],
)
def test_pairs_that_are_none_are_one_sentence(pairs, message):
    with pytest.raises(MacroscopeError, match=message):
        plan_of(pairs=pairs, systems=[*SYSTEMS, "control"])
