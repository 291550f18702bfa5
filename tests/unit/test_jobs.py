"""Jobs: logs, values on the command line, and requested resources."""

from types import SimpleNamespace

import pytest

from macroscope.errors import MacroscopeError
from macroscope.jobs import OUTPUT, Job, Resources, modules_of_jobs, resources_of, value_words
from macroscope.models import gpus_of, megabytes_of, threads_of
from macroscope.stages import Stage

VALUES = {
    "corpus": lambda w: w.corpus,
    "systems": lambda w: ["control", "a b"],
    "resampling": lambda w: {"seed": 1, "resamples": 7},
}
WIKI = SimpleNamespace(corpus="wiki")


def job(output="results/<run>/x/{corpus}/{system}.csv", stage=None, **given):
    declared = stage or Stage("a:b", inputs="latents")
    nothing = {"inputs": {}, "options": lambda w: "{}", "values": lambda w: [], "modules": []}
    outputs = {OUTPUT: output, "evidence": "results/<run>/{corpus}/evidence"}
    return Job("score_toy", "critics run", declared, outputs=outputs, resources=Resources(1, 1, 0), **nothing | given)


def test_a_log_has_the_wildcards_of_the_output():
    assert job().log("log") == "logs/<run>/score_toy/{corpus}/{system}.log"
    assert job("results/<run>/x/{kind}/{shard}.csv").log("tsv") == "logs/<run>/score_toy/{kind}/{shard}.tsv"
    assert job("results/<run>/tables").log("log") == "logs/<run>/score_toy.log"


def test_inputs_and_the_machine_are_words_of_the_command_line():
    stage = Stage("a:b", inputs="latents threads corpus")
    words = job(stage=stage).input_flags(WIKI, {"latents": "l.parquet"}, threads=3, resources={})
    assert words == ["--input", "latents=l.parquet", "--value", "threads=3"]


def test_outputs_that_the_stage_reads_as_values_are_words_of_the_command_line():
    files = {OUTPUT: "s.csv", "evidence": "wiki/evidence"}
    assert job(stage=Stage("a:b", inputs="latents evidence")).output_flags(WIKI, files) == [
        *("--value", "evidence=wiki/evidence", "--output", "s.csv"),
    ]
    assert job().output_flags(WIKI, files) == ["--output", "s.csv"]


def test_options_follow_the_values_if_there_are_any():
    values = value_words(["corpus"], VALUES)
    assert job(values=values).settings(WIKI) == ["--value", "corpus=wiki", "--options", "{}"]
    assert job(values=values, options=None).settings(WIKI) == ["--value", "corpus=wiki"]


def test_modules_are_those_of_the_needed_jobs():
    jobs = [job(modules=lambda w: [f"of_{w.corpus}"]), job(modules=["other"])]
    assert modules_of_jobs(jobs[:1], [("score_toy", WIKI), ("score_toy", WIKI), ("all", None)]) == ["of_wiki"]
    assert modules_of_jobs(jobs, [("score_toy", WIKI)]) == ["of_wiki", "other"]
    assert modules_of_jobs(jobs, [("all", WIKI)]) == []


def test_a_job_has_no_folders_and_no_constraints_by_default():
    assert (job().folders, job().constraints) == (frozenset(), {})


def test_values_are_words_of_the_command_line():
    words = value_words(["corpus", "resampling", "systems"], VALUES)(WIKI)
    assert words[::2] == ["--value"] * 3
    assert words[1::2] == ["corpus=wiki", 'resampling={"resamples": 7, "seed": 1}', 'systems=["control", "a b"]']
    assert value_words([], VALUES)(WIKI) == []


def test_values_of_the_machine_are_left_to_the_job():
    assert value_words(["threads", "corpus", "processes"], VALUES)(WIKI) == ["--value", "corpus=wiki"]


def test_values_are_computed_only_when_the_job_is_planned():
    words = value_words(["corpus"], {"corpus": lambda w: 1 / 0})
    with pytest.raises(ZeroDivisionError):
        words(WIKI)


def test_an_unknown_value_is_named_with_the_nearest():
    with pytest.raises(MacroscopeError, match=r"no stage here can read the value 'system'; did you mean 'systems'\?"):
        value_words(["corpus", "system"], VALUES)


# ---- resources -------------------------------------------------------------------------------------------------------


def options(encoder):
    """Return a function of the wildcards that returns options."""
    return lambda wildcards: SimpleNamespace(encoder=encoder)


def test_resources_are_those_of_the_declaration():
    stage = Stage("a:b", megabytes=77, threads=3)
    assert resources_of(stage, options("gpt2-xl")) == Resources(3, 77, 0)


def test_resources_are_those_of_the_pretrained_model():
    stage = Stage("a:b", megabytes=77, model_option="encoder")
    for name in ("gpt2-xl", "tiny-gpt2"):
        requested = resources_of(stage, options(name))
        evaluated = tuple(f(WIKI) for f in (requested.threads, requested.megabytes, requested.gpus))
        assert evaluated == (threads_of(name), megabytes_of(name), gpus_of(name))
    assert resources_of(stage, options("gpt2-xl")).gpus(WIKI) == 1
