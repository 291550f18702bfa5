"""The plan of the critics: who judges what, which files every job reads and writes, what the report reads."""

import json

import pytest

from macroscope.critics import critics
from macroscope.errors import MacroscopeError
from macroscope.files import write_json
from macroscope.stages import Stage

from .plans import ENCODERS, FOLDER, PROBING, names, plan_of, values


def test_values_of_the_run():
    plan = plan_of(seed=3, statistics={"confidence": 0.9})
    assert values(plan, "coherence", "train", corpus="wiki") == {
        "seed": "3",
        "checkpoints": f"{FOLDER}/coherence/wiki/checkpoints",
    }
    job = {"corpus": "wiki", "system": "shuffled"}
    given = values(plan, "coherence", "explain", **job)
    assert (given["system"], json.loads(given["resampling"])["confidence"]) == ("shuffled", 0.9)
    assert values(plan, "coherence", "known_truth", **job) == {"order": "shuffled", "seed": "3"}


def test_inputs_are_files_of_the_system_of_the_control_or_of_all():
    plan = plan_of([{"corpus": "wiki", "systems": ["mine"], "critics": ["clusters"]}])
    latents = f"{FOLDER}/clusters/{{corpus}}/latents"
    assert plan.critics.inputs("clusters", "compare") == {
        "control_latents": f"{latents}/control.parquet",
        "latents": f"{latents}/{{system}}.parquet",
    }
    shared = plan_of(
        [{"corpus": "wiki", "systems": ["mine"], "critics": ["clusters"]}],
        critics={"clusters": {"clustering": "shared"}},
    )
    assert shared.critics.inputs("clusters", "compare")["shared"] == f"{FOLDER}/clusters/{{corpus}}/shared"
    assert shared.critics.inputs("clusters", "learn_shared")["all_latents"](names(corpus="wiki")) == [
        f"{FOLDER}/clusters/wiki/latents/{system}.parquet" for system in ("control", "mine")
    ]


def test_outputs_and_logs():
    plan = plan_of()
    assert plan.critics.outputs("coherence", "train") == [("made", f"{FOLDER}/coherence/{{corpus}}/inference", True)]
    assert plan.critics.outputs("strings", "compare") == [
        ("made", "results/default/statistics/strings/{corpus}/{system}.csv", False),
        ("evidence", f"{FOLDER}/strings/{{corpus}}/evidence/{{system}}", True),
    ]
    assert plan.critics.log("coherence", "train", "log") == "logs/<run>/train_coherence/{corpus}.log"
    assert plan.critics.log("strings", "compare", "tsv") == "logs/<run>/compare_strings/{corpus}/{system}.tsv"


def test_a_job_asks_for_its_model_or_for_what_its_stage_declares():
    plan = plan_of(critics={"clusters": {"encoder": "gpt2-xl"}})
    assert (plan.critics.gpus("clusters", "project"), plan.critics.gpus("clusters", "compare")) == (1, 0)
    compare = critics()["clusters"].stage("compare")
    assert plan.critics.megabytes("clusters", "compare") == compare.megabytes
    assert plan.critics.megabytes("clusters", "project") != critics()["clusters"].stage("project").megabytes
    assert plan.critics.threads("strings", "compare") == critics()["strings"].stage("compare").threads


# ---- shards ----------------------------------------------------------------------------------------------------------


def test_without_shards_a_system_is_projected_by_one_job():
    plan = plan_of()
    assert not plan.critics.is_sharded
    assert plan.critics.outputs("strings", "project") == [
        ("made", f"{FOLDER}/strings/{{corpus}}/latents/{{system}}.parquet", False)
    ]
    assert plan.critics.shard_flags("project") == ""


@pytest.mark.parametrize(("documents", "shards"), [(0, 1), (1, 1), (2000, 1), (2001, 2), (6000, 3)])
def test_shards(tmp_path, documents, shards):
    plan = plan_of(documents_per_shard=2000)
    place = f"{FOLDER}/strings/{{corpus}}/shards/{{system}}/{{shard}}.parquet"
    assert plan.critics.outputs("strings", "project") == [("made", place, False)]
    assert plan.critics.log("strings", "project", "log") == "logs/<run>/project_strings/{corpus}/{system}/{shard}.log"
    assert plan.critics.shard_flags("project")(names(shard="1")) == "--shard 1 --documents-per-shard 2000"
    assert plan.critics.shard_flags("compare") == ""
    counted = tmp_path / "count.json"
    write_json(counted, {"documents": documents})
    found = plan.critics.shards("strings", names(corpus="wiki", system="mine"), str(counted))
    assert found == [f"{FOLDER}/strings/wiki/shards/mine/{n}.parquet" for n in range(shards)]


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


def test_theory_and_estimates_are_there_where_they_can_be():
    both = [{"corpus": name, "critics": ["coherence", "strings"]} for name in ("wiki", "web")]
    plan = plan_of(both)
    assert plan.critics.known_truths() == {
        ("coherence", "wiki", system): f"{FOLDER}/coherence/wiki/known_truth/{system}.json"
        for system in ("control", "shuffled")
    }
    # What beam sampling draws is not what the model gives probabilities to.
    assert plan.critics.known_log_q() == [("wiki", "lm"), ("web", "lm")]
    assert plan.critics.estimates() == [f"{FOLDER}/strings/{corpus}/evidence/lm" for corpus in ("wiki", "web")]


