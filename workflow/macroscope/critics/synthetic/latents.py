"""Latents of the synthetic critic on disk.

Columns: `id`; `opening` (`documents.opening_of`); `states`, the state of each sub-sequence, `UNKNOWN` for invalid ones;
`tail`, whether tokens follow the last delimiter; `unknown_symbols`, number of tokens that the process never generates;
`tokens`, number of tokens.
"""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from macroscope.critics.latents import latents_schema, stream_latents

UNKNOWN = -1
LATENTS = latents_schema(
    pa.field("states", pa.list_(pa.int32()), nullable=False),
    pa.field("tail", pa.bool_(), nullable=False),
    pa.field("unknown_symbols", pa.int32(), nullable=False),
    pa.field("tokens", pa.int32(), nullable=False),
)


def read_states(path: Path) -> Iterator[list[int]]:
    """Yield the states of every document."""
    for table in stream_latents(path, LATENTS, ["states"]):
        yield from table["states"].to_pylist()
