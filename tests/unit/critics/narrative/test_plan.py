"""What a config implies for the narrative critic: which job reads what, and what jobs share."""

import json

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


def job(stage, made):
    return next(job for job in made.own["narrative"].jobs() if job.stage == stage)


def detect(made, detector, critic="narrative", task="missing", corpus="wiki"):
    """What a detector is trained on."""
    return job("detect", made).inputs(names(critic=critic, corpus=corpus, task=task, detector=detector))


def kind_of(folder):
    """Kind of embedding from the folder of a corpus's, ".../embeddings/<kind>/split.all"."""
    return folder.split("/")[-2]


# ---- paths -----------------------------------------------------------------------------------------------------------


def test_a_detector_is_trained_on_the_damage_and_the_embeddings_of_its_corpus():
    made = plan()
    found = detect(made, "judge")
    assert found["documents"] == DOCUMENTS.format("wiki")
    assert found["corrupted"] == f"{OWN}/corrupted/missing.parquet"
    assert found["embeddings"].startswith(f"{OWN}/embeddings/plain-")
    assert "pretrained" not in found
    assert job("detect", made).output == "results/<run>/critics/{critic}/{corpus}/detectors/{task}.{detector}"
    assert job("detect", made).is_folder
    assert not job("corrupt", made).is_folder


def test_the_judges_are_what_the_critic_is_put_together_from():
    for tasks in (["missing", "discordant"], ["discordant"]):
        found = plan(tasks=tasks).inputs("narrative", "train")["detectors"](names(corpus="wiki"))
        assert found == [f"{OWN}/detectors/{task}.judge" for task in tasks]


def test_one_judge_alone_embeds_what_it_reads_itself():
    assert "embeddings" not in plan().inputs("narrative", "project")
    others = [{"corpus": "wiki", "systems": ["shuffled"], "critics": ["narrative", "narrative-first"]}]
    assert "embeddings" not in plan(others, {"first": {"pooling": "first"}}).inputs("narrative", "project")
    assert "embeddings" in plan(others, {"first": {"draws": 2}}).inputs("narrative", "project")


@pytest.mark.parametrize("shards", [None, 1000])
def test_texts_that_several_judges_read_are_embedded_once(shards):
    both = [{"corpus": "wiki", "systems": ["shuffled"], "critics": ["narrative", "narrative-more"]}]
    made = plan(both, {"more": {"draws": 9}}, documents_per_shard=shards)
    where = names(corpus="wiki", system="shuffled", shard="2")
    found = made.inputs("narrative", "project")["embeddings"](where)
    embeddings = detect(made, "judge")["embeddings"].removesuffix("split.all")
    assert found == f"{embeddings}shuffled{'/2' if shards else ''}"
    own = made.own["narrative"]
    collection = found.removeprefix(embeddings)
    wildcards = names(corpus="wiki", kind=kind_of(embeddings + "split.all"), collection=collection)
    assert own.embedded(wildcards) == {"texts": "results/default/systems/wiki/shuffled/samples.parquet"}
    assert own.shard_flags(wildcards) == ("--shard 2 --documents-per-shard 1000" if shards else "")
    everything = names(corpus="wiki", kind=wildcards.kind, collection="split.all")
    assert own.embedded(everything) == {"documents": DOCUMENTS.format("wiki")}
    assert own.shard_flags(everything) == ""


def test_a_detector_of_words_reads_no_embeddings():
    made = plan(detector={"level": "token"})
    assert "embeddings" not in detect(made, "judge")
    assert not made.inputs("narrative", "project").get("embeddings")


@pytest.mark.parametrize("task", ["missing", "discordant"])
@pytest.mark.parametrize("shards", [1, 3])
def test_matches_are_read_where_jobs_share_the_search(task, shards):
    made = plan(retrieval_shards=shards)
    found = job("corrupt", made).inputs(names(critic="narrative", corpus="wiki", task=task))
    expected = {"documents": DOCUMENTS.format("wiki")}
    if task == "discordant" and shards == 3:
        expected["retrieved"] = [f"{OWN}/retrieved/{n}.parquet" for n in range(3)]
    assert found == expected
    words = made.own["narrative"].values("retrieve")(names(critic="narrative", corpus="wiki", shard="1"))
    assert {"shard=1", f"shards={shards}"} <= set(words)


