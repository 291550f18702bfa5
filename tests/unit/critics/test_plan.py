"""The plan of the critics: who judges what, what every stage is given, what the report reads."""

import json
from types import SimpleNamespace

import pytest

from macroscope.config.schema import parse_config
from macroscope.critics import critics
from macroscope.critics.declaration import MAKES, signature
from macroscope.errors import MacroscopeError
from macroscope.files import write_json
from macroscope.plan import Plan
from macroscope.stages import Stage

OTHER = {
    "coherence": {
        "encoder": "bert-base-cased", "max_tokens": 77, "epochs": 2.0, "batch_size": 5, "learning_rate": 0.1,
        "max_train_sections": 9, "calibrate": False, "prior": "additive",
        "smoothing": [0.3], "convention": "published",
        "error_threshold": 0.2,
    },
    "tendencies": {
        "unit": "line", "language": "fr", "ranks": 7, "min_texts_per_length": 3, "length_bins_per_decade": None,
        "simulations": 33, "count_permutations": 111,
    },
    "clusters": {
        "encoder": "gpt2-xl", "pooling": "last", "max_tokens": 77, "normalise": False, "explained_variance": 0.5,
        "number_of_clusters": 4, "seeds": 2, "restarts": 3, "clustering": "shared", "smoothing": 0.5, "scale": 2.0,
        "weights": 7, "cluster_counts": [3], "neighbours": 2, "most_vectors": 99, "permutations": 111,
        "convention": "published",
    },
    "topics": {
        "topics": 7, "convention": "published", "most_documents": 0.4, "least_frequency": 2, "pinned": False,
        "shrinkage": 0.1, "smoothing": 0.5, "iterations": 9, "tolerance": 0.1, "initialisation": "documents",
        "restarts": 2, "neighbours": 2, "most_vectors": 99, "permutations": 111,
    },
    "coreference": {
        "resolver": "files", "ranker": "sieve", "model": "mine", "mentions": "m/{system}.parquet",
        "domain": {"pattern": ".*film"}, "single": "all", "order": 3, "convention": "published", "unlikely": 5.0,
        "least_count": 2,
    },
    "languages": {
        "languages": 2, "least_frequency": 2, "beta": 0.1, "iterations": 200, "sweeps": 7, "mixed_below": 0.8,
        "neighbours": 2, "most_vectors": 99, "permutations": 111,
    },
    "narrative": {
        "tasks": ["missing"], "encoder": "gpt2-xl", "pooling": "first", "max_tokens": 77, "sentences": 9, "damaged": 2,
        "intact": 0.1, "draws": 2, "replacements": "corpus", "candidates": 7, "similarity": 0.5,
        "similarity_encoder": "minilm", "rescale": False, "detector": {"autoencoder": "dae", "pretrained": True},
        "pretraining": {"corpus": "web"}, "autoencoders": {"dae": {"train_encoder": True}},
        "false_positive_rate": 0.1,
    },
    "synthetic": {"invalid_probability": 0.2, "series": {"wider": ["mine"]}},
    "strings": {
        "estimator": "lstm", "shared_vocabulary": False, "order": 2, "folds": 3, "scale": 2.0, "weights": 7,
        "permutations": 111, "lstm": {"layers": 1, "epochs": 2.0}, "convention": "published",
    },
}  # fmt: skip
"""Every option that changes a number of the critics, with another value than its default."""
ENCODERS = {"small": {"encoder": "minilm"}, "large": {"encoder": "gpt2-xl"}}
PROBING = {"corpus": "web", "reference": "wiki", "encoders": ENCODERS}
FOLDER = "results/default/critics"
PATTERN = "results/{run}/critics"
"""The same in a rule."""


def plan_of(comparisons=None, **keys):
    """A plan for a simulated corpus with two systems; `web` and `german` are files."""
    corpora = {
        "wiki": {"source": "simulated"},
        "web": {"source": "files", "files": ["x"]},
        "german": {"source": "files", "files": ["x"], "language": "de"},
    }
    systems = {
        "mine": {"kind": "files", "files": ["y"]},
        "shuffled": {"kind": "simulated", "order": "shuffled"},
        "lm": {"kind": "language_model", "base": "tiny-gpt2", "titles": True},
        "beam": {"kind": "resampled", "of": "lm", "decoding": {"rule": "beam_sampling", "beams": 2}},
    }
    asked = comparisons or [{"corpus": "wiki", "critics": ["coherence"]}]
    return Plan(parse_config({"corpora": corpora, "systems": systems, "comparisons": asked, **keys}))


def names(**wildcards):
    return SimpleNamespace(**wildcards)


def values(plan, critic, stage, **wildcards):
    """Values that a job is given, by their names."""
    words = plan.critics.value_flags(critic, stage)(names(**wildcards))
    assert set(words[::2]) <= {"--value"}
    return dict(word.split("=", 1) for word in words[1::2])


# ---- what a stage is given -------------------------------------------------------------------------------------------


def test_tendencies_are_counted_in_the_language_of_the_corpus():
    plan = plan_of([{"corpus": name, "critics": ["tendencies"]} for name in ("german", "web")])
    for corpus, language in (("german", "de"), ("web", "en")):
        assert values(plan, "tendencies", "project", corpus=corpus, system="mine")["language"] == language
    assert json.loads(plan.critics.options("tendencies", "project"))["language"] is None
    told = plan_of(critics={"tendencies": {"language": "fr"}})
    assert json.loads(told.critics.options("tendencies", "project"))["language"] == "fr"


