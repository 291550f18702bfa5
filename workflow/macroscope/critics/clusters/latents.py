"""Latents of the clusters critic on disk: an embedding of every text.

Columns: `id`; `opening` (`Document.opening`); `embedding`, a vector of the encoder's width; `truncated`, whether
the text was longer than `max_tokens`; `excerpt`, the first characters of the text.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from macroscope.critics.clusters.kmeans import Vectors, blocks, take_rows
from macroscope.critics.latents import latents_schema, read_latents, read_vectors, vector_field
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.document_groups import KEYS

LATENTS = latents_schema(
    vector_field("embedding", pa.float32()),
    pa.field("truncated", pa.bool_(), nullable=False),
    pa.field("excerpt", pa.string(), nullable=False),
)


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
    table = read_latents(path, LATENTS, [*KEYS, "truncated", "excerpt"])
    keys, excerpts = table.select(KEYS).to_pandas(), table.column("excerpt").to_pylist()
    return Embeddings(keys, excerpts, read_vectors(path, LATENTS, "embedding"), table.column("truncated").to_numpy())


def features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Return the embedding of every document that has a finite one."""
    texts = read_embeddings(latents)
    texts = texts.select(texts.has_embedding())
    return DocumentFeatures(texts.keys.reset_index(drop=True), texts.vectors.astype(float))
