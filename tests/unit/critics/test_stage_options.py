"""What every stage is given: its options and no others, and what its signature says of them."""

import json

from macroscope.critics import critics
from macroscope.critics.declaration import MAKES, signature

from ..plan.plans import FOLDER, OTHER, plan_of, values


def test_tendencies_are_counted_in_the_language_of_the_corpus():
    plan = plan_of([{"corpus": name, "critics": ["tendencies"]} for name in ("german", "web")])
    for corpus, language in (("german", "de"), ("web", "en")):
        assert values(plan, "tendencies", "project", corpus=corpus, system="mine")["language"] == language
    assert json.loads(plan.critics.options("tendencies", "project"))["language"] is None
    told = plan_of(critics={"tendencies": {"language": "fr"}})
    assert json.loads(told.critics.options("tendencies", "project"))["language"] == "fr"


def test_a_stage_is_given_the_options_that_it_looks_at_and_no_others():
    plan = plan_of(critics=OTHER)
    assert json.loads(plan.critics.options("coherence", "project")) == {"max_tokens": 77, "precision": "bfloat16"}
    for critic, stage in plan.critics.jobs():
        given = json.loads(plan.critics.options(critic, stage))
        assert set(given) == set(critics()[critic].stage(stage).option_names)


def before(critic, stage):
    """A stage and those whose output it reads, directly or not."""
    found, waiting = [], [stage]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.append(name)
            read = {part.split("_")[-1] for part in critic.stage(name).input_names}
            waiting += [maker for maker, made in MAKES.items() if made in read and maker in critic.data.stages]
    return found


def test_what_ran_is_what_the_signature_says():
    """No option runs at its default while the signature has the config's value."""
    plan = plan_of(critics=OTHER)
    for name, critic in critics().items():
        defaults = critic.options()
        same = {n for n in critic.options.model_fields if getattr(plan.config.critic(name), n) == getattr(defaults, n)}
        # One has a single value, the others change no number of the critic.
        assert same <= {"tokenizer", "probing", "training_samples", "compared", "generation", "retrieval_shards"}
    for name, stage in plan.critics.jobs():
        critic, ran = critics()[name], {}
        for earlier in before(critic, stage):
            ran |= json.loads(plan.critics.options(name, earlier))
            ran |= dict(critic.stage(earlier).conditions)
        assert plan.critics.signature(name, stage) == f"{signature(critic, critic.options(**ran), stage)}|run_seed:1"


def test_a_default_that_is_written_down_is_the_same_config():
    """As the effective config does, which may be run again."""
    plain = plan_of()
    written = plan_of(critics=json.loads(json.dumps({n: c.options().model_dump() for n, c in critics().items()})))
    for name, stage in plain.critics.jobs():
        assert written.critics.options(name, stage) == plain.critics.options(name, stage), (name, stage)
        assert written.critics.signature(name, stage) == plain.critics.signature(name, stage), (name, stage)


def test_the_signature_of_latents_names_what_they_depend_on():
    plan = plan_of(critics=OTHER)
    given = values(plan, "coherence", "project", corpus="wiki", system="mine")
    assert given == {"signature": plan.critics.signature("coherence", "project")}
    signed = dict(part.split(":", 1) for part in given["signature"].split("|"))
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
        *("max_train_sections", "calibrate", "run_seed"),
    }
    assert signed["max_tokens"] == "77"


def test_comparisons_are_given_what_stands_in_every_row():
    plan = plan_of(seed=3)
    given = values(plan, "strings", "compare", corpus="wiki", system="mine")
    assert given["evidence"] == f"{FOLDER}/strings/wiki/evidence/mine"
    assert (given["corpus"], given["system"]) == ("wiki", "mine")
    assert given["signature"] == plan.critics.signature("strings")
    assert json.loads(given["resampling"]) == plan.config.resampling()
    assert json.loads(given["resampling"])["seed"] == 3
