"""Variants: a critic that judges the same systems with other options."""

import json

import pytest

from macroscope.errors import MacroscopeError

from ..plan.plans import PROBING, find_job, plan_of


def test_a_variant_judges_besides_its_critic_with_its_own_options():
    comparisons = [{"corpus": "web", "systems": ["mine"], "critics": ["clusters", "clusters-k-4", "strings-lstm"]}]
    plan = plan_of(
        comparisons,
        critics={"clusters": {"number_of_clusters": 9, "seeds": 3, "probing": [PROBING]}},
        variants={"clusters": {"k-4": {"number_of_clusters": 4}}, "strings": {"lstm": {"estimator": "lstm"}}},
    )
    assert [c for c, _, system in plan.critics.comparisons if system == "mine"] == comparisons[0]["critics"]
    expected = {
        "clusters": {"number_of_clusters": 9, "seeds": 3},
        "clusters-k-4": {"number_of_clusters": 4, "seeds": 5},
        "strings-lstm": {"estimator": "lstm"},
    }
    for critic, options in expected.items():
        assert options.items() <= json.loads(plan.critics.options(critic, "compare")).items()
    where = {"corpus": "web", "system": "mine"}
    assert plan.critics.place("statistics", "clusters-k-4", **where).endswith("/clusters-k-4/web/mine.csv")
    assert "critic:clusters-k-4|" in plan.critics.signature("clusters-k-4")
    job = find_job(plan, "compare_clusters-k-4")
    assert job.command == "critics run --critic clusters-k-4 --stage compare"
    assert job.outputs["evidence"] == "results/default/critics/clusters-k-4/{corpus}/evidence/{system}"
    shown = plan.reporting.shown_files("report")
    assert any("/clusters/web/probing/" in path for path in shown)
    assert not any("/clusters-k-4/web/probing/" in path for path in shown)


@pytest.mark.parametrize(
    ("variants", "critic", "message"),
    [
        ({"clusters": {"k4": {"number_of_cluster": 4}}}, "clusters", "variants.clusters.k4.number_of_cluster"),
        ({"cluster": {}}, "clusters", "variants.cluster: there is no such key; did you mean 'clusters'"),
        ({"clusters": {"k4": {}}}, "clusters-k5", "there is no critic 'clusters-k5'; did you mean 'clusters-k4'"),
        (
            {"clusters": {"k4": {"probing": [PROBING]}}},
            "clusters",
            "variants only judge systems; set it in critics.clusters",
        ),
    ],
)
def test_variants_are_checked(variants, critic, message):
    with pytest.raises(MacroscopeError, match=message):
        plan_of([{"corpus": "wiki", "critics": [critic]}], variants=variants)
