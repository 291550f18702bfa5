"""The narrative critic's own jobs: embeddings that detectors and variants share, pre-training, decoders, shards."""

import pandas as pd
import pyarrow.parquet as pq
import pytest

from macroscope import cli
from macroscope.critics.narrative.checked_segments import CheckedSegment, Truth, read_lines
from macroscope.files import read_json, write_json
from macroscope.human.answers import read_key

from ..unit.human.conftest import make_answers
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
    """The encoder of the options embeds for both critics; the other one is trained by one of them."""
    logs = run.work / "logs" / "test" / "embed_sentences" / "stories"
    assert [sorted(log.name for log in path.rglob("*.log")) for path in logs.iterdir()] == [["0.log", "split@all.log"]]
    [trained] = (folder(run) / "embeddings").iterdir()
    assert trained.name.startswith("dae-")
    assert not (folder(run, "narrative-whole") / "embeddings").exists()


def test_a_further_variant_embeds_nothing(run, tmp_path):
    again = run.copied(tmp_path / "work")
    further = OPTIONS | {"encoder": str(run.work / "encoder"), "compared": {}, "draws": 2, "tasks": ["missing"]}
    again.config["variants"]["narrative"]["further"] = further
    again.config["comparisons"][0]["critics"].append("narrative-further")
    again.save()
    pending = again.pending()
    assert pending["detect_narrative-further"] == 1
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


def ask_people(segments, judges, is_right, study):
    """Let people judge segments, from the page to the tables: is_right(number of the segment, judge) -> bool."""
    truths = {truth.id: truth for truth in read_truths(segments)}
    design = ("--documents", len(truths), "--annotators", judges, "--per-document", judges, "--repeated", 0)
    run_command("sheet", "--segments", segments, "--output", study / "sheet", *design)
    key = read_key(study / "sheet")
    (study / "answers").mkdir()
    for judge, annotator in enumerate(key["annotators"]):

        def answer(showing, judge=judge):
            right = is_right(list(truths).index(showing["document"]), judge)
            return (), "yes" if truths[showing["document"]].damaged == right else "no"

        write_json(study / "answers" / f"{annotator}.json", make_answers(key, annotator, answer, question="damaged"))
    collected = ("--sheet", study / "sheet", "--answers", study / "answers", "--output", study / "judged")
    run_command("collect", *collected)
    return study / "judged"


def read_truths(segments):
    key = segments / "key.jsonl"
    if key.exists():
        return read_lines(Truth, key)
    return [segment.truth for segment in read_lines(CheckedSegment, segments / "segments.jsonl")]


def run_command(*arguments):
    cli.app(["human", *map(str, arguments)], standalone_mode=False)


def test_detectors_are_tested_on_the_segments_that_people_confirm(run, tmp_path):
    """Four people judge each place, and agree with the truth about two of three; three others are the human baseline
    (cai2020, Tables 2 and 3). Two of these are always right, the third one never: a mean accuracy of two thirds."""
    results, sampled = run.work / "results" / "test", tmp_path / "sampled"
    asked = ("--run", results, "--corpus", "stories", "--task", "missing", "--segments", 18)
    run_command("segments", *asked, "--output", sampled)
    judged = ask_people(sampled, 4, lambda number, judge: number % 3 > 0 or judge < 2, tmp_path / "first")
    run_command("check", "--segments", sampled, "--judged", judged, "--output", tmp_path / "checked")
    others = ask_people(tmp_path / "checked", 3, lambda number, judge: judge < 2, tmp_path / "second")
    checked = run.copied(tmp_path / "work")
    baseline = ("--segments", tmp_path / "checked", "--judged", others, "--output", checked.work / "people")
    run_command("baseline", *baseline)

    checked.config["critics"]["narrative"]["test_segments"] = {"stories": {"missing": "people/segments.jsonl"}}
    checked.save()
    jobs = checked.jobs()
    assert "embed_sentences" not in jobs  # the sentences are the same
    assert jobs["corrupt_narrative"] == 1
    before, after = (pd.read_csv(work / "results/test/tables/narrative_stories_detection.csv") for work in
                     (run.work, checked.work))  # fmt: skip
    assert set(after["detector"]) - set(before["detector"]) == {"people"}
    rows = after[after["task"] == "missing sentences"].set_index("detector")
    assert set(rows["decisions"].drop(["people", "position alone", "single sentences"])) == {"12"}
    assert str(rows.at["people", "accuracy, %"]).startswith("66.7")
    same = [table[table["task"] == "discordant sentences"].reset_index(drop=True) for table in (before, after)]
    pd.testing.assert_frame_equal(*same)
    [path] = (checked.work / "results" / "test" / "pages").glob("critic.narrative.*.html")
    assert "names those that people have checked" in path.read_text()
