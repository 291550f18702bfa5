"""Contract of jobs: every input has one maker, every output lies below its room, every wildcard is constrained."""

import json
import re

import pytest

from macroscope.critics import critics
from macroscope.stages import NO_NAME

from .plans import FOLDER, PROBING, names, plan_of

SENTENCE = {"level": "sentence"}
NARRATIVE = {
    "pretraining": {"corpus": "web"},
    "retrieval_shards": 2,
    "autoencoders": {"dae": {"train_encoder": True}, "plain": {"corpus": "web"}},
    "compared": {
        "warm": SENTENCE | {"pretrained": True, "autoencoder": "dae"},
        "writes": SENTENCE | {"autoencoder": "plain", "semantic_matching": 1.0},
        "words": {"level": "token"},
    },
}
VARIANTS = {
    "narrative": {
        "first": {"pooling": "first"},
        "trained": {
            "detector": SENTENCE | {"autoencoder": "dae"},
            "autoencoders": {"dae": {"train_encoder": True}},
        },
    },
    "strings": {"lstm": {"estimator": "lstm"}},
}
MADE_BY_RULES = ("data/", f"{FOLDER}/coreference/wiki/mentions/", "results/default/config.")
"""Beginnings of paths that rules make which come from no stage."""
ROOMS = {
    "corpora": {"corpora", "sentences"},
    "systems": {"systems", "statistics"},
    "critics": {"critics", "statistics", "sentences"},
    "reporting": {"tables", "figures", "report.html", "pages", "reader", "sensitivity"},
}
"""Room of a command -> folders and files of a run that its jobs write."""


SYSTEMS = {
    "mine": {"kind": "files", "files": ["y"]},
    "shuffled": {"kind": "simulated", "order": "shuffled"},
    "lm": {"kind": "language_model", "base": "tiny-gpt2", "titles": True},
    "beam": {"kind": "resampled", "of": "lm", "decoding": {"rule": "beam_sampling", "beams": 2}},
    "published": {"kind": "language_model", "base": "gpt2", "titles": False, "training": None},
    "bigrams": {"kind": "ngram", "titles": False, "smoothing": "kneser_ney"},
    "server": {"kind": "server", "url": "http://localhost:1/v1", "model": "m", "api": "openai", "prompt_words": 5},
    "damaged": {"kind": "perturbation", "of": "control", "perturb": ["shuffle_sections"]},
}
WHOLE = {"control": {"kind": "control", "whole": True}}


@pytest.fixture(scope="module", params=[SYSTEMS, SYSTEMS | WHOLE], ids=["held-out", "whole corpus"])
def plan(request):
    judges = [name for name in critics() if name != "synthetic"]  # it knows no process of these corpora
    variants = [f"{critic}-{name}" for critic, named in VARIANTS.items() for name in named]
    judged = {"corpus": "wiki", "critics": judges + variants, "matched_length": True}
    return plan_of(
        [judged | {"systems": list(SYSTEMS), "pairs": "all"}, {"corpus": "web", "critics": ["tendencies"]}],
        critics={
            "clusters": {"probing": [PROBING], "pooling": "sentences"},
            "narrative": NARRATIVE,
            "coreference": {"resolver": "fastcoref"},
        },
        variants=VARIANTS,
        systems=request.param,
    )


def makers_of(path, plan, jobs):
    """Return (job, wildcards) of each job that makes a path."""
    made = []
    for job in jobs:
        for name, pattern in job.outputs.items():
            below = "(/.*)?" if name in job.folders else ""
            if match := re.fullmatch(
                _regular_expression(pattern, plan.constraints() | dict(job.constraints)) + below, path
            ):
                made.append((job, match.groupdict()))
    return made


def _regular_expression(pattern, allowed):
    """Return the regular expression of a path; a wildcard without a constraint is a KeyError."""
    parts = re.split(r"{(\w+)}", pattern.replace("<run>", "default"))
    return "".join(f"(?P<{p}>{allowed[p]})" if n % 2 else re.escape(p) for n, p in enumerate(parts))


def inputs_of(job, wildcards):
    """Yield the input files of a job."""
    for source in job.inputs.values():
        given = source(names(**wildcards)) if callable(source) else source
        for path in [given] if isinstance(given, str) else given:
            yield path.replace("<run>", "default").format(**wildcards)


def test_every_input_has_one_maker_and_every_stage_of_a_critic_is_reached(plan):
    jobs, reached, seen = plan.jobs(), set(), set()
    waiting = plan.targets()
    while waiting:
        path = waiting.pop()
        if path in seen or path.startswith(MADE_BY_RULES) or not path.startswith("results/"):
            continue
        seen.add(path)
        makers = makers_of(path, plan, jobs)
        assert len(makers) == 1, (path, [job.name for job, _ in makers])
        [(job, wildcards)] = makers
        reached.add(job.name)
        # What a job is told can be said without any file.
        assert all(isinstance(word, str) for word in job.values(names(**wildcards)))
        assert job.options is None or isinstance(json.loads(job.options(names(**wildcards))), dict)
        waiting += inputs_of(job, wildcards)
    declared = {f"{stage}_{name}" for name in critics() for stage in plan.critics.declared(name).own_stages}
    assert declared - reached == {"fit_strings"}  # n-grams are counted, a variant alone trains an LSTM
    assert {"fit_strings-lstm", "probe_clusters", "infill_narrative", "autoencode_narrative"} <= reached
    assert {"simulate_wiki", "extract_documents", "prepare_documents", "sample", "match_system"} <= reached
    assert [name for name in reached if name.startswith("autoencode_")] == ["autoencode_narrative"]  # for all variants


def test_outputs_lie_below_their_room_and_no_two_jobs_write_the_same(plan):
    written = []
    for job in plan.jobs():
        for path in job.outputs.values():
            run, place = path.replace("<run>", "default").split("/", 2)[1:]
            assert run == "default"
            assert place.split("/")[0] in ROOMS[job.command.split()[0]], (job.name, path)
            written.append((path, *(constraint for _, constraint in sorted(job.constraints.items()))))
            if job.command.startswith("critics run"):
                assert place.split("/")[1] == job.command.split("--critic ")[1].split()[0]
        wildcards = set(re.findall(r"{(\w+)}", " ".join(job.outputs.values())))
        assert wildcards <= {*plan.constraints(), *job.constraints}, job.name
        assert set(job.folders) <= set(job.outputs)
    made = [entry for entry in written if NO_NAME not in entry]
    assert len(set(made)) == len(made)


def test_only_jobs_of_what_needs_torch_have_an_environment_with_it(plan):
    jobs = {job.name: job.environment.partition("envs/")[2] for job in plan.jobs()}
    needs_models = {"finetune", "gather_samples", "project_coherence", "compare_topics", "embed_sentences"}
    needs_none = {"project_tendencies", "compare_tendencies", "train_coreference", "train_languages", "train_ngram"}
    assert {jobs[name] for name in needs_models} == {"models.yaml"}
    assert {jobs[name] for name in needs_none} == {"statistics.yaml"}


def test_checkpoints_of_no_two_jobs_are_the_same(plan):
    checkpoints = [
        word
        for job in plan.jobs()
        if job.name in ("pretrain_narrative", "detect_narrative")
        for task in ("missing", "discordant")
        for detector in ("judge", "warm")
        for word in job.values(names(corpus="wiki", task=task, detector=detector))
        if word.startswith("checkpoints=")
    ]
    assert len(set(checkpoints)) == 8
