"""Latents on disk: declared columns are checked, and concatenated shards equal the output of one job."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from macroscope.critics.latents import (
    custom_metadata,
    gather,
    latents_schema,
    open_latents,
    read_latents,
    read_metadata,
    read_numbers,
    read_vectors,
    set_width,
    stream_latents,
    vector_column,
    vector_field,
    vectors_of,
    write_latents,
)
from macroscope.errors import MacroscopeError

DECLARED = latents_schema(
    pa.field("words", pa.int32(), nullable=False),
    vector_field("mean", pa.float64()),
    pa.field("names", pa.list_(pa.string())),
)
VECTORS = np.arange(15.0).reshape(5, 3)


def table(rows, words=None):
    """Return latents of the documents with these numbers."""
    ids, names = pa.array([f"d{n}" for n in rows]), pa.array([None if n == 1 else ["é"] * n for n in rows])
    words = pa.array(rows, pa.int32()) if words is None else words
    return pa.table([ids, ids, words, vector_column(VECTORS[rows]), names], names=DECLARED.names)


@pytest.fixture
def written(tmp_path):
    """Return the path of latents of five documents, in two row groups."""
    counts = {"documents": 0}

    def batches():
        for rows in ([0, 1, 2], [3, 4]):
            counts["documents"] += len(rows)
            yield table(rows)

    write_latents(tmp_path / "l.parquet", set_width(DECLARED, 3), batches(), "s", {"counts": counts})
    return tmp_path / "l.parquet"


def test_latents_are_read_as_they_were_written(written):
    whole = read_latents(written, DECLARED)
    assert whole["id"].to_pylist() == [f"d{n}" for n in range(5)]
    assert whole["names"].to_pylist() == [[], None, ["é"] * 2, ["é"] * 3, ["é"] * 4]
    assert vectors_of(whole, "mean").tolist() == read_vectors(written, DECLARED, "mean").tolist() == VECTORS.tolist()
    batches = list(stream_latents(written, DECLARED, ["words"]))
    assert [batch.to_pydict() for batch in batches] == [{"words": [0, 1, 2]}, {"words": [3, 4]}]
    assert read_latents(written, DECLARED, ["words", "id"]).column_names == ["words", "id"]
    assert read_metadata(written)["signature"] == "s"
    assert read_metadata(written) == {"signature": "s", "counts": {"documents": 5}}


def test_numbers_of_any_latents_are_read_without_their_other_columns(written, tmp_path):
    keys, numbers = read_numbers(written)
    assert list(keys) == ["id", "opening"]
    assert numbers.to_dict("list") == {"words": list(range(5))}
    pd.DataFrame({"id": [1], "share": [0.5], "is_long": [True], "word": ["a"]}).to_parquet(tmp_path / "other.parquet")
    keys, numbers = read_numbers(tmp_path / "other.parquet")
    assert keys.to_dict("list") == {"id": [1]}
    assert numbers.to_dict("list") == {"share": [0.5], "is_long": [True]}


def test_no_documents_are_no_rows(tmp_path):
    write_latents(tmp_path / "l.parquet", set_width(DECLARED, 3), [], "s")
    assert read_latents(tmp_path / "l.parquet", DECLARED, ["id", "words"]).to_pydict() == {"id": [], "words": []}
    assert read_vectors(tmp_path / "l.parquet", DECLARED, "mean").shape == (0, 3)


def test_missing_foreign_and_damaged_latents_are_one_sentence(written, tmp_path):
    def message(path, schema=DECLARED):
        with pytest.raises(MacroscopeError) as error:
            read_latents(path, schema)
        assert "\n" not in str(error.value)
        return str(error.value)

    assert message(tmp_path / "none.parquet").endswith("none.parquet: no such file of latents; project the texts first")
    foreign = latents_schema(pa.field("states", pa.list_(pa.int32())))
    assert "no column 'states', so these are not latents of this critic" in message(written, foreign)
    other_type = latents_schema(pa.field("words", pa.list_(pa.int32())))
    assert "the column 'words' has values of type int32 instead of list<" in message(written, other_type)
    content = written.read_bytes()
    for damaged in (content[: len(content) // 2], b"text", b"", content[:4] + b"\x5a" * 400 + content[404:]):
        written.write_bytes(damaged)
        assert f"{written}: not a readable Parquet file (" in message(written)


@pytest.mark.parametrize(
    ("given", "declared", "same"),
    [
        (pa.list_(pa.float32(), 7), pa.list_(pa.float32(), 0), True),
        (pa.list_(pa.float64(), 7), pa.list_(pa.float32(), 0), False),
        (pa.list_(pa.float32()), pa.list_(pa.float32(), 0), False),
        (pa.list_(pa.list_(pa.int32())), pa.list_(pa.list_(pa.int32())), True),
        (pa.list_(pa.int32()), pa.list_(pa.string()), False),
        (pa.large_string(), pa.string(), True),  # pandas writes these
        (pa.int64(), pa.int32(), False),
    ],
)
def test_types_of_columns_are_compared(tmp_path, given, declared, same):
    columns = {"id": pa.array([], pa.string()), "opening": pa.array([], pa.string()), "z": pa.array([], given)}
    pq.write_table(pa.table(columns), tmp_path / "l.parquet")
    schema = latents_schema(pa.field("z", declared))
    if same:
        assert open_latents(tmp_path / "l.parquet", schema).metadata.num_rows == 0
    else:
        with pytest.raises(MacroscopeError, match="the column 'z' has values of type"):
            open_latents(tmp_path / "l.parquet", schema)


# ---- shards ----------------------------------------------------------------------------------------------------------


def shard(path, ids, *metadata):
    """Write a shard with one row per row group; each metadata value is JSON or bytes."""
    encoded = {f"key{n}": m if isinstance(m, bytes) else json.dumps(m).encode() for n, m in enumerate(metadata)}
    table = pa.table({"id": pa.array(ids, pa.string())}).replace_schema_metadata(encoded)
    pq.write_table(table, path, row_group_size=1)
    return path


def gathered(folder, *shards):
    """Concatenate shards, and return the ids and metadata."""
    gather(shards, folder / "whole.parquet")
    file = pq.ParquetFile(folder / "whole.parquet")
    return file.read()["id"].to_pylist(), {key.decode(): json.loads(v) for key, v in custom_metadata(file).items()}


def test_rows_stay_in_order_and_counts_are_summed(tmp_path):
    shards = [
        shard(tmp_path / f"{n}", ids, {"signature": "s", "types": ["é"], "counts": {"documents": len(ids), "cut": n}})
        for n, ids in enumerate((["b", "a"], ["d"], ["c", "e", "f"]))
    ]
    ids, metadata = gathered(tmp_path, *shards)
    assert ids == ["b", "a", "d", "c", "e", "f"]
    assert metadata == {"key0": {"signature": "s", "types": ["é"], "counts": {"documents": 6, "cut": 3}}}
    assert pq.ParquetFile(tmp_path / "whole.parquet").num_row_groups == 6


def test_common_metadata_are_kept(tmp_path):
    shards = [shard(tmp_path / name, [name], 4, {"counts": {"documents": 1}, "options": 1}) for name in "ab"]
    _, metadata = gathered(tmp_path, *shards)
    assert metadata == {"key0": 4, "key1": {"counts": {"documents": 2}, "options": 1}}


def test_one_shard_and_an_empty_one(tmp_path):
    counts = [{"counts": {"documents": 1}}, {"counts": {"documents": 0}}]
    full, empty = shard(tmp_path / "one", ["a"], counts[0]), shard(tmp_path / "none", [], counts[1])
    assert gathered(tmp_path, full) == (["a"], {"key0": counts[0]})
    assert gathered(tmp_path, empty) == ([], {"key0": counts[1]})
    assert gathered(tmp_path, full, empty) == (["a"], {"key0": counts[0]})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"signature": "a", "counts": {"n": 1}}, {"signature": "b", "counts": {"n": 2}}),
        ({"counts": {"n": 1}}, {"counts": {"n": 1}, "more": 1}),
        ({"signature": "a"}, {"signature": "b"}),
        (4, 8),
        (b"text", b"other"),
    ],
)
def test_shards_with_different_options_are_an_error_and_leave_no_file(tmp_path, first, second):
    shards = [shard(tmp_path / name, [name], given) for name, given in (("a", first), ("b", second))]
    with pytest.raises(MacroscopeError, match="a and the other shards come from different options"):
        gather(shards, tmp_path / "whole.parquet")
    assert not (tmp_path / "whole.parquet").exists()


def test_shards_with_different_counts_are_an_error(tmp_path):
    shards = [shard(tmp_path / name, [name], {"counts": {f"of_{name}": 1}}) for name in "ab"]
    with pytest.raises(MacroscopeError, match="come from different options"):
        gather(shards, tmp_path / "whole.parquet")
