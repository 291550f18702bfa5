"""Data sets by name: from a server with the hub's protocol, from the cache, and missing in both."""

import json
import subprocess
import sys
from contextlib import contextmanager

import pytest

from macroscope.corpora.hub import HubCorpus
from macroscope.corpora.hub.reading import read_hub
from macroscope.corpora.hub.retrieval import RemoteSplit
from macroscope.documents import Provenance

from ....hub_server import COMMIT, serve

datasets = pytest.importorskip("datasets", reason="the package 'datasets' (extra 'datasets') is not installed")

SPLITS = {
    "of a configuration": f"people--lengths/{COMMIT}/short/train",
    "unusual": f"people--lengths/{COMMIT}/short/validation_matched",
    "without card": f"people--plain/{COMMIT}/default/train",
}
MISSING = {
    f"people--lengths/{'f' * 40}/short/train": "check name, revision and network",
    f"people--nobody/{COMMIT}/short/train": "check name, revision and network",
    f"people--lengths/{COMMIT}/shorter/train": "no configuration 'shorter'; did you mean 'short'?",
    f"people--lengths/{COMMIT}/default/train": "has the configurations short, long; give one",
    f"people--lengths/{COMMIT}/short/test": "no split 'test', only train, validation_matched",
}
"""Place -> what the error says."""
CARD = """---
license: cc-by-4.0
pretty_name: Two lengths
configs:
- config_name: short
  data_files:
  - split: train
    path: short/*.parquet
  - split: validation_matched
    path: matched.parquet
- config_name: long
  data_files: long/*.parquet
---
"""


@contextmanager
def hub_in(root):
    """Serve `people/lengths`, of two configurations, and `people/plain`, of one file without a card."""
    folder = root / "hub" / "people" / "lengths"
    features = datasets.Features(text=datasets.Value("string"), label=datasets.ClassLabel(names=["bad", "good"]))
    for name, shards in {"short": 3, "long": 1}.items():
        (folder / name).mkdir(parents=True)
        for shard in range(shards):
            rows = {
                "text": [f"A {name} text, {shard}-{n}." for n in range(1200)],
                "label": [n % 2 for n in range(1200)],
            }
            table = datasets.Dataset.from_dict(rows, features=features)
            table.to_parquet(folder / name / f"train-{shard}.parquet")
    (folder / "README.md").write_text(CARD)
    datasets.Dataset.from_dict({"text": [f"Line {n}." for n in range(5)]}).to_parquet(folder / "matched.parquet")
    plain = root / "hub" / "people" / "plain"
    plain.mkdir()
    (plain / "train.csv").write_text("text,stars\nA plain text.,3\n")
    with serve(root / "hub") as server:
        yield server


@pytest.fixture
def hub(tmp_path):
    """A hub that no other test uses."""
    with hub_in(tmp_path) as server:
        yield server


@pytest.fixture(scope="module")
def fetched(tmp_path_factory):
    """Return place -> exit status, standard error and output folder, of retrievals; and the files that were served."""
    root, places = tmp_path_factory.mktemp("fetched"), [*SPLITS.values(), *MISSING]
    with hub_in(root) as server:
        return dict(zip(places, fetch_all(server, root, places), strict=True)), server.served


COMMANDS = """
import io, json, logging, sys
from contextlib import redirect_stderr
from macroscope import cli

output = sys.stdout
for words in json.loads(sys.argv[1]):
    sys.argv = ["macroscope", *words]
    logging.getLogger("macroscope").handlers.clear()
    with redirect_stderr(io.StringIO()) as errors:
        try:
            cli.main()
        except SystemExit as end:
            print(json.dumps([end.code or 0, errors.getvalue()]), file=output)
"""
"""A program that runs commands one after another; `datasets` takes seconds to import."""


def fetch_all(hub, tmp_path, places, **environment):
    """Run the rule's command for every place; return the exit statuses, standard errors and output folders."""
    outputs = [tmp_path / "data" / "hub" / place for place in places]
    commands = [
        ["corpora", "fetch", "--source", "hub", "--place", place, "--output", str(output)]
        for place, output in zip(places, outputs, strict=True)
    ]
    environment = hub.environment(tmp_path / "home", **environment)
    command = [sys.executable, "-c", COMMANDS, json.dumps(commands)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    ends = [json.loads(line) for line in done.stdout.splitlines()]
    return [(code, errors, output) for (code, errors), output in zip(ends, outputs, strict=True)]


def fetch(hub, tmp_path, place, **environment):
    """Run the rule's command; return its exit status, standard error and output folder."""
    (end,) = fetch_all(hub, tmp_path, [place], **environment)
    return end


def documents(output, **options):
    provenance = Provenance("test")
    corpus = HubCorpus(source="hub", name="people/lengths", revision=COMMIT, **options)
    return list(read_hub(corpus, output, provenance)), provenance


def test_options_and_rule_agree_on_the_place():
    corpus = HubCorpus(source="hub", name="people/lengths", revision=COMMIT, configuration="short", split="test")
    assert corpus.place() == f"data/hub/people--lengths/{COMMIT}/short/test"
    assert RemoteSplit.from_place(corpus.place().removeprefix("data/hub/")) == RemoteSplit(
        "people/lengths", COMMIT, "short", "test"
    )
    alone = HubCorpus(source="hub", name="squad", revision=COMMIT)
    assert RemoteSplit.from_place(alone.place().removeprefix("data/hub/")) == RemoteSplit(
        "squad", COMMIT, None, "train"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "a/b"}, "must be given together: a commit"),
        ({"folder": "x", "revision": COMMIT}, "must be given together: a folder has none"),
        ({"folder": "x", "name": "a/b", "revision": COMMIT}, "either 'folder', or 'name'"),
        ({}, "either 'folder', or 'name'"),
        ({"name": "a/b", "revision": "main"}, "revision"),
        ({"name": "a/b/c", "revision": COMMIT}, "name"),
        ({"name": "a/b", "revision": COMMIT, "configuration": "../x"}, "configuration"),
    ],
)
def test_options_without_a_data_set(options, message):
    with pytest.raises(ValueError, match=message):
        HubCorpus(source="hub", **options)


