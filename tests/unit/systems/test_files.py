"""Texts of the user's own model, and of published ones, as samples."""

import json

import pytest

from macroscope.corpora.retrieval import retrieve
from macroscope.documents import Section, read_documents, read_provenance
from macroscope.errors import MacroscopeError
from macroscope.systems.files import FilesSystem, import_texts

TEXT = "# One\n\nTwo words.\n\nThree more words."
WHOLE = (Section(None, "# One\nTwo words.\nThree more words."),)


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def samples(paths, output, **options):
    import_texts(paths, output, FilesSystem(kind="files", **options), corpus="c", system="s")
    return list(read_documents(output))


def test_a_published_model_from_a_mirror(tmp_path):
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    paths = [tmp_path / f"xl-1542M.{split}.jsonl" for split in ("valid", "test")]
    for number, path in enumerate(paths):
        (mirror / path.name).write_text(
            lines({"id": number, "text": TEXT}, {"id": 7, "text": TEXT}, {"id": 8, "text": ""})
        )
        retrieve("gpt2-xl-output", path.name, path, str(mirror))
    documents = samples(paths, tmp_path / "s.parquet", dataset="gpt2-xl-output")
    assert [(d.id, d.split, d.sections) for d in documents] == [(name, "test", WHOLE) for name in ("0", "7", "1")]
    provenance = read_provenance(tmp_path / "s.parquet")
    assert [part["retrieved_as"] for part in provenance.source["parts"]] == ["gpt2-xl-output"] * 2
    assert {c.filter: c.dropped for c in provenance.counts} == {
        "text without words": 2,
        "text id that occurred before": 1,
    }


def test_the_users_texts_in_the_same_form(tmp_path):
    (tmp_path / "mine.jsonl").write_text(lines({"id": 1, "text": TEXT, "split": "train", "label": "x"}))
    (cut,) = samples([tmp_path / "mine.jsonl"], tmp_path / "cut.parquet", files=["mine.jsonl"])
    assert [s.title for s in cut.sections] == ["One"]
    (whole,) = samples([tmp_path / "mine.jsonl"], tmp_path / "w.parquet", files=["mine.jsonl"], one_section=True)
    assert (whole.split, whole.label, whole.sections) == ("test", "x", WHOLE)


def test_files_without_usable_text(tmp_path):
    (tmp_path / "xl-1542M.test.jsonl").write_text(lines({"id": 1, "text": " "}))
    with pytest.raises(MacroscopeError, match="contain no usable text"):
        samples([tmp_path / "xl-1542M.test.jsonl"], tmp_path / "s.parquet", dataset="gpt2-xl-output")
