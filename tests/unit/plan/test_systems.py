"""The plan of the systems: which files they are read from, what their stages are given."""

import json
from types import SimpleNamespace

import pytest

from macroscope.config.schema import parse_config
from macroscope.errors import MacroscopeError
from macroscope.plan.corpora import CorporaPlan
from macroscope.plan.systems import SystemsPlan
from macroscope.registry import Plugin
from macroscope.stages import NO_NAME, Stage
from macroscope.systems import kinds
from macroscope.systems.declaration import Kind


def plan_of(corpus, **systems):
    judged = [{"corpus": "c", "critics": ["tendencies"]}]
    config = parse_config({"corpora": {"c": corpus}, "systems": systems, "comparisons": judged})
    return SystemsPlan(config, "results/default", CorporaPlan(config, "results/default"))


def names(**wildcards):
    return SimpleNamespace(**wildcards)


def read(plan, system):
    """Files that a system of kind files reads."""
    return plan.inputs("files", "draw")(names(corpus="c", system=system))["files"]


def test_the_files_of_a_published_model():
    corpus = {"source": "webtext", "files": ["x.jsonl"]}
    xl = {"kind": "files", "dataset": "gpt2-xl-output"}
    plan = plan_of(corpus, xl=xl, both=xl | {"splits": ["test", "valid"]}, mine={"kind": "files", "files": ["a", "b"]})
    assert read(plan, "xl") == ["data/gpt2-xl-output/v1/xl-1542M.test.jsonl"]
    assert read(plan, "both") == [
        "data/gpt2-xl-output/v1/xl-1542M.valid.jsonl",
        "data/gpt2-xl-output/v1/xl-1542M.test.jsonl",
    ]
    assert read(plan, "mine") == ["a", "b"]


@pytest.mark.parametrize("system", [{}, {"files": ["a"], "dataset": "gpt2-xl-output"}])
def test_a_system_has_files_or_a_data_set(system):
    with pytest.raises(MacroscopeError, match=r"systems\.mine: give either 'files' or 'dataset'"):
        plan_of({"source": "webtext", "files": ["x"]}, mine={"kind": "files"} | system)


def test_real_documents_are_no_system():
    plan = plan_of({"source": "webtext", "files": ["x"]}, mine={"kind": "files", "dataset": "pubmed"})
    with pytest.raises(MacroscopeError, match=r"systems\.mine\.dataset: 'pubmed' .* holds real documents"):
        read(plan, "mine")


def test_a_stage_is_given_what_it_reads():
    plan = plan_of({"source": "simulated", "kind": "webtext"}, process={"kind": "simulated", "samples": 7, "seed": 2})
    job = names(corpus="c", system="process")
    assert plan.inputs("simulated", "draw")(job) == {"process": "results/default/corpora/c/truth/process.json"}
    values = plan.values("simulated", "draw")(job)
    assert values[1::2] == ["kind_of_process=webtext", "corpus=c", "system=process", "seed=1"]
    assert json.loads(plan.options("simulated", "draw")(job)) == {
        "kind": "simulated",
        "order": "process",
        "samples": 7,
        "seed": 2,
    }
    assert (plan.order("process"), plan.order("control")) == ("process", "process")


def test_every_kind_has_a_rule_for_its_samples():
    plan = plan_of({"source": "simulated"}, lm={"kind": "language_model", "base": "tiny-gpt2", "titles": True})
    assert plan.of_kind("control") == "control"
    assert plan.of_kind("ngram") == NO_NAME
    assert {*plan.generated_kinds(), "language_model", "resampled"} == set(kinds())
    assert plan.language_models.sampled == "lm"


def test_a_job_asks_for_what_its_stage_declares():
    plan = plan_of({"source": "simulated"}, lm={"kind": "language_model", "base": "gpt2-xl", "titles": True})
    job = names(corpus="c", system="lm", shard="0")
    resources = plan.megabytes("ngram", "draw"), plan.threads("ngram", "draw"), plan.gpus("ngram", "draw")
    assert [of(job) for of in resources] == [4000, 1, 0]
    models = plan.language_models
    asked = plan.megabytes("language_model", "sample"), plan.gpus("language_model", "sample")
    assert [of(job) for of in asked] == [models.megabytes(job), models.gpus(job)]
    assert plan.values("language_model", "sample")(job)[1::2] == ["system=lm", "seed=1", "shard=0", "shards=1"]


def test_a_stage_that_reads_what_nobody_gives_is_named(monkeypatch):
    stages = {"generate": Stage("drawing:draw", inputs="document")}
    kind = Plugin("odd", "odd", Kind("options:Odd", "odd", "black", stages))
    monkeypatch.setattr("macroscope.plan.systems.kinds", lambda: {"odd": kind})
    with pytest.raises(MacroscopeError, match=r"kind 'odd', stage 'draw': no 'document' .*did you mean 'documents'"):
        plan_of({"source": "simulated"}).inputs("odd", "draw")


def test_perplexities_are_measured_of_those_that_have_one():
    smoothed = {"kind": "ngram", "titles": False, "smoothing": "kneser_ney"}
    lm = {"kind": "language_model", "base": "tiny-gpt2", "titles": True}
    plan = plan_of({"source": "simulated"}, lm=lm, smoothed=smoothed, counted={"kind": "ngram", "titles": False})
    assert set(plan.measured_kinds()) == {"ngram", "hsmm"}
    assert plan.measured("ngram") == "smoothed"
    assert plan.measured("hsmm") == NO_NAME
    signatures = [plan.perplexity_signature(names(corpus="c", system=system)) for system in ("smoothed", "lm")]
    assert signatures[0] == "kind:ngram|order:3|smoothing:kneser_ney|titles:False|split:test"
    assert signatures[1] == plan.language_models.perplexity_signature(names(corpus="c", system="lm"))


def test_prompts_are_the_control_s_where_a_system_has_them():
    server = {"kind": "server", "url": "http://localhost:1/v1", "model": "m", "api": "openai"}
    plan = plan_of({"source": "simulated"}, plain=server, prompted=server | {"prompt_words": 5})
    inputs = plan.inputs("server", "draw")
    assert inputs(names(corpus="c", system="plain")) == {"prompts": []}
    control = "results/default/systems/c/control/samples.parquet"
    assert inputs(names(corpus="c", system="prompted")) == {"prompts": [control]}
    with pytest.raises(MacroscopeError, match=r"systems\.s\.prompt_words: prompts are for untitled texts"):
        plan_of({"source": "simulated"}, s=server | {"prompt_words": 5, "titles": True})


def test_what_a_server_said_is_an_output_beside_its_samples():
    plan = plan_of({"source": "simulated"})
    folder = "results/<run>/systems/{corpus}/{system}"
    assert plan.written_beside("server") == [f"{folder}/completions.parquet"]
    assert plan.written_beside("control") == []
