"""The plan of the critics: who judges what, which files every job reads and writes, what the report reads."""

import json
from dataclasses import replace

import pytest

from macroscope.config.schema import parse_config
from macroscope.critics import critics
from macroscope.errors import MacroscopeError
from macroscope.files import write_json
from macroscope.jobs import OUTPUT
from macroscope.plan import Plan, load_plan
from macroscope.stages import Stage

from .plans import ENCODERS, FOLDER, PROBING, find_job, names, plan_of, values_of


def test_two_sample_tests_and_pairs_read_all_systems_of_a_corpus():
    judged = {"corpus": "wiki", "systems": ["mine", "lm"], "critics": ["coherence", "strings"], "pairs": "all"}
    plan = plan_of([judged], statistics={"confidence": 0.9})
    for name in ("two_sample_test", "compare_pairs"):
        job = find_job(plan, f"{name}_coherence")
        given = values_of(job, corpus="wiki")
        assert job.command == f"critics run --critic coherence --stage {name}"
        assert json.loads(given["systems"]) == ["control", "mine", "lm"]
        assert (given["critic"], given["corpus"], given["seed"]) == ("coherence", "wiki", "1")
        assert job.inputs["all_scores"](names(corpus="wiki")) == [
            f"{FOLDER}/coherence/wiki/scores/{system}.parquet" for system in ("control", "mine", "lm")
        ]
        assert "all_scores" not in find_job(plan, f"{name}_strings").inputs
        assert "macroscope.critics.features" in job.modules
    assert values_of(find_job(plan, "two_sample_test_coherence"), corpus="wiki")["confidence"] == "0.9"


def test_powers_read_what_critics_declare_of_all_systems():
    block = {
        "corpus": "wiki",
        "critics": ["coherence", "strings", "clusters"],
        "damages": ["truncate"],
        "doses": [0.25],
    }
    plan = Plan(parse_config({"corpora": {"wiki": {"source": "simulated"}}, "sensitivity": block}))
    jobs = {name: find_job(plan, f"measure_power_{name}") for name in block["critics"]}
    paths = jobs["coherence"].inputs["all_scores"](names(corpus="wiki"))
    assert paths[0] == f"{FOLDER}/coherence/wiki/scores/control.parquet"
    assert len(paths) == 3  # truncate and its harmless twin
    assert [set(job.inputs) for job in jobs.values()] == [
        {"all_latents", "all_scores"},
        {"all_latents"},
        {"all_latents"},
    ]
    # The scores of clusters are those of a comparison: they are no numbers of a document by itself.
    attributions = find_job(plan, "write_sensitivity").inputs["attributions"]
    assert {path.split("/")[3] for path in attributions} == {"coherence", "strings"}


def test_a_job_requests_the_resources_of_its_model_or_of_its_stage():
    plan = plan_of(critics={"clusters": {"encoder": "gpt2-xl"}})
    project, compare = (find_job(plan, f"{stage}_clusters").resources for stage in ("project", "compare"))
    where = names(corpus="wiki", system="mine")
    declared = critics()["clusters"].stage("compare")
    assert (project.gpus(where), compare.gpus) == (1, 0)
    assert compare.megabytes == declared.megabytes
    assert project.megabytes(where) != critics()["clusters"].stage("project").megabytes
    assert find_job(plan, "compare_strings").resources.threads == critics()["strings"].stage("compare").threads


def test_a_stage_reads_its_options_and_a_signed_stage_those_upstream():
    plan = plan_of()
    job = find_job(plan, "score_coherence")
    assert set(json.loads(job.options(names(corpus="wiki", system="mine")))) == set(job.stage.option_names)
    signed = json.loads(find_job(plan, "two_sample_test_coherence").options(names(corpus="wiki")))
    assert set(signed) == critics()["coherence"].data.options_of("score")


# ---- shards ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("documents", "shards"), [(0, 1), (1, 1), (2000, 1), (2001, 2), (6000, 3)])
def test_shards(tmp_path, documents, shards):
    plan = plan_of(documents_per_shard=2000)
    job, gather = find_job(plan, "project_strings"), find_job(plan, "gather_strings")
    assert job.outputs == {OUTPUT: f"{FOLDER}/strings/{{corpus}}/shards/{{system}}/{{shard}}.parquet"}
    assert job.log("log") == "logs/<run>/project_strings/{corpus}/{system}/{shard}.log"
    given = values_of(job, corpus="wiki", system="mine", shard="1")
    assert (given["texts_shard"], given["texts_per_shard"]) == ("1", "2000")
    assert "texts_shard" not in values_of(find_job(plan, "compare_strings"), corpus="wiki", system="mine")
    counted = tmp_path / "count.json"
    write_json(counted, {"documents": documents})
    plan.critics.counted = {f"{plan.results}/systems/wiki/mine/samples.parquet": str(counted)}.__getitem__
    assert gather.outputs == {OUTPUT: f"{FOLDER}/strings/{{corpus}}/latents/{{system}}.parquet"}
    assert gather.inputs["shards_of_latents"](names(corpus="wiki", system="mine")) == [
        f"{FOLDER}/strings/wiki/shards/mine/{n}.parquet" for n in range(shards)
    ]


def test_shards_are_known_only_to_the_workflow():
    gather = find_job(plan_of(documents_per_shard=2000), "gather_strings")
    with pytest.raises(MacroscopeError, match="known only to the workflow"):
        gather.inputs["shards_of_latents"](names(corpus="wiki", system="mine"))


