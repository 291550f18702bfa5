"""The documents contract."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macroscope import documents as module
from macroscope.documents import (
    DOCUMENTS_AT_ONCE,
    Collection,
    Count,
    Document,
    Provenance,
    Section,
    count_documents,
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


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(documents, max_size=8, unique_by=lambda d: d.id))
def test_round_trip(tmp_path, documents):
    path = tmp_path / "d.parquet"
    provenance = Provenance("c", {"name": "x"}, {"k": 1}, [Count("rare", 3, 1)])
    assert write_documents(path, documents, provenance) == len(documents)
    assert list(read_documents(path)) == documents
    assert read_provenance(path) == provenance
    assert list(read_documents(path, "test")) == [d for d in documents if d.split == "test"]
    assert count_documents(path, "test") == sum(d.split == "test" for d in documents)


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


def test_files_of_other_formats_are_clear_errors(tmp_path):
    with pytest.raises(MacroscopeError, match="no such file"):
        list(read_documents(tmp_path / "none.parquet"))
    (tmp_path / "text.parquet").write_text("words")
    with pytest.raises(MacroscopeError, match="not a readable Parquet file"):
        list(read_documents(tmp_path / "text.parquet"))
    pq.write_table(pa.table({"id": ["a"]}), tmp_path / "other.parquet")
    with pytest.raises(MacroscopeError, match="no column 'split'"):
        list(read_documents(tmp_path / "other.parquet"))


# ---- collections and their shards ------------------------------------------------------------------------------------


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A file of ten documents in row groups of four, four and two."""
    monkeypatch.setattr(module, "ROWS_PER_GROUP", 4)
    documents = [Document(f"d{n}", "test", None, (Section(None, f"text {n}"),)) for n in range(10)]
    write_documents(tmp_path / "d.parquet", documents, Provenance("c"))
    assert pq.ParquetFile(tmp_path / "d.parquet").num_row_groups == 3
    return tmp_path / "d.parquet", documents


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, None])
def test_shards_of_any_size_give_every_document_once_in_order(stored, size):
    path, documents = stored
    shards = [Collection(path, n, size) for n in range(-(-10 // size) if size else 1)]
    assert [document for shard in shards for document in shard] == documents
    assert [len(shard) for shard in shards] == [len(list(shard)) for shard in shards]
    assert sum(map(len, shards)) == 10
    assert {shard.total for shard in shards} == {10}
    assert all(next(iter(shard)) == documents[shard.first] for shard in shards)


def test_a_collection_can_be_read_twice(stored):
    path, documents = stored
    collection = Collection(path, 1, 3)
    assert list(collection) == list(collection) == documents[3:6]


def test_shards_beyond_the_last_document_and_of_nothing_are_empty(stored, tmp_path):
    path, _ = stored
    write_documents(tmp_path / "none.parquet", [], Provenance("c"))
    for empty in (
        *(Collection(path, shard, size) for shard, size in ((10, 1), (2, 5), (9, 4))),
        *(Collection(tmp_path / "none.parquet", 0, size) for size in (None, 3)),
    ):
        assert len(empty) == 0
        assert list(empty) == []
        assert list(empty.batches()) == []


def test_row_groups_before_a_shard_are_not_read(stored, monkeypatch):
    path, documents = stored
    read, original = [], pq.ParquetFile.read_row_group

    def recorded(file, number, *arguments, **options):
        read.append(number)
        return original(file, number, *arguments, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", recorded)
    assert list(Collection(path, 1, 5)) == documents[5:]
    assert read == [1, 2]
    read.clear()
    assert list(Collection(path, 1, 3)) == documents[3:6]
    assert read == [0, 1]


def test_batches_are_the_same_whatever_the_number_of_shards(stored, monkeypatch):
    assert DOCUMENTS_AT_ONCE == 1000
    monkeypatch.setattr(module, "DOCUMENTS_AT_ONCE", 3)
    path, documents = stored
    whole = list(Collection(path).batches())
    assert whole == [documents[0:3], documents[3:6], documents[6:9], documents[9:]]
    assert [batch for n in range(2) for batch in Collection(path, n, 6).batches()] == whole


def test_a_collection_of_a_missing_file_is_a_clear_error(tmp_path):
    with pytest.raises(MacroscopeError, match="no such file"):
        len(Collection(tmp_path / "none.parquet"))


@pytest.mark.parametrize(
    ("provenance", "message"),
    [
        ("{", r"Invalid JSON"),
        ("[]", r"object"),
        ('{"corpus": "c", "source": {}, "options": {}, "counts": 3}', r"counts: Input should be"),
        ('{"corpus": "c", "source": [], "options": {}, "counts": []}', r"source: Input should be"),
        (
            '{"corpus": "c", "counts": [{"filter": "x", "kept": "m", "dropped": 1}]}',
            r"counts\.0\.kept: Input should",
        ),
        ('{"corpus": 7}', r"corpus: Input should be"),
    ],
)
def test_provenance_that_was_not_written_here_is_one_sentence(tmp_path, provenance, message):
    message = rf"d\.parquet: its provenance: not as macroscope writes it \(.*{message}"
    write_documents(tmp_path / "d.parquet", [DOCUMENT], Provenance("c"))
    table = pq.read_table(tmp_path / "d.parquet")
    pq.write_table(table.replace_schema_metadata({b"macroscope": provenance.encode()}), tmp_path / "d.parquet")
    with pytest.raises(MacroscopeError, match=message):
        read_provenance(tmp_path / "d.parquet")
