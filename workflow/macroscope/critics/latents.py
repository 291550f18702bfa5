"""Batched reading and writing of latents and scores: memory does not grow with the number of documents."""

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
    """Read latents in batches of documents.

    Parameters
    ----------
    what
        Contents of the file, for the error message if it does not exist.
    columns
        Names of the columns to read; None: all.
    at_once
        Largest number of rows per batch.

    Raises
    ------
    MacroscopeError
        If there is no such file.
    """
    try:
        file = pq.ParquetFile(path)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file of {what}") from None
    for batch in file.iter_batches(batch_size=at_once, columns=list(columns) if columns else None):
        yield batch.to_pandas()


def write_scores(scores: Iterable[pd.DataFrame], output: Path, latents: Path) -> None:
    """Write scores as a stream, with types that do not depend on their values; `categories` are lists of names.

    Parameters
    ----------
    latents
        Path of the scored latents, for the error message if there are no scores.

    Raises
    ------
    MacroscopeError
        If there are no scores.
    """
    tables = map(_to_table, scores)
    first = next(tables, None)
    if first is None:
        raise MacroscopeError(f"{latents}: no documents to score, the system produced none; check its samples")
    with atomic(output) as temporary, pq.ParquetWriter(temporary, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _to_table(scores: pd.DataFrame) -> pa.Table:
    schema = pa.Schema.from_pandas(scores.drop(columns=CATEGORIES, errors="ignore"), preserve_index=False)
    if CATEGORIES in scores:
        schema = schema.append(pa.field(CATEGORIES, pa.list_(pa.string())))
    return pa.Table.from_pandas(scores, schema)


KEY = b"macroscope"
"""Metadata key: JSON with `signature`, and further information from the critic about its latents."""


def add_signature(schema: pa.Schema, signature: str) -> pa.Schema:
    """Add the signature of the stage `project` to the metadata of a schema."""
    about = {KEY: json.dumps({"signature": signature}, ensure_ascii=False).encode()}
    return schema.with_metadata({**(schema.metadata or {}), **about})


def read_signature(latents: Path) -> str:
    """Read the signature of latents: key:value pairs joined by '|', or "" if the file has no signature."""
    metadata = pq.ParquetFile(latents).metadata.metadata or {}
    return str(json.loads(metadata.get(KEY, b"{}")).get("signature", ""))


def gather(shards_of_latents: Sequence[Path], output: Path) -> None:
    """Concatenate shards in the given order, one row group at a time.

    Metadata that are equal in all shards are kept. If the metadata are JSON with "counts", the counts are summed.

    Raises
    ------
    MacroscopeError
        If the metadata of the shards differ in anything but counts.
    """
    files = [pq.ParquetFile(path) for path in shards_of_latents]
    metadata = [custom_metadata(file) for file in files]
    merged = {key: _merge_metadata([entries[key] for entries in metadata], shards_of_latents) for key in metadata[0]}
    schema = files[0].schema_arrow.with_metadata(merged)
    with atomic(output) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for file in files:
            for group in range(file.num_row_groups):
                writer.write_table(file.read_row_group(group).replace_schema_metadata(merged))


def custom_metadata(file: pq.ParquetFile) -> dict[bytes, bytes]:
    """Return the metadata of a file, without those that the format adds."""
    return {key: value for key, value in (file.metadata.metadata or {}).items() if key != b"ARROW:schema"}


def _merge_metadata(values: Sequence[bytes], shards: Sequence[Path]) -> bytes:
    parts = [_parsed(value) for value in values]
    counts = [part.pop("counts", {}) for part in parts]
    if any(part != parts[0] for part in parts) or any(count.keys() != counts[0].keys() for count in counts):
        raise MacroscopeError(
            f"{shards[0]} and the other shards come from different options; project the documents again"
        )
    if not counts[0]:
        return values[0]
    total = {name: sum(count[name] for count in counts) for name in counts[0]}
    return json.dumps(parts[0] | {"counts": total}, ensure_ascii=False).encode()


def _parsed(value: bytes) -> dict[str, Any]:
    """Parse a JSON object; return anything else unchanged under the key ""."""
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = None
    return parsed if isinstance(parsed, dict) else {"": value}
