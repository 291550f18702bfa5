"""Files of latents of the critic `topics`: approximate posteriors over topic strengths, one row per document.

Columns: `id`; `opening` (`Document.opening`); `words`, the document's number of words of the vocabulary; `mean` and
`variance` of the posterior (dimensions, float64), all NaN without words; `bound` on the log-probability of its words
(nats); `converged`, whether the inference converged; `patchiness` of the topics (`measure_patchiness`), null if
undefined.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from macroscope.critics.latents import (
    latents_schema,
    read_latents,
    read_vectors,
    stream_latents,
    vector_field,
    vectors_of,
)
from macroscope.critics.topic_shares import STATISTICS as SHARED_STATISTICS
from macroscope.critics.topic_shares import TopicPosteriors
from macroscope.statistics.columns import NUMBERS
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.document_groups import KEYS

STATISTICS = (
    Statistic("not_converged_share", "share of the system's texts"),
    *SHARED_STATISTICS,
    *(replace(statistic, pattern=f"patchiness_{statistic.pattern}") for statistic in NUMBERS),
)
Array = NDArray[np.float64]


LATENTS = latents_schema(
    pa.field("words", pa.int64(), nullable=False),
    vector_field("mean", pa.float64()),
    vector_field("variance", pa.float64()),
    pa.field("bound", pa.float64()),
    pa.field("converged", pa.bool_(), nullable=False),
    pa.field("patchiness", pa.float64()),
)


@dataclass(frozen=True)
class TopicStrengths(TopicPosteriors):
    """Posteriors over the topic strengths of a collection's documents.

    Attributes
    ----------
    converged
        Whether the inference of each posterior converged.
    """

    converged: NDArray[np.bool_]


def read_strengths(path: Path) -> TopicStrengths:
    """Read the latents of a system without variances; large arrays of means are memory-mapped (`macroscope.arrays`)."""
    table = read_latents(path, LATENTS, [*KEYS, "words", "converged"])
    words, converged = (table.column(name).to_numpy() for name in ("words", "converged"))
    return TopicStrengths(table.select(KEYS).to_pandas(), words, read_vectors(path, LATENTS, "mean"), converged)


def read_posteriors(path: Path) -> Iterator[tuple[pd.DataFrame, Array, Array]]:
    """Read the latents of a system in batches: `KEYS`, words, bound and patchiness; means; and variances."""
    numbers = [*KEYS, "words", "bound", "patchiness"]
    for batch in stream_latents(path, LATENTS, [*numbers, "mean", "variance"]):
        yield batch.select(numbers).to_pandas(), vectors_of(batch, "mean"), vectors_of(batch, "variance")


def read_document_features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Read the features of documents with words of the vocabulary: strengths, and scores."""
    strengths = read_strengths(latents)
    return strengths.features(strengths.mean, latents, scores)
