"""Concatenated shards of latents are identical to the output of one job."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from macroscope.critics.latents import custom_metadata, gather
from macroscope.errors import MacroscopeError


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
