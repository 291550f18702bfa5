"""Latents of the languages critic on disk: the posterior over topic proportions, a row a document.

Columns: `id`; `opening` (`documents.opening_of`); `words`, how many of the vocabulary the document has; and of the
posterior over its topic proportions z `proportions` (E z), `log_proportions` (E log z) and `log_sample` (log z of a
draw), one number a topic each, NaN throughout where it has no word.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from macroscope.critics.features import with_scores
from macroscope.critics.languages.model import Array
from macroscope.errors import MacroscopeError
from macroscope.statistics.classifier_two_sample_test import DocumentFeatures
from macroscope.statistics.pairing_keys import KEYS

_VECTORS = ("proportions", "log_proportions", "log_sample")


def latents_schema(topics: int) -> pa.Schema:
    """Columns of the latents, for so many topics."""
    vector = pa.list_(pa.float64(), topics)
    return pa.schema(
        [
            *(pa.field(name, pa.string(), nullable=False) for name in KEYS),
            pa.field("words", pa.int64(), nullable=False),
            *(pa.field(name, vector, nullable=False) for name in _VECTORS),
        ]
    )


@dataclass(frozen=True)
class TopicProportions:
    """Posteriors of a collection.

    Attributes
    ----------
    keys
        `id` and `opening` of each document.
    words
        Words of the vocabulary in each.
    mean, log_mean, log_sample
        E z, E log z, log z of a draw: documents x topics; NaN where there is no word.
    """

    keys: pd.DataFrame
    words: NDArray[np.int64]
    mean: Array
    log_mean: Array
    log_sample: Array

    def __len__(self) -> int:
        return len(self.keys)

    def some(self, chosen: NDArray[np.bool_]) -> "TopicProportions":
        """Those of some documents."""
        return TopicProportions(
            self.keys[chosen], self.words[chosen], self.mean[chosen], self.log_mean[chosen], self.log_sample[chosen]
        )

    def with_words(self) -> "TopicProportions":
        """Those that have any word of the vocabulary; none where it is only one, of which no comparison can be made."""
        known = self.words > 0
        return self.some(known & (known.sum() > 1))

    def every_other(self, first: int) -> "TopicProportions":
        """Every second document, from the first (0) or the second (1) on."""
        return self.some(np.arange(len(self)) % 2 == first)


def read_proportions(path: Path) -> TopicProportions:
    """Read the latents of a system."""
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file of topic proportions") from None
    columns = (table.column(name).combine_chunks() for name in _VECTORS)
    vectors = [c.flatten().to_numpy(zero_copy_only=False).reshape(len(table), c.type.list_size) for c in columns]
    return TopicProportions(table.select(KEYS).to_pandas(), table.column("words").to_numpy(), *vectors)


def features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Log proportions of every document with a word of the vocabulary, and what `features.of_scores` sees of it."""
    found = read_proportions(latents)
    known = np.isfinite(found.log_mean).all(axis=1)
    return with_scores(
        DocumentFeatures(found.keys[known].reset_index(drop=True), found.log_mean[known]), latents, scores
    )
