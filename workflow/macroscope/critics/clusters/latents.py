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

from macroscope.arrays import mapped
from macroscope.critics.clusters.blocks import Vectors, blocks, taken
from macroscope.errors import MacroscopeError
from macroscope.statistics.classifier_two_sample_test import DocumentFeatures
from macroscope.statistics.pairing_keys import KEYS


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
        parts = [np.isfinite(self.vectors[some]).all(axis=1) for some in blocks(len(self))]
        return np.concatenate([np.empty(0, bool), *parts])

    def some(self, chosen: NDArray[Any]) -> "Embeddings":
        """Those of some texts, by number or flag."""
        numbers = np.arange(len(self))[chosen]
        if len(numbers) == len(self) and (numbers == np.arange(len(self))).all():
            return self
        return Embeddings(
            self.keys.iloc[numbers],
            [self.excerpts[i] for i in numbers],
            taken(self.vectors, numbers),
            self.truncated[numbers],
        )

    def every_other(self, first: int) -> "Embeddings":
        """Every other text."""
        return self.some(np.arange(len(self)) % 2 == first)


def read_embeddings(path: Path) -> Embeddings:
    """Read the latents of a system."""
    try:
        table = pq.read_table(path, columns=[*KEYS, "truncated", "excerpt"])
        vectors = _read_vectors(path)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file of embeddings") from None
    truncated = table.column("truncated").to_numpy()
    keys = table.select(KEYS).to_pandas()
    return Embeddings(keys, table.column("excerpt").to_pylist(), vectors, truncated)


def _read_vectors(path: Path) -> Vectors:
    """Embeddings of all texts, a row group at a time: `iter_batches` keeps what it has decoded."""
    with pq.ParquetFile(path) as file:
        width = file.schema_arrow.field("embedding").type.list_size
        found = mapped((file.metadata.num_rows, width), np.float32)
        end = 0
        for group in range(file.num_row_groups):
            column = file.read_row_group(group, columns=["embedding"]).column(0).combine_chunks()
            start, end = end, end + len(column)
            found[start:end] = column.flatten().to_numpy().reshape(-1, found.shape[1])
    pa.default_memory_pool().release_unused()  # what Arrow has freed it keeps: 2 GB after a million embeddings
    return found


def features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """The embedding of every document that has one."""
    texts = read_embeddings(latents)
    texts = texts.some(texts.known())
    return DocumentFeatures(texts.keys.reset_index(drop=True), texts.vectors.astype(float))
