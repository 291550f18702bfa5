"""Tests of the plan of sentence vectors: who reads which, and what is embedded once."""

import json

import pytest

from .plans import names, plan_of

SENTENCES = {"pooling": "sentences", "max_tokens": 64}
BOTH = [{"corpus": "wiki", "systems": ["shuffled"], "critics": ["narrative", "clusters"]}]
ALONE = [{"corpus": "wiki", "systems": ["shuffled"], "critics": ["clusters"]}]


def plan(comparisons=BOTH, clusters=SENTENCES, **config):
    return plan_of(comparisons, critics={"clusters": clusters}, **config).critics


def folder_of(critics_plan, critic, system="shuffled", **shard):
    """Return the folder of vectors that a projection reads; [] if it reads none."""
    return critics_plan.inputs(critic, "project")["sentence_vectors"](names(corpus="wiki", system=system, **shard))


def read(critics_plan, critic, system="shuffled", **shard):
    """Return the collection whose vectors a projection reads; None if it reads none."""
    folder = folder_of(critics_plan, critic, system, **shard)
    return folder.split("/", 5)[5] if folder else None


def job_of(critics_plan):
    return next(job for job in critics_plan.jobs() if job.name == "embed_sentences")


def where(critics_plan, collection, **shard):
    """Return the wildcards of the job that embeds a collection as `clusters` does."""
    encoding = folder_of(critics_plan, "clusters", **shard).split("/")[4]
    return names(corpus="wiki", encoding=encoding, collection=collection)


def inputs_of(critics_plan, collection):
    """Return the inputs of the job that embeds a collection, without the run's folder."""
    wildcards = where(critics_plan, collection)
    files = {name: path(wildcards) for name, path in job_of(critics_plan).inputs.items()}
    return {name: path.removeprefix("results/default/") for name, path in files.items() if path}


def test_critics_that_embed_alike_read_the_same_vectors():
    critics_plan = plan()
    assert folder_of(critics_plan, "narrative") == folder_of(critics_plan, "clusters")
    assert folder_of(critics_plan, "narrative").startswith("results/default/sentences/wiki/")
    assert read(critics_plan, "clusters") == "shuffled"
    assert read(critics_plan, "clusters", "control") == read(critics_plan, "narrative", "control") == "split@all"


@pytest.mark.parametrize(
    "clusters", [SENTENCES | {"max_tokens": 32}, SENTENCES | {"precision": "bfloat16"}, {"pooling": "mean"}]
)
def test_critics_that_embed_in_other_ways_share_nothing(clusters):
    critics_plan = plan(clusters=clusters)
    assert read(critics_plan, "narrative") == "split@all"
    assert read(critics_plan, "clusters") == (None if clusters["pooling"] == "mean" else "control")


def test_a_collection_is_embedded_without_the_sentences_of_real_texts():
    critics_plan = plan()
    inputs = inputs_of(critics_plan, "shuffled")
    assert inputs.pop("known_sentences").endswith("/split@all")
    assert inputs == {"texts": "systems/wiki/shuffled/samples.parquet"}
    assert inputs_of(critics_plan, "split@all") == {"documents": "corpora/wiki/documents.parquet"}


def test_one_critic_alone_knows_the_sentences_of_the_control():
    """No critic learns from the corpus, so that only the texts of the control are embedded beforehand."""
    critics_plan = plan(ALONE)
    assert read(critics_plan, "clusters") == read(critics_plan, "clusters", "control") == "control"
    assert inputs_of(critics_plan, "control") == {"texts": "systems/wiki/control/samples.parquet"}


def test_one_critic_that_reads_all_real_texts_knows_their_sentences():
    shuffled = {"kind": "simulated", "order": "shuffled"}
    critics_plan = plan_of(
        ALONE,
        critics={"clusters": SENTENCES},
        systems={"control": {"kind": "control", "whole": True}, "shuffled": shuffled},
    ).critics
    assert read(critics_plan, "clusters") == read(critics_plan, "clusters", "control") == "split@all"


def test_texts_at_matched_length_have_the_sentences_of_whole_texts():
    critics_plan = plan([BOTH[0] | {"matched_length": True}])
    assert read(critics_plan, "clusters", "shuffled@matched") == "shuffled"
    assert read(critics_plan, "clusters", "shuffled@reference") == "split@all"


def test_shards_have_their_own_vectors():
    critics_plan = plan(documents_per_shard=1000)
    assert read(critics_plan, "clusters", shard="2") == "shuffled/2"
    assert read(critics_plan, "clusters", "shuffled@matched", shard="2") == "shuffled@matched/2"
    assert read(critics_plan, "clusters", "control", shard="2") == "split@all"
    assert read(plan(ALONE, documents_per_shard=1000), "clusters", shard="2") is None
    wildcards = where(critics_plan, "shuffled/2", shard="2")
    assert job_of(critics_plan).values(wildcards)[1::2] == ["language=en", "texts_shard=2", "texts_per_shard=1000"]
    assert json.loads(job_of(critics_plan).options(wildcards))["max_tokens"] == 64
