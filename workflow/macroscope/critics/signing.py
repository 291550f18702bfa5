"""What latents depend on, in the metadata of their file."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

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
