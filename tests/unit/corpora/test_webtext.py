"""Texts in the layout of openai/gpt-2-output-dataset, from the raw file to the documents."""

import csv
import gzip
import json
from collections import Counter

import pytest

from macroscope.corpora.prepare import extract, prepare
from macroscope.corpora.retrieval import retrieve
from macroscope.corpora.webtext import WebTextCorpus, read_texts, read_webtext
from macroscope.documents import Provenance, Section, read_documents, read_provenance
from macroscope.errors import MacroscopeError
from macroscope.readers.splits import assign_split, parse_split

OPTIONS = WebTextCorpus(source="webtext")
OFFICIAL = (
    '{"id": 255000, "ended": true, "length": 134, "text": "Is this restaurant family-friendly ? Yes No Unsure\\n\\n'
    'Does it take   reservations ?\\n"}\n'
    '{"id": 255001, "ended": false, "length": 1024, "text": "# No heading\\n\\nAnd no section."}\n'
)


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def read(path, options=OPTIONS, provenance=None):
    return list(read_webtext(options, path, provenance or Provenance("test")))


@pytest.mark.parametrize("name", ["webtext.test.jsonl", "xl-1542M-k40.test.jsonl.gz"])
def test_a_line_is_a_document_of_one_untitled_section(tmp_path, name):
    raw = OFFICIAL.encode()
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    documents = read(tmp_path / name)
    assert [(d.id, d.split, d.title, d.label) for d in documents] == [
        ("255000", "test", None, None),
        ("255001", "test", None, None),
    ]
    assert documents[0].sections == (
        Section(None, "Is this restaurant family-friendly ? Yes No Unsure\nDoes it take reservations ?"),
    )
    assert documents[1].sections == (Section(None, "# No heading\nAnd no section."),)


def test_splits_by_file_name_else_by_hash(tmp_path):
    records = lines(*({"id": n, "text": "Words."} for n in range(300)))
    hashed = [assign_split(str(n), 0.1, 0.1) for n in range(300)]
    for name, expected in (("webtext.valid.jsonl", ["valid"] * 300), ("mine.jsonl", hashed)):
        (tmp_path / name).write_text(records)
        assert [d.split for d in read(tmp_path / name)] == expected
    by_hash = OPTIONS.model_copy(update={"official_splits": False})
    assert [d.split for d in read(tmp_path / "webtext.valid.jsonl", by_hash)] == hashed
    assert [parse_split(name) for name in ("small-117M.train.jsonl", "latest.jsonl", "test.jsonl")] == [
        "train",
        None,
        None,
    ]


def test_dropped_texts_are_counted(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(
        lines({"id": 1, "text": "One."}, {"id": 2, "text": " \n\n"}, {"id": 1, "text": "Two."}, {"text": "x"})
    )
    provenance = Provenance("test")
    assert [d.id for d in read(path, provenance=provenance)] == ["1", "mine-4"]
    assert [(c.filter, c.kept, c.dropped) for c in provenance.counts] == [
        ("text without words", 3, 1),
        ("text id that occurred before", 2, 1),
    ]


def test_ids_are_unique_over_the_files_of_a_system(tmp_path):
    paths = [tmp_path / "a.test.jsonl", tmp_path / "b.valid.jsonl"]
    for path in paths:
        path.write_text(lines({"id": 1, "text": path.name, "label": "x"}))
    provenance = Provenance("test")
    assert [(d.id, d.split, d.label) for d in read_texts(paths, provenance)] == [("1", "test", "x")]
    assert provenance.counts[1].dropped == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": 2, "text": "cut', "line 2 is not valid JSON"),
        ('["a"]', "line 2 is a JSON list"),
        ('{"id": 2}', "line 2: 'text' is missing; a line of this format has id, ended, length and text"),
        ('{"id": 2, "text": null}', "line 2: 'text' is a NoneType"),
        ('{"id": 2.5, "text": "a"}', "line 2: 'id' is a float"),
        ('{"id": 2, "text": "a", "label": 3}', "line 2: 'label' is a int"),
    ],
)
def test_malformed_lines(tmp_path, line, message):
    path = tmp_path / "webtext.test.jsonl"
    path.write_text(f"{lines({'id': 1, 'text': 'a'})}{line}\n")
    with pytest.raises(MacroscopeError) as error:
        read(path)
    assert f"webtext.test.jsonl, {message}" in str(error.value)


def test_retrieved_from_a_mirror_and_prepared_with_the_default_filters(tmp_path):
    mirror = tmp_path / "mirror" / "gpt-2" / "output-dataset" / "v1"
    mirror.mkdir(parents=True)
    for number, split in enumerate(("train", "valid", "test")):
        records = ({"id": 10 * number + n, "ended": True, "length": 1, "text": "word " * n} for n in range(4))
        (mirror / f"webtext.{split}.jsonl").write_text(lines(*records))
        name = f"webtext.{split}.jsonl"
        retrieve("webtext", name, tmp_path / name, (tmp_path / "mirror").as_uri())
        extract("web", OPTIONS, tmp_path / name, tmp_path / f"{split}.parquet", 1)
    documents = tmp_path / "documents.parquet"
    prepare("web", OPTIONS, [tmp_path / f"{split}.parquet" for split in ("train", "valid", "test")], documents)
    assert Counter(d.split for d in read_documents(documents)) == {"train": 3, "valid": 3, "test": 3}
    parts = read_provenance(documents).source["parts"]
    assert [part["file"] for part in parts] == ["webtext.train.jsonl", "webtext.valid.jsonl", "webtext.test.jsonl"]
    assert all(part["retrieved_as"] == "webtext" and part["sha256"] for part in parts)
    with (tmp_path / "filters.csv").open() as stream:
        assert {row["filter"] for row in csv.DictReader(stream) if row["dropped"] != "0"} == {"text without words"}


def test_only_test_texts_need_a_split_by_hash(tmp_path):
    (tmp_path / "webtext.test.jsonl").write_text(lines(*({"id": n, "text": "Words."} for n in range(50))))
    documents = tmp_path / "documents.parquet"
    extract("web", OPTIONS, tmp_path / "webtext.test.jsonl", tmp_path / "part.parquet", 1)
    with pytest.raises(MacroscopeError, match=r"no training document is in its raw files.*'official_splits: false'"):
        prepare("web", OPTIONS, [tmp_path / "part.parquet"], documents)
    by_hash = OPTIONS.model_copy(update={"official_splits": False})
    extract("web", by_hash, tmp_path / "webtext.test.jsonl", tmp_path / "part.parquet", 1)
    prepare("web", by_hash, [tmp_path / "part.parquet"], documents)
    assert {d.split for d in read_documents(documents)} >= {"train", "test"}


@pytest.mark.slow
def test_real_texts(real_text):
    for split, texts in (("valid", 4724), ("test", 4723)):
        provenance = Provenance("test")
        documents = read(real_text("webtext_sample") / f"webtext.{split}.jsonl", provenance=provenance)
        assert len(documents) == texts
        assert [c.dropped for c in provenance.counts] == [0, 0]
        assert {d.split for d in documents} == {split}
        assert not any("\n\n" in d.sections[0].text for d in documents)
