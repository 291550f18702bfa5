"""Folders in the layouts of Hugging Face data sets; the library's own writers make the inputs."""

import json

import pytest

from macroscope.corpora.hub import Columns, HubCorpus
from macroscope.corpora.hub.reading import read_hub
from macroscope.documents import Provenance, read_documents, read_provenance
from macroscope.errors import MacroscopeError
from macroscope.systems.hub import HubSystem, import_data_set

datasets = pytest.importorskip("datasets", reason="the package 'datasets' (extra 'datasets') is not installed")
pytestmark = pytest.mark.slow  # the library imports torch

TEXTS = ["One text.", "Another text.\n\nIts second part.", "", None, "A third."]
COLUMNS = {"text": "body", "title": "headline", "id": "key", "label": "stars"}


def table():
    features = datasets.Features(
        body=datasets.Value("string"),
        headline=datasets.Value("string"),
        key=datasets.Value("int64"),
        stars=datasets.ClassLabel(names=["bad", "good"]),
    )
    rows = {"body": TEXTS, "headline": list("ABCDE"), "key": [10, 11, 12, 13, 14], "stars": [0, 1, 1, 1, -1]}
    return datasets.Dataset.from_dict(rows, features=features, split="train")


def parquet(folder):
    (folder / "data").mkdir(parents=True)
    table().to_parquet(folder / "data" / "train-00000-of-00001.parquet")


def saved_splits(folder):
    datasets.DatasetDict(train=table(), test=table().select([0])).save_to_disk(folder)


def saved(folder):
    table().save_to_disk(folder)


def json_lines(folder):
    folder.mkdir(parents=True)
    lines = [{"body": text, "key": f"k{n}"} for n, text in enumerate(TEXTS)]
    (folder / "train.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def read(folder, **options):
    provenance = Provenance("test")
    corpus = HubCorpus(source="hub", folder=str(folder), **{"columns": COLUMNS} | options)
    return list(read_hub(corpus, folder, provenance)), provenance


@pytest.mark.parametrize("write", [parquet, saved_splits, saved])
def test_every_layout_gives_the_same_documents(tmp_path, write):
    write(tmp_path / "reviews")
    documents, provenance = read(tmp_path / "reviews")
    assert [(d.id, d.title, d.label, [s.text for s in d.sections]) for d in documents] == [
        ("10", "A", "bad", ["One text."]),
        ("11", "B", "good", ["Another text.", "Its second part."]),
        ("14", "E", None, ["A third."]),
    ]
    dropped = {count.filter: count.dropped for count in provenance.counts}
    assert dropped["document without text"] == 2
    assert provenance.source["split"] == "train"


def test_json_lines_and_ids_by_row(tmp_path):
    json_lines(tmp_path / "lines")
    documents, _ = read(tmp_path / "lines", columns={"text": "body"}, one_section=True)
    assert [d.id for d in documents] == ["train-1", "train-2", "train-5"]
    assert [len(d.sections) for d in documents] == [1, 1, 1]


def test_sections_with_titles(tmp_path):
    rows = [{"parts": [{"title": "Lead", "text": "One."}, {"title": "End", "text": "Two."}]}, {"parts": None}]
    datasets.Dataset.from_list(rows).save_to_disk(tmp_path / "articles")
    documents, provenance = read(tmp_path / "articles", columns={"text": None, "sections": "parts"})
    assert [[(s.title, s.text) for s in d.sections] for d in documents] == [[("Lead", "One."), ("End", "Two.")]]
    assert sum(count.dropped for count in provenance.counts) == 1


def test_configuration_licence_and_name_come_from_the_card(tmp_path):
    for name in ("short", "long"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.jsonl").write_text(json.dumps({"text": f"A {name} text."}) + "\n")
    (tmp_path / "README.md").write_text(
        "---\nlicense: cc-by-4.0\npretty_name: Two lengths\nconfigs:\n"
        "- config_name: short\n  data_files: short/train.jsonl\n"
        "- config_name: long\n  data_files: long/train.jsonl\n---\n"
    )
    (document,), provenance = read(tmp_path, columns={}, configuration="long")
    assert document.sections[0].text == "A long text."
    assert provenance.source["licence"] == "cc-by-4.0"
    assert provenance.source["name_on_card"] == "Two lengths"
    with pytest.raises(MacroscopeError, match="has the configurations short, long; give one"):
        read(tmp_path, columns={})
    with pytest.raises(MacroscopeError, match="no configuration 'longer'; did you mean 'long'"):
        read(tmp_path, columns={}, configuration="longer")


def test_nothing_is_copied_to_the_librarys_cache(tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", cache)
    parquet(tmp_path / "reviews")
    read(tmp_path / "reviews")
    assert not list(cache.rglob("*.arrow"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "test"}, "no split 'test', only train"),
        ({"columns": {"text": "bodi"}}, r"row 1: no column 'bodi'; did you mean 'body'\?; give 'columns.text'"),
    ],
)
def test_missing_splits_and_columns_are_clear_errors(tmp_path, options, message):
    parquet(tmp_path / "reviews")
    with pytest.raises(MacroscopeError, match=message):
        read(tmp_path / "reviews", **options)


def test_bad_folders(tmp_path):
    with pytest.raises(MacroscopeError, match="no such folder"):
        read(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(MacroscopeError, match="empty: not a readable data set"):
        read(tmp_path / "empty")
    parquet(tmp_path / "broken")
    (tmp_path / "broken" / "data" / "train-00000-of-00001.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(MacroscopeError, match="broken: not a readable data set"):
        read(tmp_path / "broken")
    saved(tmp_path / "saved")
    with pytest.raises(MacroscopeError, match="has no configurations"):
        read(tmp_path / "saved", configuration="long")


def test_without_the_library(tmp_path, monkeypatch):
    parquet(tmp_path / "reviews")
    monkeypatch.setattr("macroscope.corpora.hub.reading.is_installed", lambda extra: extra != "datasets")
    with pytest.raises(MacroscopeError, match=r"pip install 'macroscope-text\[datasets\]'"):
        read(tmp_path / "reviews")


def test_text_and_sections_exclude_each_other():
    with pytest.raises(ValueError, match="either 'text' or 'sections'"):
        Columns(sections="parts")


def test_a_system_has_all_its_texts_in_the_test_split(tmp_path):
    parquet(tmp_path / "reviews")
    options = HubSystem(kind="hub", folder=str(tmp_path / "reviews"), columns=COLUMNS)
    output = tmp_path / "samples.parquet"
    import_data_set([tmp_path / "reviews"], output, options, corpus="real", system="model")
    assert [(d.id, d.split) for d in read_documents(output)] == [("10", "test"), ("11", "test"), ("14", "test")]
    assert read_provenance(output).source["split"] == "train"


def test_a_system_without_any_text_is_an_error(tmp_path):
    datasets.Dataset.from_dict({"text": ["", " "]}).save_to_disk(tmp_path / "blank")
    options = HubSystem(kind="hub", folder=str(tmp_path / "blank"))
    with pytest.raises(MacroscopeError, match="contains no usable text"):
        import_data_set([tmp_path / "blank"], tmp_path / "s.parquet", options, corpus="real", system="model")
