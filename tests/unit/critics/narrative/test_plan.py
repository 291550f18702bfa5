"""Tests of the narrative critic's plan: inputs of jobs, and what jobs share."""

import pytest

from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.errors import MacroscopeError
from tests.unit.plan.plans import FOLDER, names, plan_of

JUDGED = [{"corpus": "wiki", "systems": ["shuffled"], "critics": ["narrative"]}]
OWN = f"{FOLDER}/narrative/wiki"
DOCUMENTS = "results/default/corpora/{}/documents.parquet"


def plan(comparisons=None, variants=None, documents_per_shard=None, **options):
    given = {"variants": {"narrative": variants}} if variants else {}
    given |= {"documents_per_shard": documents_per_shard} if documents_per_shard else {}
    return plan_of(comparisons or JUDGED, critics={"narrative": options}, **given).critics


def job(stage, critics_plan, critic="narrative"):
    return next(job for job in critics_plan.jobs() if job.name == f"{stage}_{critic}")


def inputs_of(stage, critics_plan, critic="narrative", **wildcards):
    """Return the input files of a job by name, without inputs that it does not need."""
    files = {name: path(names(**wildcards)) for name, path in job(stage, critics_plan, critic).inputs.items()}
    return {name: path for name, path in files.items() if path}


def shared_job(critics_plan):
    """Return the job that embeds sentences for all critics."""
    return next(job for job in critics_plan.jobs() if job.name == "embed_sentences")


def shared_inputs(critics_plan, **wildcards):
    """Return its input files by name."""
    given = {name: path(names(**wildcards)) for name, path in shared_job(critics_plan).inputs.items()}
    return {name: path for name, path in given.items() if path}


def values_of(stage, critics_plan, **wildcards):
    """Return the values of a job, as "name=value"."""
    return job(stage, critics_plan).values(names(**wildcards))[1::2]


def detect(critics_plan, detector, critic="narrative", task="missing", corpus="wiki"):
    """Return the inputs of a detector's training."""
    return inputs_of("detect", critics_plan, critic=critic, corpus=corpus, task=task, detector=detector)


def kind_of(folder):
    """Return the encoding from the folder of a corpus's vectors, ".../<encoding>/split@all"."""
    return folder.split("/")[-2]


# ---- paths -----------------------------------------------------------------------------------------------------------


def test_wordnet_is_retrieved_if_meteor_matches_synonyms():
    options = {"compared": {"written": {"level": "sentence", "semantic_matching": 1.0, "autoencoder": "dae"}}}
    options |= {"autoencoders": {"dae": {"decoder": "tiny-gpt2"}}}
    wildcards = {"critic": "narrative", "corpus": "wiki", "task": "missing", "detector": "written"}
    for synonyms, path in (("wordnet", "data/wordnet/3.0/wordnet.zip"), (None, None)):
        inputs = inputs_of("infill", plan(**options, generation={"synonyms": synonyms}), **wildcards)
        assert inputs.get("wordnet") == path


def test_checked_test_segments_go_to_the_damage_and_the_detectors_of_their_corpus_and_task():
    critics_plan = plan(test_segments={"wiki": {"missing": "mine.jsonl"}})
    wildcards = {"critic": "narrative", "corpus": "wiki"}
    for task, path in (("missing", ["mine.jsonl"]), ("discordant", None)):
        assert inputs_of("corrupt", critics_plan, **wildcards, task=task).get("checked") == path
        assert detect(critics_plan, "judge", task=task).get("checked") == path
    assert "checked" in job("corrupt", critics_plan).user_inputs


@pytest.mark.parametrize(
    ("given", "message"),
    [({"wikki": {}}, "there is no corpus 'wikki'"), ({"wiki": {"discordant": "x"}}, "'tasks' lacks this task")],
)
def test_test_segments_are_of_a_corpus_and_a_task_of_the_config(given, message):
    with pytest.raises(MacroscopeError, match=message):
        plan(tasks=["missing"], test_segments=given)


def vectors_read(critics_plan, system="shuffled", **shard):
    """Return the folder of sentence vectors that the projection of a system reads."""
    given = critics_plan.inputs("narrative", "project")
    where = names(corpus="wiki", system=system, **shard)
    assert not given["embeddings"](where)
    return given["sentence_vectors"](where)


def test_one_judge_alone_embeds_what_the_corpus_lacks():
    assert vectors_read(plan()) == vectors_read(plan(), "control") == detect(plan(), "judge")["embeddings"]
    others = [{"corpus": "wiki", "systems": ["shuffled"], "critics": ["narrative", "narrative-first"]}]
    assert vectors_read(plan(others, {"first": {"pooling": "first"}})).endswith("/split@all")
    assert vectors_read(plan(others, {"first": {"draws": 2}})).endswith("/shuffled")


def test_a_detector_of_words_reads_no_embeddings():
    critics_plan = plan(detector={"level": "token"})
    assert "embeddings" not in detect(critics_plan, "judge")
    assert not vectors_read(critics_plan)
    assert not critics_plan.inputs("narrative", "train")["embeddings"](names(corpus="wiki"))


# ---- what is shared --------------------------------------------------------------------------------------------------

