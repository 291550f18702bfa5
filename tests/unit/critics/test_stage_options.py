"""Input of stages: the options that each uses and no others, and their signature."""

import json

import pytest

from macroscope.critics import critics
from macroscope.critics.declaration import MAKES, signature

from ..plan.plans import FOLDER, OTHER, declared_stages, find_job, names, plan_of, values_of


def test_tendencies_are_counted_in_the_language_of_the_corpus():
    plan = plan_of([{"corpus": name, "critics": ["tendencies"]} for name in ("german", "web")])
    for corpus, language in (("german", "de"), ("web", "en")):
        job = find_job(plan, "project_tendencies")
        assert values_of(job, corpus=corpus, system="mine")["language"] == language
    assert json.loads(plan.critics.options("tendencies", "project"))["language"] is None
    with_option = plan_of(critics={"tendencies": {"language": "fr"}})
    assert json.loads(with_option.critics.options("tendencies", "project"))["language"] == "fr"


def options_of(job, critic):
    """Return the options that a job is given."""
    return critic.options(**json.loads(job.options(names(corpus="wiki", system="mine"))))


def test_a_stage_receives_the_options_that_it_reads_or_signs_and_no_others():
    plan = plan_of(critics=OTHER)
    prior = {"prior": "additive", "smoothing": [0.3], "convention": "published"}
    assert json.loads(plan.critics.options("coherence", "fit_prior")) == prior
    for name, stage, job in declared_stages(plan):
        given, critic = set(json.loads(job.options(names()))), critics()[name]
        reads = set(critic.stage(stage).option_names)
        signs = stage == "compare" or "signature" in critic.stage(stage).value_names
        assert given == (critic.data.options_of(stage) if signs else reads), (name, stage)
        assert reads <= given


def before(critic, stage):
    """Return a stage and all stages upstream of it."""
    stages, waiting = [], [stage]
    while waiting:
        name = waiting.pop()
        if name not in stages:
            stages.append(name)
            read = {part.split("_")[-1] for part in critic.stage(name).input_names}
            waiting += [maker for maker, made in MAKES.items() if made in read and maker in critic.data.stages]
    return stages


def test_the_signature_has_the_options_that_ran():
    """No option runs at its default while the signature has the config's value."""
    plan = plan_of(critics=OTHER)
    for name, critic in critics().items():
        defaults = critic.options()
        same = {n for n in critic.options.model_fields if getattr(plan.config.critic(name), n) == getattr(defaults, n)}
        # The first has a single value; the others change no number of the critic. Cross-fitting needs another control,
        # and a pipeline of spaCy its package (natural_language/test_spacy_pipeline.py).
        assert same <= {
            *(["folds"] if critic.data.cross_fits else []),
            *("tokenizer", "probing", "training_samples"),
            "model",  # strings: with another estimator alone
            "language_pipeline",
            *("compared", "generation", "retrieval_shards", "test_segments"),
        }
    jobs = {(name, stage): job for name, stage, job in declared_stages(plan)}
    for (name, stage), job in jobs.items():
        if stage != "compare" and "signature" not in job.stage.value_names:
            continue
        critic, ran = critics()[name], {}
        for earlier in before(critic, stage):
            declared = critic.stage(earlier)
            given = options_of(jobs[name, earlier], critic).model_dump(include=set(declared.option_names))
            ran |= given | dict(declared.conditions)
        signed = signature(critic, options_of(job, critic), stage, 1)
        assert signed == signature(critic, critic.options(**ran), stage, 1), (name, stage)
        assert signed == signature(critic, plan.config.critic(name), stage, 1), (name, stage)


@pytest.mark.slow
def test_an_explicit_default_is_the_same_config():
    """The effective config has explicit defaults, and may be run again."""
    plain = plan_of()
    written = plan_of(critics=json.loads(json.dumps({n: c.options().model_dump() for n, c in critics().items()})))
    for job in plain.critics.jobs():
        where = names(corpus="wiki", system="mine")
        if set(job.constraints) <= {"critic"}:
            assert find_job(written, job.name).options(where) == job.options(where), job.name
    for name in critics():
        assert written.critics.signature(name) == plain.critics.signature(name), name


def test_the_signature_of_latents_names_what_they_depend_on():
    plan, coherence = plan_of(critics=OTHER), critics()["coherence"]
    job = find_job(plan, "project_coherence")
    assert values_of(job, corpus="wiki", system="mine") == {"seed": "1"}
    text = signature(coherence, options_of(job, coherence), "project", 1)
    signed = dict(part.split(":", 1) for part in text.split("|"))
    assert set(signed) == {
        *(
            "critic",
            "encoder",
            "max_tokens",
            "precision",
            "epochs",
            "batch_size",
            "learning_rate",
            "max_train_sections",
        ),
        "calibrate",
        "run_seed",
        "versions",
    }
    assert signed["versions"] == "train=1,project=2"
    assert signed["max_tokens"] == "77"


def test_comparisons_receive_the_columns_of_every_row():
    plan, strings = plan_of(seed=3), critics()["strings"]
    job = find_job(plan, "compare_strings")
    given = values_of(job, corpus="wiki", system="mine")
    assert job.outputs["evidence"] == f"{FOLDER}/strings/{{corpus}}/evidence/{{system}}"
    assert (given["corpus"], given["system"], given["seed"]) == ("wiki", "mine", "3")
    signed = signature(strings, options_of(job, strings), "compare", 3)
    assert plan.critics.signature("strings") == signed
    assert json.loads(given["resampling"]) == plan.config.resampling()
    assert json.loads(given["resampling"])["seed"] == 3