def test_one_split_of_one_configuration_is_retrieved(fetched):
    ends, served = fetched
    status, errors, output = ends[SPLITS["of a configuration"]]
    assert status == 0, errors
    assert len(list(output.rglob("*.parquet"))) == 3
    assert not any("long" in path for path in served)
    note = json.loads(output.with_name("train.json").read_text())
    assert note == {
        "retrieved_as": "people/lengths",
        "version": COMMIT,
        "url": f"https://huggingface.co/datasets/people/lengths/tree/{COMMIT}",
        "rows": 3600,
        "licence": "cc-by-4.0",
        "name_on_card": "Two lengths",
    }
    retrieved, _ = documents(output, configuration="short", columns={"label": "label"})
    assert len(retrieved) == 3600
    texts = [document.sections[0].text for document in retrieved]
    assert texts == [f"A short text, {shard}-{n}." for shard in range(3) for n in range(1200)]
    assert [document.label for document in retrieved[:2]] == ["bad", "good"]


def test_a_split_with_an_unusual_name(fetched):
    status, errors, output = fetched[0][SPLITS["unusual"]]
    assert status == 0, errors
    retrieved, _ = documents(output, configuration="short", split="validation_matched")
    assert [document.id for document in retrieved] == [f"validation_matched-{n}" for n in range(1, 6)]


def test_without_card_and_configuration(fetched):
    status, errors, output = fetched[0][SPLITS["without card"]]
    assert status == 0, errors
    assert "licence" not in json.loads(output.with_name("train.json").read_text())
    ((document,), _) = documents(output)
    assert document.sections[0].text == "A plain text."


def test_an_interrupted_retrieval_continues_with_the_next_file(hub, tmp_path):
    place = f"people--lengths/{COMMIT}/short/train"
    (hub.root / "people/lengths/short/train-2.parquet").rename(tmp_path / "kept")
    (hub.root / "people/lengths/short/train-2.parquet").write_bytes(b"PAR1, and no more than that")
    status, errors, output = fetch(hub, tmp_path, place)
    assert status == 1
    assert "finished files are kept, and the next call continues" in errors
    assert "Traceback" not in errors
    assert not output.exists()
    (tmp_path / "kept").replace(hub.root / "people/lengths/short/train-2.parquet")
    hub.served.clear()
    status, errors, output = fetch(hub, tmp_path, place)
    assert status == 0, errors
    assert "short/train-2.parquet" in hub.served
    assert len(documents(output, configuration="short")[0]) == 3600
    assert not list(output.parent.glob("*.part"))


@pytest.mark.parametrize("place", MISSING)
def test_missing_data_are_clear_errors(fetched, place):
    status, errors, _ = fetched[0][place]
    assert status == 1
    assert MISSING[place] in errors
    assert "Traceback" not in errors


def test_a_gated_data_set_names_the_token(hub, tmp_path):
    hub.gated.add("people/lengths")
    status, errors, _ = fetch(hub, tmp_path, f"people--lengths/{COMMIT}/short/train")
    assert status == 1
    assert "HF_TOKEN" in errors


def test_offline_the_cache_is_read_or_the_command_named(hub, tmp_path):
    place = f"people--lengths/{COMMIT}/long/train"
    status, errors, _ = fetch(hub, tmp_path, place, HF_HUB_OFFLINE="1")
    assert status == 1
    assert f"hf download people/lengths --repo-type dataset --revision {COMMIT}" in errors
    copied = (
        "from huggingface_hub import snapshot_download;"
        f" snapshot_download('people/lengths', repo_type='dataset', revision='{COMMIT}')"
    )
    subprocess.run([sys.executable, "-c", copied], check=True, env=hub.environment(tmp_path / "home"))
    hub.served.clear()
    status, errors, output = fetch(hub, tmp_path, place, HF_HUB_OFFLINE="1")
    assert status == 0, errors
    assert not hub.served
    assert len(documents(output, configuration="long")[0]) == 1200
    assert json.loads(output.with_name("train.json").read_text())["licence"] == "cc-by-4.0"
