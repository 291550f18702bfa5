"""The plan of the systems: the files, values, options and resources of the jobs of their stages."""

import json

import pytest

from macroscope.cli.flags import parse_options
from macroscope.config.schema import parse_config
from macroscope.errors import MacroscopeError
from macroscope.jobs import OUTPUT
from macroscope.models import gpus_of, megabytes_of, threads_of
from macroscope.plan.corpora import CorporaPlan
from macroscope.plan.systems import SystemsPlan
from macroscope.registry import Plugin
from macroscope.stages import NO_NAME, Stage
from macroscope.systems import kinds
from macroscope.systems.declaration import Kind

from .plans import find_job, names


def plan_of(corpus, **systems):
    judged = [{"corpus": "c", "critics": ["tendencies"]}]
    config = parse_config({"corpora": {"c": corpus}, "systems": systems, "comparisons": judged})
    return SystemsPlan(config, "results/default", CorporaPlan(config, "results/default"))


def systems_of(plan, name):
    """Return the names of systems that match the constraint of a rule."""
    return [name for name in find_job(plan, name).constraints["system"].replace("\\", "").split("|") if name != NO_NAME]


def files_of(plan, system):
    """Return the files that a system of kind files reads."""
    return find_job(plan, "generate_files").inputs["files"](names(corpus="c", system=system))


def test_the_files_of_a_published_model():
    corpus = {"source": "webtext", "files": ["x.jsonl"]}
    xl = {"kind": "files", "dataset": "gpt2-xl-output"}
    plan = plan_of(corpus, xl=xl, both=xl | {"splits": ["test", "valid"]}, mine={"kind": "files", "files": ["a", "b"]})
    assert files_of(plan, "xl") == ["data/gpt2-xl-output/v1/xl-1542M.test.jsonl"]
    assert files_of(plan, "both") == [
        "data/gpt2-xl-output/v1/xl-1542M.valid.jsonl",
        "data/gpt2-xl-output/v1/xl-1542M.test.jsonl",
    ]
    assert files_of(plan, "mine") == ["a", "b"]


@pytest.mark.parametrize("system", [{}, {"files": ["a"], "dataset": "gpt2-xl-output"}])
def test_a_system_has_files_or_a_data_set(system):
    with pytest.raises(MacroscopeError, match=r"systems\.mine: give either 'files' or 'dataset'"):
        plan_of({"source": "webtext", "files": ["x"]}, mine={"kind": "files"} | system)


def test_real_documents_are_not_a_system():
    plan = plan_of({"source": "webtext", "files": ["x"]}, mine={"kind": "files", "dataset": "pubmed"})
    with pytest.raises(MacroscopeError, match=r"systems\.mine\.dataset: 'pubmed' .* holds real documents"):
        files_of(plan, "mine")


def test_stages_of_language_models_run_for_those_that_need_them():
    lm = {"kind": "language_model", "titles": False}
    beam = {"kind": "resampled", "of": "trained", "decoding": {"rule": "beam_sampling", "beams": 2}}
    trained, published = lm | {"base": "tiny-gpt2"}, lm | {"base": "gpt2", "training": None}
    plan = plan_of({"source": "simulated"}, trained=trained, published=published, beam=beam)
    rules = {
        "train_tokenizer": ["trained"],
        "finetune": ["trained"],
        "copy_base": ["published"],
        "sample": ["trained", "published", "beam"],
        "gather_samples": ["trained", "published", "beam"],
        "measure_log_probabilities": ["trained", "published"],
        "measure_perplexity_language_model": ["trained", "published"],
        "summarise_perplexity_language_model": ["trained", "published"],
    }
    assert {rule: systems_of(plan, rule) for rule in rules} == rules
    sample = find_job(plan, "sample")
    model = "results/default/systems/c/trained/model"
    assert [sample.inputs["model"](names(corpus="c", system=system)) for system in ("trained", "beam")] == [model] * 2
    assert json.loads(sample.options(names(corpus="c", system="beam")))["decoding"]["rule"] == "beam_sampling"


def test_a_job_requests_what_its_stage_declares():
    plan = plan_of({"source": "simulated"}, lm={"kind": "language_model", "base": "gpt2-xl", "titles": True})
    control = find_job(plan, "generate_control").resources
    ngram, where = find_job(plan, "generate_ngram"), names(corpus="c", system="control")
    assert (control.megabytes(where), control.threads, control.gpus(where)) == (2000, 1, 0)
    assert (ngram.resources.megabytes(where), ngram.stage.megabytes) == (4000, 4000)
    sample, where = find_job(plan, "sample"), names(corpus="c", system="lm", shard="0")
    resources = sample.resources
    assert resources.megabytes(where) == megabytes_of("gpt2-xl")
    assert (resources.threads(where), resources.gpus(where)) == (threads_of("gpt2-xl"), gpus_of("gpt2-xl"))
    assert sample.values(where)[1::2] == ["system=lm", "seed=1", "shard=0", "shards=1"]


