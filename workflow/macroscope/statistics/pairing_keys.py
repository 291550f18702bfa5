"""What tells which documents belong together: their ids, and their first words (`documents.opening_of`)."""

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

OPENING = "opening"
KEYS = ("id", OPENING)
"""Columns that tell which documents belong together."""


def read_keys(path: Path) -> pd.DataFrame:
    """`KEYS` of the documents of a Parquet file of latents, as far as it has them."""
    known = [name for name in KEYS if name in pq.read_schema(path).names]
    return pd.read_parquet(path, columns=known)
