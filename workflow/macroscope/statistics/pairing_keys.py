"""Keys by which documents are paired: their ids, and their first words (`Document.opening`)."""

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

ID, OPENING = "id", "opening"
KEYS = (ID, OPENING)
"""Columns by which documents are paired."""
FEWEST_PROMPTS = 10
"""Number of prompts from which on results are about prompts like these, and not about texts of these prompts alone."""


def read_keys(path: Path) -> pd.DataFrame:
    """Read the `KEYS` of the documents of a Parquet file of latents, as far as it has them."""
    columns = [name for name in KEYS if name in pq.read_schema(path).names]
    return pd.read_parquet(path, columns=columns)