# ---- what the report reads -------------------------------------------------------------------------------------------


def test_shown_files_are_what_reporting_reads():
    names = [name for name in critics() if name != "synthetic"]  # which knows no such process
    judged = [{"corpus": "wiki", "systems": ["mine"], "critics": names}]
    plan = plan_of(judged, critics={"clusters": {"probing": [PROBING]}})
    probing = {f"{FOLDER}/clusters/web/probing/{encoder}.csv" for encoder in ENCODERS}

    def of_all(critic, pattern):
        return {f"{FOLDER}/{critic}/wiki/{pattern.format(system)}" for system in ("control", "mine")}

    of_classifier = {f"{FOLDER}/coherence/wiki/inference"}
    drawn = of_all("clusters", "evidence/{}") | of_all("tendencies", "evidence/{}")
    assert set(plan.critics.shown_files("overview")) >= drawn | of_classifier | probing
    evidence = {path for critic in names for path in of_all(critic, "evidence/{}")}
    told = plan.critics.shown_files("report")
    assert set(told) >= evidence | of_classifier | of_all("coherence", "latents/{}.parquet") | probing
    assert told == sorted(set(told))
    assert set(plan.reporting.figures_read()["shown"]) == set(plan.critics.shown_files("overview"))
    assert set(plan.reporting.tables_read()["shown"]) >= set(told)
    assert set(plan.reporting.report_read()["shown"]) == set(told)


def test_who_knows_a_process_judges_no_other_corpus():
    message = "critic 'synthetic' judges texts by the process .* kind hsmm; 'wiki' is none: leave 'synthetic' out there"
    with pytest.raises(MacroscopeError, match=message):
        plan_of([{"corpus": "wiki", "systems": ["mine"], "critics": ["synthetic"]}])


def test_statistics_are_those_of_scores_and_of_comparisons():
    judged = [{"corpus": "wiki", "systems": ["mine"], "critics": ["coherence", "strings"]}]
    names = ("coherence", "strings")
    files = [f"{critic}/wiki/{system}.csv" for critic in names for system in ("control", "mine")]
    files += [f"{critic}/wiki.c2st_auc.csv" for critic in names]
    assert plan_of(judged).critics.statistics() == [f"results/default/statistics/{file}" for file in files]


# ---- probing, the clusters critic's own ------------------------------------------------------------------------------


def test_plan_of_probing():
    plan = plan_of(critics={"clusters": {"seeds": 2, "probing": [PROBING]}})
    probing, folder = plan.critics.own["clusters"], f"{FOLDER}/clusters/web/probing"
    assert probing.inputs("clusters", "probing", "web") == [f"{folder}/small.csv", f"{folder}/large.csv"]
    assert probing.inputs("clusters", "probing", "wiki") == []
    assert plan.critics.corpora_used == ["wiki", "web"]
    job = names(corpus="web", encoder="large", side="reference")
    assert probing.embeddings(job) == {
        "embeddings": f"{folder}/large.own.parquet",
        "reference": f"{folder}/large.reference.parquet",
    }
    assert probing.documents(job) == "results/default/corpora/wiki/documents.parquet"
    assert probing.documents(names(corpus="web", encoder="large", side="own")).endswith("/web/documents.parquet")
    assert probing.gpus(job) == 1


def test_probing_runs_again_for_its_own_options_alone():
    """Each encoder is embedded by itself; what concerns the comparison of systems is nothing to probing."""
    job = names(corpus="web", encoder="small")
    found = []
    for options in ({}, {"seeds": 2}, {"permutations": 99, "smoothing": 0.5, "max_tokens": 9}):
        for encoders in (ENCODERS, {"small": ENCODERS["small"]}):
            probing = [PROBING | {"encoders": encoders}]
            own = plan_of(critics={"clusters": options | {"probing": probing}}).critics.own["clusters"]
            words = own.value_flags(job)
            found.append((own.embedding_options(job), own.probing_options(job), tuple(words)))
            assert own.signature(job) in words[1]
    plain, seeds, others = found[::2]
    assert found[1::2] == [plain, seeds, others]
    assert plain == others
    assert plain[0] == seeds[0]
    assert plain[1] != seeds[1]
    assert plain[2] != seeds[2]


def test_probing_without_a_reference():
    own = plan_of(critics={"clusters": {"probing": [{"corpus": "web"}]}}).critics.own["clusters"]
    assert list(own.embeddings(names(corpus="web", encoder="minilm"))) == ["embeddings"]


def test_an_input_that_nothing_makes_is_one_sentence(monkeypatch):
    plan = plan_of([{"corpus": "web", "critics": ["strings"]}])
    monkeypatch.setattr(plan.critics, "stage", lambda critic, stage: Stage("a:b", inputs="latent"))
    with pytest.raises(
        MacroscopeError, match="critic 'strings', stage 'compare': no 'latent' can be read; did you mean"
    ):
        plan.critics.inputs("strings", "compare")