# ---- who judges what -------------------------------------------------------------------------------------------------


def test_chapters_have_the_control_first_and_no_doubles():
    plan = plan_of(
        [
            {"corpus": "wiki", "systems": ["mine", "lm"], "critics": ["coherence", "strings"]},
            {"corpus": "wiki", "systems": ["lm", "shuffled"], "critics": ["coherence"]},
            {"corpus": "german", "systems": ["control", "mine"], "critics": ["strings"]},
        ],
        critics={"clusters": {"probing": [PROBING]}},
    )
    assert plan.critics.chapters == {
        ("coherence", "wiki"): ["control", "mine", "lm", "shuffled"],
        ("strings", "wiki"): ["control", "mine", "lm"],
        ("strings", "german"): ["control", "mine"],
        ("clusters", "web"): [],
    }
    assert plan.critics.corpora_used == ["wiki", "web", "german"]
    assert plan.critics.pairs == [
        *(("wiki", system) for system in ("control", "mine", "lm", "shuffled")),
        *(("german", system) for system in ("control", "mine")),
    ]


def test_all_systems_are_those_that_have_samples_of_the_corpus():
    plan = plan_of([{"corpus": "web", "systems": "all", "critics": ["tendencies"]}])
    assert plan.critics.chapters == {("tendencies", "web"): ["control", "mine", "lm", "beam"]}


def test_known_truths_and_estimates_are_there_where_they_can_be():
    both = [{"corpus": name, "critics": ["coherence", "strings"]} for name in ("wiki", "web")]
    plan = plan_of(both)
    contents = plan.reporting.contents
    assert set(contents.known_truths) == {("coherence", "wiki", system) for system in ("control", "shuffled")}
    # Beam sampling does not sample from the model's distribution.
    assert contents.known_log_q == [("wiki", "lm"), ("web", "lm")]
    estimates = find_job(plan, "make_tables").inputs["estimates"]
    assert estimates == [f"{FOLDER}/strings/{corpus}/evidence/lm" for corpus in ("wiki", "web")]


def test_who_knows_a_process_judges_no_other_corpus():
    message = (
        "critic 'synthetic' judges texts by the known process .* kind hsmm; 'wiki' is not: leave 'synthetic' out there"
    )
    with pytest.raises(MacroscopeError, match=message):
        plan_of([{"corpus": "wiki", "systems": ["mine"], "critics": ["synthetic"]}])


# ---- probing, the clusters critic's own ------------------------------------------------------------------------------


@pytest.mark.slow
def test_probing_runs_again_for_its_own_options_alone():
    """Each encoder is embedded separately; options of the comparison of systems do not affect probing."""
    where = names(corpus="web", encoder="small")
    jobs = []
    for options in ({}, {"seeds": 2}, {"permutations": 99, "smoothing": 0.5, "max_tokens": 9}):
        for encoders in (ENCODERS, {"small": ENCODERS["small"]}):
            probing = [PROBING | {"encoders": encoders}]
            plan = plan_of(critics={"clusters": options | {"probing": probing}})
            embed, probe = find_job(plan, "embed_corpus_clusters"), find_job(plan, "probe_clusters")
            given = values_of(probe, corpus="web", encoder="small")
            jobs.append((embed.options(where), probe.options(where), given))
    plain, seeds, others = jobs[::2]
    assert jobs[1::2] == [plain, seeds, others]
    assert plain == others
    assert plain[0] == seeds[0]
    assert plain[1] != seeds[1]
    assert plain[2] != seeds[2]


def test_an_input_that_nothing_makes_is_one_sentence(monkeypatch):
    plan = plan_of([{"corpus": "web", "critics": ["tendencies"]}])
    monkeypatch.setattr(plan.critics, "stage", lambda critic, stage: Stage("a:b", inputs="latent"))
    with pytest.raises(
        MacroscopeError, match="critic 'tendencies', stage 'compare': there is no input 'latent'; did you mean"
    ):
        plan.critics.inputs("tendencies", "compare")


def test_many_systems_are_announced_with_the_time_that_their_planning_takes():
    def planned(systems):
        names = {f"s{n}": {"kind": "files", "files": ["t.jsonl"]} for n in range(systems)}
        corpora = {"c": {"source": "files", "files": ["t.jsonl"], "split": "test"}}
        compared = [{"corpus": "c", "critics": ["tendencies"]}]
        return load_plan({"corpora": corpora, "systems": names, "comparisons": compared})

    few, many = planned(3), planned(4000)
    assert few.planning_note() is None
    assert few.critics.count_jobs() == 5 * 4  # samples, latents, statistics, courses, attributions of each, and control
    assert many.planning_note() == (
        "4,001 systems have about 20,005 jobs, which Snakemake plans in about 2 min before the first one, at each call;"
        " runs of fewer systems begin sooner"
    )


def test_reporting_has_the_versions_of_the_critics_stages_that_it_runs(monkeypatch):
    plan = plan_of()
    critic, _ = next(iter(plan.critics.chapters))
    plugin = plan.critics.plugins[critic]
    before = plan.reporting.version("tables")
    assert "report_" not in before
    raised = {**plugin.data.stages, "report": replace(plugin.data.stages["report"], version=2)}
    monkeypatch.setitem(plan.critics.plugins, critic, replace(plugin, data=replace(plugin.data, stages=raised)))
    assert plan.reporting.version("tables") == f"{before} report_{critic}=2"
