"""Latents and scores some documents at a time, so that memory does not grow with their number."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.statistics.category_counts import CATEGORIES


def read_batches(
    path: Path, what: str, columns: Sequence[str] | None = None, at_once: int = 10_000
) -> Iterator[pd.DataFrame]:
    """Read latents, some documents at a time.

    Parameters
    ----------
    what
        They are, for the message where there is no such file.
    columns
        That are read; None: all.
    """
    try:
        file = pq.ParquetFile(path)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file of {what}") from None
    for batch in file.iter_batches(batch_size=at_once, columns=list(columns) if columns else None):
        yield batch.to_pandas()


def write_scores(scores: Iterable[pd.DataFrame], output: Path, latents: Path) -> None:
    """Write scores, streaming, with the types that they have whatever is in them; `categories` are lists of names.

    Parameters
    ----------
    latents
        What they are of, for the message where there are none.
    """
    tables = map(_typed, scores)
    first = next(tables, None)
    if first is None:
        raise MacroscopeError(f"{latents}: no documents to score; the system produced none")
    with atomic(output) as temporary, pq.ParquetWriter(temporary, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _typed(scores: pd.DataFrame) -> pa.Table:
    schema = pa.Schema.from_pandas(scores.drop(columns=CATEGORIES, errors="ignore"), preserve_index=False)
    if CATEGORIES in scores:
        schema = schema.append(pa.field(CATEGORIES, pa.list_(pa.string())))
    return pa.Table.from_pandas(scores, schema)


KEY = b"macroscope"
"""Metadata: JSON with `signature`, and whatever else a critic says of its latents."""


def signed(schema: pa.Schema, signature: str) -> pa.Schema:
    """Add the signature of the stage that projects to the metadata of a schema."""
    about = {KEY: json.dumps({"signature": signature}, ensure_ascii=False).encode()}
    return schema.with_metadata({**(schema.metadata or {}), **about})


def read_signature(latents: Path) -> str:
    """Everything that changes these latents, as key:value pairs joined by '|'; "" where the file does not say."""
    metadata = pq.ParquetFile(latents).metadata.metadata or {}
    return str(json.loads(metadata.get(KEY, b"{}")).get("signature", ""))


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