# ---- what is shared --------------------------------------------------------------------------------------------------

PARTS = {
    "compared": {"deep": {"layers": 12}, "words": {"level": "token"}, "dae": {"autoencoder": "dae"}},
    "autoencoders": {"dae": {"train_encoder": True}, "plain": {"corpus": "web"}},
}


def test_detectors_that_embed_alike_share_their_embeddings():
    made = plan(
        **PARTS | {"compared": PARTS["compared"] | {"writes": {"autoencoder": "plain", "semantic_matching": 1.0}}}
    )
    embeddings = {name: detect(made, name).get("embeddings") for name in ("judge", "deep", "words", "dae", "writes")}
    assert embeddings["judge"] == embeddings["deep"] == embeddings["writes"]  # the last one's encoder stays as it is
    assert embeddings["words"] is None
    assert embeddings["dae"] != embeddings["judge"]
    assert kind_of(embeddings["dae"]).startswith("dae-")


def test_variants_share_the_embeddings_of_the_critic_where_they_embed_alike():
    variants = {"long": {"sentences": 8, "damaged": 2}, "first": {"pooling": "first"}}
    critics = ["narrative", "narrative-long", "narrative-first"]
    made = plan([{"corpus": "wiki", "systems": ["shuffled"], "critics": critics}], variants)
    found = [detect(made, "judge", critic) for critic in critics]
    assert found[0]["embeddings"] == found[1]["embeddings"] != found[2]["embeddings"]
    assert found[2]["embeddings"].startswith(f"{OWN}/embeddings/")
    assert found[1]["corrupted"] == f"{FOLDER}/narrative-long/wiki/corrupted/missing.parquet"
    own = made.own["narrative"]
    poolings = [
        json.loads(own.options("embed_sentences")(names(corpus="wiki", kind=kind_of(f["embeddings"]))))["pooling"]
        for f in found
    ]
    assert poolings == ["mean", "mean", "first"]
    assert own.names.count("|") == 2


def test_embeddings_by_a_trained_encoder_wait_for_it():
    made = plan(**PARTS)
    embeddings = detect(made, "dae")["embeddings"]
    wildcards = names(corpus="wiki", kind=kind_of(embeddings), collection="split.all")
    found = made.own["narrative"].embedded(wildcards)
    assert found["documents"] == DOCUMENTS.format("wiki")
    assert found["autoencoder"].startswith(f"{OWN}/autoencoders/dae")
    assert "autoencoder" not in made.own["narrative"].embedded(
        names(corpus="wiki", kind=kind_of(detect(made, "judge")["embeddings"]), collection="split.all")
    )


def test_an_autoencoder_stands_with_the_corpus_that_it_learns_from():
    writes = {"autoencoder": "plain", "semantic_matching": 1.0}
    made = plan(autoencoders=PARTS["autoencoders"], compared={"writes": writes})
    wildcards = names(critic="narrative", corpus="wiki", task="missing", detector="writes")
    found = job("infill", made).inputs(wildcards)
    assert found["autoencoder"].startswith(f"{FOLDER}/narrative/web/autoencoders/plain")
    assert found["detector"] == f"{OWN}/detectors/missing.writes"
    assert found["embeddings"] == detect(made, "writes")["embeddings"]
    assert found["corrupted"] == f"{OWN}/corrupted/missing.parquet"
    assert "web" in made.corpora_used
    key = found["autoencoder"].rpartition("/")[2]
    learns = names(corpus="web", autoencoder=key)
    assert job("autoencode", made).inputs(learns) == {"documents": DOCUMENTS.format("web")}
    assert "name=plain" in made.own["narrative"].values("autoencode")(learns)


