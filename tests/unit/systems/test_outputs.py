"""Samples that a kind of system wrote: what breaks the contract of documents is one sentence."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from macroscope.documents import SCHEMA, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.outputs import check_samples

SECTIONS = [{"title": None, "text": "text"}]


def _table(**columns):
    rows = {"id": ["a", "b"], "split": ["test"] * 2, "title": [None] * 2, "sections": [SECTIONS] * 2}
    rows |= {"sentences": [None] * 2, "label": [None] * 2, "original": [None] * 2, "prompt": [None] * 2} | columns
    return pa.table(rows, schema=SCHEMA.remove_metadata())


def test_samples_that_keep_the_contract_stay(tmp_path):
    path = tmp_path / "samples.parquet"
    write_documents(path, [Document("a", "test", None, (Section(None, "text"),))], Provenance("c"))
    check_samples("theirs", path)
    write_documents(path, [], Provenance("c"))
    check_samples("theirs", path)
    assert path.exists()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({"id": ["a"]}), "no column 'split'"),
        (_table(id=["a", "a"]), "2 documents have 1 ids"),
        (_table(id=["", "a"]), "a document has no id"),
        (_table(split=["test", "tset"]), "the split 'tset' is not one of train, valid, test"),
        (_table(sections=[SECTIONS, []]), "a document has no sections"),
        (_table(), "was not written by macroscope"),
        (_table().replace_schema_metadata({b"macroscope": b"[]"}), "wrote a wrong output"),
    ],
)
def test_wrong_samples_are_one_sentence_and_are_removed(tmp_path, table, message):
    path = tmp_path / "samples.parquet"
    pq.write_table(table, path)
    with pytest.raises(MacroscopeError, match=message):
        check_samples("theirs", path)
    assert not path.exists()
