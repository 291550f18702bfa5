"""The documents contract."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from macroscope.documents import (
    Count,
    Document,
    Provenance,
    Section,
    read_documents,
    read_provenance,
    write_documents,
)
from macroscope.errors import MacroscopeError

DOCUMENT = Document("a", "train", "A", (Section("s", "text"), Section(None, "")), ("One.", "Two."))

sections = st.lists(st.builds(Section, st.none() | st.text(max_size=5), st.text(max_size=9)), min_size=1, max_size=3)
documents = st.builds(
    Document,
    id=st.text(min_size=1, max_size=8),
    split=st.sampled_from(["train", "valid", "test"]),
    title=st.none() | st.text(max_size=5),
    sections=sections.map(tuple),
    label=st.none() | st.text(max_size=5),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(documents, max_size=8, unique_by=lambda d: d.id))
def test_round_trip(tmp_path, many):
    path = tmp_path / "d.parquet"
    provenance = Provenance("c", {"name": "x"}, {"k": 1}, [Count("rare", 3, 1)])
    assert write_documents(path, many, provenance) == len(many)
    assert list(read_documents(path)) == many
    assert read_provenance(path) == provenance
    assert list(read_documents(path, "test")) == [d for d in many if d.split == "test"]


def test_sentences_round_trip(tmp_path):
    write_documents(tmp_path / "d.parquet", [DOCUMENT], Provenance("c"))
    assert list(read_documents(tmp_path / "d.parquet")) == [DOCUMENT]


def test_collections_written_without_labels_can_be_read(tmp_path):
    write_documents(tmp_path / "new.parquet", [DOCUMENT], Provenance("c"))
    old = pq.read_table(tmp_path / "new.parquet").drop_columns(["label"])
    pq.write_table(old, tmp_path / "old.parquet")
    assert list(read_documents(tmp_path / "old.parquet")) == [DOCUMENT]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Document("", "train", None, DOCUMENT.sections), "has no id"),
        (Document("x", "dev", None, DOCUMENT.sections), "split is 'dev'"),
        (Document("x", "train", None, ()), "document 'x' has no sections"),
        (DOCUMENT, "two documents have the id 'a'"),
    ],
)
def test_broken_documents_are_refused_and_leave_no_file(tmp_path, wrong, message):
    with pytest.raises(MacroscopeError, match=message):
        write_documents(tmp_path / "d.parquet", [DOCUMENT, wrong], Provenance("c"))
    assert list(tmp_path.iterdir()) == []


def test_counts_may_grow_while_documents_are_written(tmp_path):
    provenance = Provenance("c", counts=[Count("x", 0, 0)])

    def stream():
        for n in range(2500):
            provenance.counts[0].kept += 1
            yield Document(f"d{n}", "train", None, DOCUMENT.sections)

    write_documents(tmp_path / "d.parquet", stream(), provenance)
    assert read_provenance(tmp_path / "d.parquet").counts == [Count("x", 2500, 0)]


def test_other_files_are_one_sentence(tmp_path):
    with pytest.raises(MacroscopeError, match="no such file"):
        list(read_documents(tmp_path / "none.parquet"))
    (tmp_path / "text.parquet").write_text("words")
    with pytest.raises(MacroscopeError, match="not a readable Parquet file"):
        list(read_documents(tmp_path / "text.parquet"))
    pq.write_table(pa.table({"id": ["a"]}), tmp_path / "other.parquet")
    with pytest.raises(MacroscopeError, match="no column 'split'"):
        list(read_documents(tmp_path / "other.parquet"))