def odd_kind(monkeypatch, **stages):
    """Let a kind with these stages be the only kind of system."""
    kind = Plugin("odd", "odd", Kind("options:Odd", "odd", "black", stages))
    monkeypatch.setattr("macroscope.plan.systems.kinds", lambda: {"odd": kind})


def test_a_stage_that_reads_an_unknown_input_is_one_sentence(monkeypatch):
    plan = plan_of({"source": "simulated"})
    odd_kind(monkeypatch, generate=Stage("generation:generate", inputs="document"))
    message = r"kind 'odd', stage 'generate': there is no input 'document'; did you mean 'documents'\?"
    with pytest.raises(MacroscopeError, match=message):
        plan.jobs()


def test_a_stage_that_reads_an_unknown_value_is_one_sentence(monkeypatch):
    plan = plan_of({"source": "simulated"})
    odd_kind(monkeypatch, generate=Stage("generation:generate", inputs="documents texts_shard"))
    with pytest.raises(MacroscopeError, match="no stage here can read the value 'texts_shard'"):
        plan.jobs()


def test_a_stage_whose_output_has_no_place_is_one_sentence(monkeypatch):
    plan = plan_of({"source": "simulated"})
    odd_kind(monkeypatch, generat=Stage("generation:generate"))
    with pytest.raises(MacroscopeError, match=r"kind 'odd': no stage .* 'generat'; did you mean 'generate'\?"):
        plan.jobs()


def test_perplexities_are_measured_of_systems_that_have_one():
    smoothed = {"kind": "ngram", "titles": False, "smoothing": "kneser_ney"}
    lm = {"kind": "language_model", "base": "tiny-gpt2", "titles": True}
    plan = plan_of({"source": "simulated"}, lm=lm, smoothed=smoothed, counted={"kind": "ngram", "titles": False})
    measured = {job.name.removeprefix("measure_perplexity_") for job in plan.jobs() if "measure_perplexity" in job.name}
    assert measured == {"ngram", "hsmm", "language_model"}
    for rule in ("measure_perplexity", "summarise_perplexity"):
        assert systems_of(plan, f"{rule}_ngram") == ["smoothed"]
        assert systems_of(plan, f"{rule}_hsmm") == []
        assert systems_of(plan, f"{rule}_language_model") == ["lm"]


def test_a_summary_of_perplexity_is_signed_with_the_options_of_its_measurement():
    lm = {"kind": "language_model", "base": "tiny-gpt2", "titles": True}
    smoothed = {"kind": "ngram", "titles": False, "smoothing": "kneser_ney"}
    plan = plan_of({"source": "simulated"}, lm=lm, smoothed=smoothed)
    signatures = {
        "ngram": "kind:ngram|order:3|smoothing:kneser_ney|titles:False|split:test",
        "language_model": plan.all["lm"].perplexity_signature(),
    }
    for kind, system in (("ngram", "smoothed"), ("language_model", "lm")):
        measure, summarise = (find_job(plan, f"{stage}_perplexity_{kind}") for stage in ("measure", "summarise"))
        where = names(corpus="c", system=system, split="test")
        assert summarise.options(where) == measure.options(where)
        given = parse_options(kinds()[kind].options, summarise.options(where))
        assert given.perplexity_signature() == signatures[kind]
        assert summarise.inputs["perplexity"](where) == f"results/default/systems/c/{system}/perplexity/test.parquet"
        assert summarise.outputs == {OUTPUT: "results/<run>/statistics/perplexity/{corpus}/{system}.csv"}


def test_prompts_are_the_control_s_if_a_system_has_them():
    server = {"kind": "server", "url": "http://localhost:1/v1", "model": "m", "api": "openai"}
    plan = plan_of({"source": "simulated"}, plain=server, prompted=server | {"prompt_words": 5})
    prompts = find_job(plan, "generate_server").inputs["prompts"]
    assert prompts(names(corpus="c", system="plain")) == []
    control = "results/default/systems/c/control/samples.parquet"
    assert prompts(names(corpus="c", system="prompted")) == [control]
    with pytest.raises(MacroscopeError, match=r"systems\.s\.prompt_words: prompts are for untitled texts"):
        plan_of({"source": "simulated"}, s=server | {"prompt_words": 5, "titles": True})