SENTENCE = {"level": "sentence"}
PARTS = {
    "compared": {
        "deep": SENTENCE | {"layers": 12},
        "words": {"level": "token"},
        "dae": SENTENCE | {"autoencoder": "dae"},
    },
    "autoencoders": {"dae": {"train_encoder": True}, "plain": {"corpus": "web"}},
}


def test_detectors_that_embed_alike_share_their_embeddings():
    critics_plan = plan(
        **PARTS
        | {"compared": PARTS["compared"] | {"writes": SENTENCE | {"autoencoder": "plain", "semantic_matching": 1.0}}}
    )
    embeddings = {
        name: detect(critics_plan, name).get("embeddings") for name in ("judge", "deep", "words", "dae", "writes")
    }
    assert embeddings["judge"] == embeddings["deep"] == embeddings["writes"]  # the last one's encoder stays as it is
    assert embeddings["words"] is None
    assert embeddings["dae"] != embeddings["judge"]
    assert kind_of(embeddings["dae"]).startswith("dae-")


def test_variants_share_the_embeddings_of_the_critic_where_they_embed_alike():
    variants = {"long": {"sentences": 8, "damaged": 2}, "first": {"pooling": "first"}}
    critics = ["narrative", "narrative-long", "narrative-first"]
    critics_plan = plan([{"corpus": "wiki", "systems": ["shuffled"], "critics": critics}], variants)
    inputs = [detect(critics_plan, "judge", critic) for critic in critics]
    assert inputs[0]["embeddings"] == inputs[1]["embeddings"] != inputs[2]["embeddings"]
    assert inputs[2]["embeddings"].startswith("results/default/sentences/wiki/")
    assert inputs[1]["corrupted"] == f"{FOLDER}/narrative-long/wiki/corrupted/missing.parquet"


def test_a_judge_with_a_trained_encoder_reads_vectors_of_that_encoder_alone():
    judge = SENTENCE | {"autoencoder": "dae"}
    critics_plan = plan(autoencoders={"dae": {"train_encoder": True}}, detector=judge)
    given = critics_plan.inputs("narrative", "project")
    where = names(corpus="wiki", system="shuffled")
    assert not given["sentence_vectors"](where)
    assert given["embeddings"](where) == detect(critics_plan, "judge")["embeddings"].replace("split@all", "shuffled")


def test_a_corpus_is_cut_in_its_own_language_for_pretraining():
    critics_plan = plan(pretraining={"corpus": "german"}, compared={"warm": SENTENCE | {"pretrained": True}})
    pretrained = {"critic": "narrative", "corpus": "wiki", "task": "missing", "detector": "warm"}
    kind = kind_of(inputs_of("pretrain", critics_plan, **pretrained)["embeddings"])
    where = names(corpus="german", encoding=kind, collection="split@all")
    assert "language=de" in shared_job(critics_plan).values(where)
    assert "language=de" in values_of("pretrain", critics_plan, **pretrained)


# ---- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"detector": SENTENCE | {"autoencoder": "dea"}, **PARTS},
            r"narrative\.detector\.autoencoder.*dea.*did you mean 'dae'",
        ),
        ({"compared": {"a": SENTENCE | {"autoencoder": "x"}}}, r"narrative\.compared\.a\.autoencoder"),
        (
            {"detector": SENTENCE | {"pretrained": True}},
            r"narrative\.detector\.pretrained: no corpus is given to pre-train on",
        ),
        ({"pretraining": {"corpus": "stories"}}, r"narrative\.pretraining\.corpus.*stories"),
        ({"autoencoders": {"a": {"corpus": "stories"}}}, r"narrative\.autoencoders\.a\.corpus.*stories"),
        ({"compared": {"judge": {}}}, r"narrative\.compared: 'judge' is reserved for the detector that judges"),
        ({"tasks": ["missing", "missing"]}, r"narrative\.tasks: a task is listed twice"),
        ({"tasks": ["missing", "discordan"]}, r"narrative\.tasks"),
        ({"sentences": 4, "damaged": 2}, r"narrative: 2 damaged sentences do not fit into segments of 4.* at least 5"),
        (
            {"pretraining": {"corpus": "web", "sentences": 8}},
            r"narrative\.pretraining: 4 damaged sentences do not fit into segments of 8",
        ),
        (
            {"detector": {"level": "token", "pretrained": True}},
            r"a detector of level 'token' has no 'pretrained'; leave the option out, or set level: sentence",
        ),
        ({"detector": {"epochs": 20}}, r"a detector of level 'similarity' has no 'epochs'"),
        ({"detector": SENTENCE | {"width": 10, "heads": 4}}, r"narrative\.detector.*heads"),
    ],
)
def test_inconsistent_options_give_a_clear_error(options, message):
    with pytest.raises(MacroscopeError, match=message) as error:
        plan(**options)
    assert "\n" not in str(error.value).strip()


def test_numbers_of_the_paper_are_possible():
    paper = {"level": "sentence", "layers": 12, "heads": 12, "width": 768}
    plan(sentences=8, damaged=2, intact=0.0, draws=1, replacements="corpus", detector=paper)
    assert NarrativeOptions().detectors() == {"judge": NarrativeOptions().detector}
