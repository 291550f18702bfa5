"""The narrative critic's own jobs: embeddings that detectors and variants share, pre-training, decoders, shards."""

import pandas as pd
import pyarrow.parquet as pq
import pytest

from macroscope.files import read_json

from .conftest import Run

SMALL = {"level": "sentence", "layers": 1, "heads": 2, "width": 16, "hidden": 16, "epochs": 1}
OPTIONS = {
    "max_tokens": 16,
    "draws": 1,
    "similarity": None,
    "retrieval_shards": 2,
    "detector": SMALL,
    "compared": {
        "written": SMALL | {"semantic_matching": 1.0, "pretrained": True, "autoencoder": "dae"},
        "token": {"level": "token", "hidden": 16, "epochs": 1},
    },
    "pretraining": {"corpus": "more", "sentences": 6, "damaged": 1, "draws": 1},
    "autoencoders": {
        "dae": {"decoder": "tiny-gpt2", "train_encoder": True, "most_sentences": 60, "learning_rate": 0.003},
    },
    "generation": {"beams": 2, "max_tokens": 6, "most_sentences": 4},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run with everything that the critic can do, in small."""
    run = Run(tmp_path_factory.mktemp("narrative"))
    encoder = str(run.work / "encoder")
    options = OPTIONS | {"encoder": encoder}
    stories = {"source": "simulated", "kind": "scripts", "test_share": 0.3}
    run.config |= {
        "corpora": {"stories": stories | {"documents": 160}, "more": stories | {"documents": 120}},
        "systems": {"shuffled": {"kind": "simulated", "order": "shuffled", "samples": 30}},
        "critics": {"narrative": options},
        "variants": {"narrative": {"whole": options | {"tasks": ["discordant"], "compared": {}}}},
        "comparisons": [{"corpus": "stories", "systems": ["shuffled"], "critics": ["narrative", "narrative-whole"]}],
        "human_judgements": [],
        "documents_per_shard": 1000,
    }
    run.save()
    done = run.snakemake()
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return run


def folder(run, critic="narrative"):
    return run.work / "results" / "test" / "critics" / critic / "stories"


def test_sentences_are_embedded_once_for_all_that_read_them(run):
    kinds = sorted(path.name.split("-")[0] for path in (folder(run) / "embeddings").iterdir())
    assert kinds == ["dae", "plain"]
    assert not (folder(run, "narrative-whole") / "embeddings").exists()
    logs = run.work / "logs" / "test" / "embed_sentences" / "stories"
    plain = next(path for path in logs.iterdir() if path.name.startswith("plain"))
    assert sorted(path.name for path in plain.rglob("*.log")) == ["0.log", "0.log", "split.all.log"]


def test_a_further_variant_embeds_nothing(run, tmp_path):
    other = run.copied(tmp_path / "work")
    further = OPTIONS | {"encoder": str(run.work / "encoder"), "compared": {}, "draws": 2, "tasks": ["missing"]}
    other.config["variants"]["narrative"]["further"] = further
    other.config["comparisons"][0]["critics"].append("narrative-further")
    other.save()
    pending = other.pending()
    assert pending["detect_narrative"] == 1
    assert "embed_sentences" not in pending


def test_every_detector_was_tested(run):
    for task in ("missing", "discordant"):
        for name in ("judge", "written", "token"):
            metrics = pd.read_csv(folder(run) / "detectors" / f"{task}.{name}" / "metrics.csv")
            assert set(metrics["of"]) == {"detector", "position", "single_sentence"}, (task, name)
            about = read_json(folder(run) / "detectors" / f"{task}.{name}" / "training.json")
            assert about["train"]["segments"] > 50


def test_sentences_are_written_where_a_detector_has_a_decoder(run):
    written = sorted(path.name for path in (folder(run) / "infilled").iterdir())
    assert written == ["discordant.written", "missing.written"]
    table = pd.read_csv(folder(run) / "infilled" / "missing.written" / "generated.csv", keep_default_na=False)
    assert len(table) == 4


def test_matches_are_searched_for_in_shards(run):
    shards = [pq.read_table(folder(run) / "retrieved" / f"{number}.parquet") for number in (0, 1)]
    about = read_json(folder(run) / "detectors" / "discordant.judge" / "training.json")
    by_split = [about[split] for split in ("train", "valid", "test", "held_out")]
    assert sum(map(len, shards)) == sum(counts["replaced"] + counts["left_as_they_are"] for counts in by_split)


def test_the_report_has_its_chapters(run):
    [path] = (run.work / "results" / "test" / "pages").glob("critic.narrative.*.html")
    page = path.read_text()
    for heading in ("Detected incoherence", "Detectors on known damage", "Generated sentences: metrics"):
        assert heading in page
