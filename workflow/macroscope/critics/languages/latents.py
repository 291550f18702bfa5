"""Files of latents of the critic `languages`: posteriors over topic proportions, one row per document.

Columns: `id`; `opening` (`Document.opening`); `words`, the document's number of words of the vocabulary; and, from
the posterior over its topic proportions z, `proportions` (E z), `log_proportions` (E log z) and `log_sample` (log z of
one sample), each with one number per topic, all NaN without words.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from macroscope.critics.features import add_score_features
from macroscope.critics.languages.model import Array
from macroscope.critics.latents import latents_schema, read_latents, read_vectors, vector_field
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.document_groups import KEYS

_VECTORS = ("proportions", "log_proportions", "log_sample")


LATENTS = latents_schema(
    pa.field("words", pa.int64(), nullable=False), *(vector_field(name, pa.float64()) for name in _VECTORS)
)


@dataclass(frozen=True)
class TopicProportions:
    """Posteriors over the topic proportions of a collection's documents.

    Attributes
    ----------
    keys
        `id` and `opening` of each document.
    words
        Number of words of the vocabulary in each document.
    mean, log_mean, log_sample
        E z, E log z, and log z of one sample (documents x topics); NaN without words.
    """

    keys: pd.DataFrame
    words: NDArray[np.int64]
    mean: Array
    log_mean: Array
    log_sample: Array

    def __len__(self) -> int:
        return len(self.keys)

    def subset(self, chosen: NDArray[np.bool_]) -> "TopicProportions":
        """Return the posteriors of the chosen documents."""
        return TopicProportions(
            self.keys[chosen], self.words[chosen], self.mean[chosen], self.log_mean[chosen], self.log_sample[chosen]
        )

    def with_words(self) -> "TopicProportions":
        """Return the documents with words of the vocabulary; none if there is only one, too few for a comparison."""
        has_words = self.words > 0
        return self.subset(has_words & (has_words.sum() > 1))

    def every_other(self, first: int) -> "TopicProportions":
        """Return every second document, from the first (0) or the second (1) on."""
        return self.subset(np.arange(len(self)) % 2 == first)


def read_proportions(path: Path) -> TopicProportions:
    """Read the latents of a system."""
    table = read_latents(path, LATENTS, [*KEYS, "words"])
    vectors = (read_vectors(path, LATENTS, name) for name in _VECTORS)
    return TopicProportions(table.select(KEYS).to_pandas(), table.column("words").to_numpy(), *vectors)


def read_document_features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Read the features of documents with words of the vocabulary: log proportions, and those of their scores."""
    proportions = read_proportions(latents)
    is_finite = np.isfinite(proportions.log_mean).all(axis=1)
    return add_score_features(
        DocumentFeatures(proportions.keys[is_finite].reset_index(drop=True), proportions.log_mean[is_finite]),
        latents,
        scores,
    )
