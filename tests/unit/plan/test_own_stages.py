"""Contract of the jobs of critics: every input has exactly one maker, every output lies below its critic's folder."""

import re

import pytest

from macroscope.critics import critics
from macroscope.jobs import OUTPUT

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
MADE_BY_RULES = ("results/default/corpora/", "data/", f"{FOLDER}/coreference/wiki/mentions/")
"""Beginnings of paths that rules make which come from no stage."""


@pytest.fixture(scope="module")
def plan():
    judges = [name for name in critics() if name != "synthetic"]  # it knows no process of these corpora
    variants = [f"{critic}-{name}" for critic, named in VARIANTS.items() for name in named]
    return plan_of(
        [{"corpus": "wiki", "systems": ["mine", "shuffled"], "critics": judges + variants, "pairs": "all"}],
        critics={
            "clusters": {"probing": [PROBING]},
            "narrative": NARRATIVE,
            "coreference": {"resolver": "fastcoref"},
        },
        variants=VARIANTS,
    )


def makers_of(path, plan, jobs):
    """Return (job, wildcards) of each job that makes a path."""
    made = []
    for job in jobs:
        allowed = plan.constraints() | dict(job.constraints)
        for pattern in job.outputs.values():
            parts = re.split(r"{(\w+)}", pattern.replace("<run>", "default"))
            text = "".join(f"(?P<{p}>{allowed[p]})" if n % 2 else re.escape(p) for n, p in enumerate(parts))
            if match := re.fullmatch(text, path):
                made.append((job, match.groupdict()))
    return made


def inputs_of(job, wildcards):
    """Yield the input files of a job."""
    for source in job.inputs.values():
        given = source(names(**wildcards)) if callable(source) else source.format(**wildcards)
        yield from [given] if isinstance(given, str) else given


def test_every_input_has_one_maker_and_every_stage_of_a_critic_is_reached(plan):
    jobs, reached = plan.jobs(), set()
    shown = (file for stage in ("overview", "report") for file in plan.reporting.shown_files(stage))
    waiting, seen = [*shown, *plan.reporting.critics_statistics()], set()
    while waiting:
        path = waiting.pop()
        if path in seen or path.startswith(MADE_BY_RULES):
            continue
        seen.add(path)
        makers = makers_of(path, plan, jobs)
        assert len(makers) == 1, (path, [job.name for job, _ in makers])
        [(job, wildcards)] = makers
        reached.add(job.name)
        job.options(names(**wildcards)), job.values(names(**wildcards))
        waiting += [file for file in inputs_of(job, wildcards) if not path.startswith("results/default/systems/")]
    declared = {f"{stage}_{name}" for name in critics() for stage in plan.critics.declared(name).own_stages}
    assert declared - reached == {"fit_strings"}  # n-grams are counted, a variant alone trains an LSTM
    assert {"fit_strings-lstm", "probe_clusters", "infill_narrative", "autoencode_narrative"} <= reached


def test_outputs_of_own_stages_lie_below_their_critic_and_no_two_jobs_write_the_same(plan):
    jobs = [job for job in plan.jobs() if job.stage.output]
    for job in jobs:
        critic = job.command.split("--critic ")[1].split()[0]
        assert job.outputs[OUTPUT] == f"{FOLDER}/{critic}/{{corpus}}/{job.stage.output}"
        assert bool(job.folders) == job.stage.folder
    assert len({job.outputs[OUTPUT] for job in jobs}) == len(jobs)


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


def test_shared_stages_have_one_job_for_all_variants(plan):
    assert [job.name for job in plan.jobs() if job.name.startswith("autoencode_")] == ["autoencode_narrative"]
