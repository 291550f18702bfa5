"""Latents of the synthetic critic on disk.

Columns: `id`; `opening` (`documents.opening_of`); `states`, the state of each sub-sequence, `UNKNOWN` for invalid ones;
`tail`, whether tokens follow the last delimiter; `unknown_symbols`, number of tokens that the process never generates;
`tokens`, number of tokens.
"""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa

from macroscope.critics.latents import read_batches
from macroscope.statistics.pairing_keys import KEYS

UNKNOWN = -1
LATENTS = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in KEYS),
        pa.field("states", pa.list_(pa.int32()), nullable=False),
        pa.field("tail", pa.bool_(), nullable=False),
        pa.field("unknown_symbols", pa.int32(), nullable=False),
        pa.field("tokens", pa.int32(), nullable=False),
    ]
)


def read_latents(path: Path) -> Iterator[pd.DataFrame]:
    """Yield the latents of a system, in batches."""
    return read_batches(path, "states")


def read_states(path: Path) -> Iterator[list[int]]:
    """Yield the states of every document."""
    for table in read_latents(path):
        yield from (states.tolist() for states in table["states"])
