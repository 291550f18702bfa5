"""Latents of the topics critic on disk: the approximate posterior over topic strengths, a row a document.

Columns: `id`; `opening` (`documents.opening_of`); `words`, how many of the vocabulary the document has; `mean` and
`variance` of the posterior (dimensions, float64), NaN throughout where it has no word; `bound` on the log-probability
of its words (nats); `converged`, whether the search for the posterior came to rest.
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
from macroscope.critics.features import with_scores
from macroscope.errors import MacroscopeError
from macroscope.statistics.classifier_two_sample_test import DocumentFeatures
from macroscope.statistics.pairing_keys import KEYS

Array = NDArray[np.float64]


def latents_schema(dimensions: int) -> pa.Schema:
    """Columns of the latents, for so many free topic strengths."""
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
    """Documents x dimensions as a column."""
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])


@dataclass(frozen=True)
class TopicStrengths:
    """Posteriors of a collection.

    Attributes
    ----------
    keys
        `id` and `opening` of each document.
    words
        Words of the vocabulary in each.
    mean
        Of the posterior: documents x dimensions; NaN where there is no word.
    converged
        Whether the search for each posterior came to rest.
    """

    keys: pd.DataFrame
    words: NDArray[np.int64]
    mean: Array
    converged: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.keys)

    def some(self, chosen: NDArray[np.bool_]) -> "TopicStrengths":
        """Those of some documents."""
        if chosen.all():
            return self
        return TopicStrengths(self.keys[chosen], self.words[chosen], self.mean[chosen], self.converged[chosen])

    def with_words(self) -> "TopicStrengths":
        """Those that have any word of the vocabulary; none where it is only one, of which no comparison can be made."""
        known = self.words > 0
        return self.some(known & (known.sum() > 1))

    def every_other(self, first: int) -> "TopicStrengths":
        """Every second document, from the first (0) or the second (1) on."""
        return self.some(np.arange(len(self)) % 2 == first)


def read_strengths(path: Path) -> TopicStrengths:
    """Read the latents of a system, but for variances; many means lie in a file (`macroscope.arrays`)."""
    try:
        table = pq.read_table(path, columns=[*KEYS, "words", "converged"])
        mean = _read_means(path)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file of topic strengths") from None
    words, converged = (table.column(name).to_numpy() for name in ("words", "converged"))
    return TopicStrengths(table.select(KEYS).to_pandas(), words, mean, converged)


def read_posteriors(path: Path) -> Iterator[tuple[pd.DataFrame, Array, Array]]:
    """Stream the latents of a system: `KEYS` and words, means, and variances of some documents."""
    for batch in _batches(path, [*KEYS, "words", "mean", "variance"]):
        yield batch.select([*KEYS, "words"]).to_pandas(), _matrix(batch, "mean"), _matrix(batch, "variance")


def _read_means(path: Path) -> Array:
    with pq.ParquetFile(path) as file:
        found = mapped((file.metadata.num_rows, file.schema_arrow.field("mean").type.list_size))
    end = 0
    for batch in _batches(path, ["mean"]):
        start, end = end, end + len(batch)
        found[start:end] = _matrix(batch, "mean")
    return found


def _batches(path: Path, columns: list[str]) -> Iterator[pa.Table]:
    """Some documents at a time: a row group, of which Arrow keeps nothing when the next one is read."""
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group, columns=columns)


def _matrix(table: pa.Table, name: str) -> Array:
    column = table.column(name).combine_chunks()
    return np.asarray(column.flatten().to_numpy(zero_copy_only=False)).reshape(len(table), column.type.list_size)


def features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Topic strengths of every document that has a word of the vocabulary, and what `features.of_scores` sees of it."""
    found = read_strengths(latents)
    known = np.isfinite(found.mean).all(axis=1)
    return with_scores(DocumentFeatures(found.keys[known].reset_index(drop=True), found.mean[known]), latents, scores)
