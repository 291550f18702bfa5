"""Files of latents of the critic `topics`: approximate posteriors over topic strengths, one row per document.

Columns: `id`; `opening` (`documents.opening_of`); `words`, the document's number of words of the vocabulary; `mean` and
`variance` of the posterior (dimensions, float64), all NaN without words; `bound` on the log-probability of its words
(nats); `converged`, whether the inference converged.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from macroscope.arrays import mapped
from macroscope.critics.features import add_score_features
from macroscope.errors import MacroscopeError
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.pairing_keys import KEYS

Array = NDArray[np.float64]


def latents_schema(dimensions: int) -> pa.Schema:
    """Return the schema of the latents for a number of free topic strengths."""
    strengths = pa.list_(pa.float64(), dimensions)
    return pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            pa.field("opening", pa.string(), nullable=False),
            pa.field("words", pa.int64(), nullable=False),
            pa.field("mean", strengths, nullable=False),
            pa.field("variance", strengths, nullable=False),
            pa.field("bound", pa.float64()),
            pa.field("converged", pa.bool_(), nullable=False),
        ]
    )


def strengths_column(values: Array) -> pa.FixedSizeListArray:
    """Convert an array (documents x dimensions) to a column."""
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])


@dataclass(frozen=True)
class TopicStrengths:
    """Posteriors over the topic strengths of a collection's documents.

    Attributes
    ----------
    keys
        `id` and `opening` of each document.
    words
        Number of words of the vocabulary in each document.
    mean
        Means of the posteriors (documents x dimensions); NaN without words.
    converged
        Whether the inference of each posterior converged.
    """

    keys: pd.DataFrame
    words: NDArray[np.int64]
    mean: Array
    converged: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.keys)

    def subset(self, chosen: NDArray[np.bool_]) -> "TopicStrengths":
        """Return the posteriors of the chosen documents."""
        if chosen.all():
            return self
        return TopicStrengths(self.keys[chosen], self.words[chosen], self.mean[chosen], self.converged[chosen])

    def with_words(self) -> "TopicStrengths":
        """Return the documents with words of the vocabulary; none if there is only one, too few for a comparison."""
        has_words = self.words > 0
        return self.subset(has_words & (has_words.sum() > 1))

    def every_other(self, first: int) -> "TopicStrengths":
        """Return every second document, from the first (0) or the second (1) on."""
        return self.subset(np.arange(len(self)) % 2 == first)


def read_strengths(path: Path) -> TopicStrengths:
    """Read the latents of a system without variances; large arrays of means are memory-mapped (`macroscope.arrays`).

    Raises
    ------
    MacroscopeError
        If there is no such file.
    """
    try:
        table = pq.read_table(path, columns=[*KEYS, "words", "converged"])
        mean = _read_means(path)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file of topic strengths; project the texts first") from None
    words, converged = (table.column(name).to_numpy() for name in ("words", "converged"))
    return TopicStrengths(table.select(KEYS).to_pandas(), words, mean, converged)


def read_posteriors(path: Path) -> Iterator[tuple[pd.DataFrame, Array, Array]]:
    """Read the latents of a system in batches: `KEYS` and words, means, and variances."""
    for batch in _batches(path, [*KEYS, "words", "mean", "variance"]):
        yield batch.select([*KEYS, "words"]).to_pandas(), _matrix(batch, "mean"), _matrix(batch, "variance")


def _read_means(path: Path) -> Array:
    with pq.ParquetFile(path) as file:
        means = mapped((file.metadata.num_rows, file.schema_arrow.field("mean").type.list_size))
    end = 0
    for batch in _batches(path, ["mean"]):
        start, end = end, end + len(batch)
        means[start:end] = _matrix(batch, "mean")
    return means


def _batches(path: Path, columns: list[str]) -> Iterator[pa.Table]:
    """Read one row group at a time, so that Arrow releases each before the next one is read."""
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group, columns=columns)


def _matrix(table: pa.Table, name: str) -> Array:
    column = table.column(name).combine_chunks()
    return np.asarray(column.flatten().to_numpy(zero_copy_only=False)).reshape(len(table), column.type.list_size)


def read_document_features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Read the features of documents with words of the vocabulary: topic strengths, and those of their scores."""
    strengths = read_strengths(latents)
    is_finite = np.isfinite(strengths.mean).all(axis=1)
    features = DocumentFeatures(strengths.keys[is_finite].reset_index(drop=True), strengths.mean[is_finite])
    return add_score_features(features, latents, scores)
