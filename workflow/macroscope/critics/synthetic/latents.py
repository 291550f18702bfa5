"""Latents of the synthetic critic on disk.

Columns: `id`; `opening` (`documents.opening_of`); `states`, the state of each sub-sequence, `UNKNOWN` for one that the
process does not have; `tail`, whether there are tokens behind the last delimiter; `unknown_symbols`, how many tokens
the process never writes; `tokens`, how many there are.
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
    """Stream the latents of a system."""
    return read_batches(path, "states")


def read_states(path: Path) -> Iterator[list[int]]:
    """Stream the states of every document."""
    for table in read_latents(path):
        yield from (some.tolist() for some in table["states"])
