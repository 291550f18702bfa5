"""Latents of the clusters critic on disk: an embedding of every text.

Columns: `id`; `opening` (`documents.opening_of`); `embedding`, a vector of the encoder's width; `truncated`, whether
the text was longer than `max_tokens`; `excerpt`, the first characters of the text.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from macroscope.arrays import mapped
from macroscope.critics.clusters.blocks import Vectors, blocks, take_rows
from macroscope.errors import MacroscopeError
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.pairing_keys import KEYS


def latents_schema(width: int) -> pa.Schema:
    """Return the schema of the latents, for an encoder of this width."""
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
    """Return vectors (texts x width) as a column."""
    return pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])


@dataclass(frozen=True)
class Embeddings:
    """Embeddings of a collection.

    Attributes
    ----------
    keys
        `id` and `opening` of each text.
    excerpts
        Excerpt of each text.
    vectors
        Embeddings (texts x dimensions).
    truncated
        Whether each text was cut.
    """

    keys: pd.DataFrame
    excerpts: list[str]
    vectors: Vectors
    truncated: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.keys)

    def has_embedding(self) -> NDArray[np.bool_]:
        """Return whether each text has a finite embedding: an encoder in low precision may give NaN or infinity."""
        parts = [np.isfinite(self.vectors[block]).all(axis=1) for block in blocks(len(self))]
        return np.concatenate([np.empty(0, bool), *parts])

    def select(self, selection: NDArray[Any]) -> "Embeddings":
        """Return the texts with these indices or flags."""
        indices = np.arange(len(self))[selection]
        if len(indices) == len(self) and (indices == np.arange(len(self))).all():
            return self
        return Embeddings(
            self.keys.iloc[indices],
            [self.excerpts[i] for i in indices],
            take_rows(self.vectors, indices),
            self.truncated[indices],
        )

    def every_other(self, first: int) -> "Embeddings":
        """Return every other text, starting at number `first`."""
        return self.select(np.arange(len(self)) % 2 == first)


def read_embeddings(path: Path) -> Embeddings:
    """Read the latents of a system."""
    try:
        table = pq.read_table(path, columns=[*KEYS, "truncated", "excerpt"])
        vectors = _read_vectors(path)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: the file of embeddings does not exist; run the projection first") from None
    truncated = table.column("truncated").to_numpy()
    keys = table.select(KEYS).to_pandas()
    return Embeddings(keys, table.column("excerpt").to_pylist(), vectors, truncated)


def _read_vectors(path: Path) -> Vectors:
    """Read all embeddings, by row groups, since `iter_batches` keeps decoded data in memory."""
    with pq.ParquetFile(path) as file:
        width = file.schema_arrow.field("embedding").type.list_size
        vectors = mapped((file.metadata.num_rows, width), np.float32)
        end = 0
        for group in range(file.num_row_groups):
            column = file.read_row_group(group, columns=["embedding"]).column(0).combine_chunks()
            start, end = end, end + len(column)
            vectors[start:end] = column.flatten().to_numpy().reshape(-1, vectors.shape[1])
    pa.default_memory_pool().release_unused()  # Arrow keeps freed memory: 2 GB after a million embeddings
    return vectors


def features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Return the embedding of every document that has a finite one."""
    texts = read_embeddings(latents)
    texts = texts.select(texts.has_embedding())
    return DocumentFeatures(texts.keys.reset_index(drop=True), texts.vectors.astype(float))
