"""Latents of the clusters critic on disk: an embedding of every text.

Columns: `id`; `opening` (`documents.opening_of`); `embedding`, a vector of the encoder's width; `truncated`, whether
the text was longer than `max_tokens`; `excerpt`, the first characters of the text, to read.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from macroscope.errors import MacroscopeError
from macroscope.statistics.exchange import KEYS

Vectors = NDArray[np.float32]


def latents_schema(width: int) -> pa.Schema:
    """Columns of the latents, for an encoder of this width."""
    return pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            pa.field("opening", pa.string(), nullable=False),
            pa.field("embedding", pa.list_(pa.float32(), width), nullable=False),
            pa.field("truncated", pa.bool_(), nullable=False),
            pa.field("excerpt", pa.string(), nullable=False),
        ]
    )


def vector_column(vectors: Vectors) -> pa.FixedSizeListArray:
    """Vectors (texts x width) as a column."""
    return pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])


@dataclass(frozen=True)
class Embeddings:
    """Embeddings of a collection.

    Attributes
    ----------
    keys
        `id` and `opening` of each text.
    excerpts
        Of each text.
    vectors
        Texts x dimensions.
    truncated
        Whether a text was cut.
    """

    keys: pd.DataFrame
    excerpts: list[str]
    vectors: Vectors
    truncated: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.keys)

    def known(self) -> NDArray[np.bool_]:
        """Texts that have an embedding: an encoder in low precision may give numbers that are none."""
        return np.asarray(np.isfinite(self.vectors).all(axis=1))

    def some(self, chosen: NDArray[Any]) -> "Embeddings":
        """Those of some texts, by number or flag."""
        numbers = np.arange(len(self))[chosen]
        return Embeddings(
            self.keys.iloc[numbers],
            [self.excerpts[i] for i in numbers],
            self.vectors[numbers],
            self.truncated[numbers],
        )

    def every_other(self, first: int) -> "Embeddings":
        """Every other text."""
        return self.some(np.arange(len(self)) % 2 == first)


def read_embeddings(path: Path) -> Embeddings:
    """Read the latents of a system."""
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file of embeddings") from None
    column = table.column("embedding").combine_chunks()
    vectors = column.flatten().to_numpy().reshape(len(table), column.type.list_size)
    truncated = table.column("truncated").to_numpy()
    keys = table.select(KEYS).to_pandas()
    return Embeddings(keys, table.column("excerpt").to_pylist(), vectors, truncated)
