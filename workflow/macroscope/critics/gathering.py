"""The shards of a system's latents as one collection."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from macroscope.errors import MacroscopeError
from macroscope.files import atomic


def gather(shards: Sequence[Path], output: Path) -> None:
    """Join shards in the order given, a row group at a time.

    Metadata that all shards have in common stay as they are; of JSON that counts what was projected, under "counts",
    the counts are added up.
    """
    files = [pq.ParquetFile(path) for path in shards]
    metadata = [own_metadata(file) for file in files]
    joined = {key: _joined([some[key] for some in metadata], shards) for key in metadata[0]}
    schema = files[0].schema_arrow.with_metadata(joined)
    with atomic(output) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for file in files:
            for group in range(file.num_row_groups):
                writer.write_table(file.read_row_group(group).replace_schema_metadata(joined))


def own_metadata(file: pq.ParquetFile) -> dict[bytes, bytes]:
    """Metadata of a file but for those that the format itself adds."""
    return {key: value for key, value in (file.metadata.metadata or {}).items() if key != b"ARROW:schema"}


def _joined(values: Sequence[bytes], shards: Sequence[Path]) -> bytes:
    parts = [_parsed(value) for value in values]
    counts = [part.pop("counts", {}) for part in parts]
    if any(part != parts[0] for part in parts) or any(count.keys() != counts[0].keys() for count in counts):
        raise MacroscopeError(
            f"{shards[0]} and the other shards were not made under the same options; project the documents again"
        )
    if not counts[0]:
        return values[0]
    total = {name: sum(count[name] for count in counts) for name in counts[0]}
    return json.dumps(parts[0] | {"counts": total}, ensure_ascii=False).encode()


def _parsed(value: bytes) -> dict[str, Any]:
    """A JSON object, or anything else as it is under one key."""
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = None
    return parsed if isinstance(parsed, dict) else {"": value}
