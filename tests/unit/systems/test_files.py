"""Texts of the user's own model, and of published ones, as samples."""

import json

import pytest

from macroscope.corpora.retrieval import retrieve
from macroscope.documents import Document, Provenance, Section, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.files import FilesSystem, import_texts

TEXT = "# One\n\nTwo words.\n\nThree more words."
REAL = [" ".join(f"{word}{text}" for word in "abcdefghijklmnopqrstuvwxyz") for text in "xyz"]
WHOLE = (Section(None, "# One\nTwo words.\nThree more words."),)


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def samples(paths, output, **options):
    real = output.with_name("real.parquet")
    texts = (Document(f"real-{n}", "test", None, (Section(None, text),)) for n, text in enumerate(REAL))
    write_documents(real, texts, Provenance("c"))
    import_texts(paths, output, FilesSystem(kind="files", **options), documents=real, corpus="c", system="s")
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


def test_a_copy_that_goes_on_beyond_its_opening_continues_no_prompt(tmp_path):
    """Its first eight words are those of a real text, as a prompt's are: but so are those that follow."""
    words = REAL[0].split()
    new = [f"new{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    texts = {n: " ".join([*words[:n], *new[n:]]) for n in (0, 8, 11, 13, 26)}
    records = [{"id": n, "text": text} for n, text in texts.items()]
    records.append({"id": 99, "text": texts[26], "prompt": " ".join(words[:8])})
    (tmp_path / "mine.jsonl").write_text(lines(*records))
    documents = samples([tmp_path / "mine.jsonl"], tmp_path / "s.parquet", files=["mine.jsonl"])
    openings = {document.id: document.opening for document in documents}
    real = " ".join(words[:8])
    assert [openings[str(n)] for n in texts] == [" ".join(new[:8]), real, real, "", ""]
    assert openings["99"].endswith(real.removeprefix("")) or openings["99"].startswith("prompt:")