def test_a_stage_is_given_the_options_that_it_looks_at_and_no_others():
    plan = plan_of(critics=OTHER)
    assert json.loads(plan.critics.options("coherence", "project")) == {"max_tokens": 77}
    for critic, stage in plan.critics.jobs():
        given = json.loads(plan.critics.options(critic, stage))
        assert set(given) == set(critics()[critic].stage(stage).options)


def before(critic, stage):
    """A stage and those whose output it reads, directly or not."""
    found, waiting = [], [stage]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.append(name)
            read = {part.split("_")[-1] for part in critic.stage(name).inputs}
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
        *("critic", "encoder", "max_tokens", "epochs", "batch_size", "learning_rate", "max_train_sections"),
        *("calibrate", "run_seed"),
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


def test_values_of_the_run():
    plan = plan_of(seed=3, statistics={"confidence": 0.9})
    assert values(plan, "coherence", "train", corpus="wiki") == {
        "seed": "3",
        "checkpoints": f"{FOLDER}/coherence/wiki/checkpoints",
    }
    job = {"corpus": "wiki", "system": "shuffled"}
    given = values(plan, "coherence", "explain", **job)
    assert (given["system"], json.loads(given["resampling"])["confidence"]) == ("shuffled", 0.9)
    assert values(plan, "coherence", "theory", **job) == {"order": "shuffled", "seed": "3"}


def test_inputs_are_files_of_the_system_of_the_control_or_of_all():
    plan = plan_of([{"corpus": "wiki", "systems": ["mine"], "critics": ["clusters"]}])
    latents = f"{PATTERN}/clusters/{{corpus}}/latents"
    assert plan.critics.inputs("clusters", "compare") == {
        "control_latents": f"{latents}/control.parquet",
        "latents": f"{latents}/{{system}}.parquet",
    }
    shared = plan_of(
        [{"corpus": "wiki", "systems": ["mine"], "critics": ["clusters"]}],
        critics={"clusters": {"clustering": "shared"}},
    )
    assert shared.critics.inputs("clusters", "compare")["shared"] == f"{PATTERN}/clusters/{{corpus}}/shared"
    assert shared.critics.inputs("clusters", "learn_shared")["all_latents"](names(corpus="wiki")) == [
        f"{FOLDER}/clusters/wiki/latents/{system}.parquet" for system in ("control", "mine")
    ]


def test_outputs_and_logs():
    plan = plan_of()
    assert plan.critics.outputs("coherence", "train") == [("made", f"{PATTERN}/coherence/{{corpus}}/inference", True)]
    assert plan.critics.outputs("strings", "compare") == [
        ("made", "results/{run}/statistics/strings/{corpus}/{system}.csv", False),
        ("evidence", f"{PATTERN}/strings/{{corpus}}/evidence/{{system}}", True),
    ]
    assert plan.critics.log("coherence", "train", "log") == "logs/{run}/train_coherence/{corpus}.log"
    assert plan.critics.log("strings", "compare", "tsv") == "logs/{run}/compare_strings/{corpus}/{system}.tsv"


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
        ("made", f"{PATTERN}/strings/{{corpus}}/latents/{{system}}.parquet", False)
    ]
    assert plan.critics.shard_flags("project") == ""


@pytest.mark.parametrize(("documents", "shards"), [(0, 1), (1, 1), (2000, 1), (2001, 2), (6000, 3)])
def test_shards(tmp_path, documents, shards):
    plan = plan_of(documents_per_shard=2000)
    place = f"{PATTERN}/strings/{{corpus}}/shards/{{system}}/{{shard}}.parquet"
    assert plan.critics.outputs("strings", "project") == [("made", place, False)]
    assert plan.critics.log("strings", "project", "log") == "logs/{run}/project_strings/{corpus}/{system}/{shard}.log"
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
    assert plan.critics.theories() == {
        ("coherence", "wiki", system): f"{FOLDER}/coherence/wiki/theory/{system}.json"
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
    files += [f"{critic}/wiki.told_apart.csv" for critic in names]
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
    monkeypatch.setattr(plan.critics, "stage", lambda critic, stage: Stage("a:b", reads="latent"))
    with pytest.raises(
        MacroscopeError, match="critic 'strings', stage 'compare': no 'latent' can be read; did you mean"
    ):
        plan.critics.inputs("strings", "compare")


# ---- variants --------------------------------------------------------------------------------------------------------


def test_a_variant_judges_beside_its_critic_with_options_of_its_own():
    asked = [{"corpus": "web", "systems": ["mine"], "critics": ["clusters", "clusters-k-4", "strings-lstm"]}]
    plan = plan_of(
        asked,
        critics={"clusters": {"number_of_clusters": 9, "seeds": 3, "probing": [PROBING]}},
        variants={"clusters": {"k-4": {"number_of_clusters": 4}}, "strings": {"lstm": {"estimator": "lstm"}}},
    )
    assert [c for c, _, system in plan.critics.comparisons if system == "mine"] == asked[0]["critics"]
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
    assert ("clusters-k-4", "compare") in plan.critics.jobs()
    shown = plan.critics.shown_files("report")
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
