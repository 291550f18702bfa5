"""Cells of the scorecard without a comparison, and the reasons that the plan knows."""

import pytest

from macroscope.config.schema import parse_config
from macroscope.errors import MacroscopeError
from macroscope.gaps import FAILED, NOT_IN_CONFIG, SKIPPED, Gap
from macroscope.options import CONTROL
from macroscope.plan import Plan

SYSTEMS = {name: {"kind": "files", "files": [f"{name}.jsonl"]} for name in ("one", "two")}
TITLES = {"corpus": "wiki", "critic": "coherence", "reason": "needs titles", "explanation": "it needs 20 titles"}
CHINESE = {"corpus": "wiki", "critic": "clusters", "system": "two", "reason": "does not read Chinese"}


def plan_of(comparisons, skipped=(), failed=(), systems=SYSTEMS):
    config = {
        "corpora": {name: {"source": "simulated", "kind": "wiki"} for name in ("wiki", "web")},
        "systems": systems,
        "comparisons": [
            {"corpus": corpus, "systems": judged, "critics": critics} for corpus, judged, critics in comparisons
        ],
        "gaps": [*skipped, *(gap.model_dump() for gap in failed)],
    }
    return Plan(parse_config(config))


def reasons(plan):
    return {cell: gap.reason if gap.kind == SKIPPED else gap.note for cell, gap in plan.critics.empty_cells.items()}


def test_a_full_matrix_has_no_empty_cell():
    assert reasons(plan_of([("wiki", "all", ["strings", "clusters"]), ("web", ["one"], ["strings"])])) == {}


def test_each_kind_of_cell_has_the_reason_that_is_known():
    failed = Gap(kind=FAILED, corpus="wiki", critic="topics", explanation="no word", log="logs/x.log")
    comparisons = [("wiki", ["one"], ["strings", "clusters", "topics"]), ("wiki", ["two"], ["strings", "topics"])]
    plan = plan_of([*comparisons, ("web", ["one"], ["strings"])], [TITLES, CHINESE], [failed])
    assert reasons(plan) == {
        **{("coherence", "wiki", system): "needs titles" for system in (CONTROL, "one", "two")},
        **{("topics", "wiki", system): "failed: no word; see logs/x.log" for system in (CONTROL, "one", "two")},
        ("clusters", "wiki", "two"): "does not read Chinese",
    }


def test_a_cell_without_a_declared_reason_is_not_in_the_config():
    plan = plan_of([("wiki", ["one"], ["strings", "clusters"]), ("wiki", ["two"], ["strings"])])
    assert reasons(plan) == {("clusters", "wiki", "two"): NOT_IN_CONFIG}


def test_a_comparison_fills_a_cell_whatever_the_config_says():
    """A user adds a critic to a config that `macroscope criticize` wrote."""
    assert reasons(plan_of([("wiki", "all", ["strings", "coherence", "clusters"])], [TITLES, CHINESE])) == {}


def test_cells_of_a_system_that_failed_are_not_empty_ones():
    """It has no row; the report lists it."""
    failed = Gap(kind=FAILED, corpus="wiki", system="two", explanation="no text")
    plan = plan_of([("wiki", "all", ["strings"])], [TITLES], [failed])
    assert {system for _, _, system in reasons(plan)} == {CONTROL, "one"}


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"critic": "coherense"}, "did you mean 'coherence'"),
        ({"corpus": "wikis"}, "did you mean 'wiki'"),
        ({"system": "ome"}, "did you mean 'one'"),
    ],
)
def test_misspelt_names_are_refused(changed, sentence):
    with pytest.raises(MacroscopeError, match=sentence):
        plan_of([("wiki", "all", ["strings"])], [TITLES | changed])


def test_many_systems_have_a_reason_each():
    systems = {f"s{number}": {"kind": "files", "files": ["s.jsonl"]} for number in range(30)}
    plan = plan_of([("wiki", "all", ["strings"])], [TITLES], systems=systems)
    assert reasons(plan) == {("coherence", "wiki", system): "needs titles" for system in (CONTROL, *systems)}


def test_a_config_knows_two_kinds():
    with pytest.raises(MacroscopeError, match=r"gaps\.0\.kind: a config knows 'skipped' and 'failed'"):
        plan_of([("wiki", "all", ["strings"])], [TITLES | {"kind": "not usable"}])