def test_pretraining_reads_the_other_corpus_embedded_in_the_same_way():
    options = PARTS | {
        "pretraining": {"corpus": "web"},
        "compared": {"warm": {"pretrained": True}, "warm-dae": {"pretrained": True, "autoencoder": "dae"}},
    }
    made = plan(**options)
    for name in ("warm", "warm-dae"):
        wildcards = names(critic="narrative", corpus="wiki", task="missing", detector=name)
        before, then = job("pretrain", made).inputs(wildcards), detect(made, name)
        assert before["documents"] == DOCUMENTS.format("web")
        assert before["embeddings"] == then["embeddings"].replace("/wiki/", "/web/")
        assert then["pretrained"] == f"{OWN}/pretrained/missing.{name}"
        # The job that makes these embeddings is there, and knows by what.
        kind = kind_of(before["embeddings"])
        found = made.own["narrative"].embedded(names(corpus="web", kind=kind, collection="split.all"))
        assert ("autoencoder" in found) == (name == "warm-dae")
    assert "web" in made.corpora_used


def test_a_corpus_is_cut_in_its_own_language_for_pretraining():
    made = plan(pretraining={"corpus": "german"}, compared={"warm": {"pretrained": True}})
    own = made.own["narrative"]
    wildcards = names(critic="narrative", corpus="wiki", task="missing", detector="warm")
    kind = kind_of(job("pretrain", made).inputs(wildcards)["embeddings"])
    embeds = own.values("embed_sentences")(names(corpus="german", kind=kind, collection="split.all"))
    assert "language=de" in embeds
    assert "language=de" in own.values("pretrain")(wildcards)


def test_every_detector_is_shown_and_those_that_write_with_what_they_wrote():
    writes = {"autoencoder": "plain", "semantic_matching": 1.0}
    made = plan(**PARTS | {"compared": PARTS["compared"] | {"writes": writes}}).own["narrative"]
    found = made.inputs("narrative", "detectors", "wiki")
    assert len(found) == 2 * 5
    assert f"{OWN}/detectors/discordant.words" in found
    expected = [f"{OWN}/infilled/{task}.writes" for task in ("missing", "discordant")]
    assert made.inputs("narrative", "infilled", "wiki") == expected


def test_checkpoints_of_no_two_jobs_are_the_same():
    made = plan(pretraining={"corpus": "web"}, compared={"warm": {"pretrained": True}}).own["narrative"]
    found = [
        word
        for stage in ("pretrain", "detect")
        for task in ("missing", "discordant")
        for name in ("judge", "warm")
        for word in made.values(stage)(names(critic="narrative", corpus="wiki", task=task, detector=name))
        if word.startswith("checkpoints=")
    ]
    assert len(set(found)) == 8


# ---- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"detector": {"autoencoder": "dea"}, **PARTS}, r"narrative\.detector\.autoencoder.*dea.*did you mean 'dae'"),
        ({"compared": {"a": {"autoencoder": "x"}}}, r"narrative\.compared\.a\.autoencoder"),
        ({"detector": {"pretrained": True}}, r"narrative\.detector: it is pretrained, but nothing says on what"),
        ({"pretraining": {"corpus": "stories"}}, r"narrative\.pretraining\.corpus.*stories"),
        ({"autoencoders": {"a": {"corpus": "stories"}}}, r"narrative\.autoencoders\.a\.corpus.*stories"),
        ({"compared": {"judge": {}}}, r"narrative\.compared: 'judge' is the name of the detector that judges"),
        ({"tasks": ["missing", "missing"]}, r"narrative\.tasks: one stands there twice"),
        ({"tasks": ["missing", "discordan"]}, r"narrative\.tasks"),
        ({"sentences": 4, "damaged": 2}, r"narrative: of 4 sentences 2 cannot be taken out .* at least 5"),
        ({"pretraining": {"corpus": "web", "sentences": 8}}, r"narrative\.pretraining: of 8 sentences 4 cannot be"),
        (
            {"detector": {"level": "token", "pretrained": True}},
            "a detector of level 'token' has no sentence embeddings",
        ),
        ({"detector": {"width": 10, "heads": 4}}, r"narrative\.detector.*heads"),
    ],
)
def test_options_that_do_not_fit_are_one_sentence(options, message):
    with pytest.raises(MacroscopeError, match=message) as error:
        plan(**options)
    assert "\n" not in str(error.value).strip()


def test_numbers_of_the_paper_are_possible():
    paper = {"level": "sentence", "layers": 12, "heads": 12, "width": 768}
    plan(sentences=8, damaged=2, intact=0.0, draws=1, replacements="corpus", detector=paper)
    assert NarrativeOptions().detectors() == {"judge": NarrativeOptions().detector}
