"""Files of latents of the critic `languages`: posteriors over topic proportions, one row per document.

Columns: `id`; `opening` (`Document.opening`); `words`, the document's number of words of the vocabulary; and, from
the posterior over its topic proportions z, `proportions` (E z), `log_proportions` (E log z) and `log_sample` (log z of
one sample), each with one number per topic, all NaN without words.
"""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from macroscope.critics.languages.model import Array
from macroscope.critics.latents import latents_schema, read_latents, read_vectors, vector_field
from macroscope.critics.topic_shares import TopicPosteriors
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.document_groups import KEYS

_VECTORS = ("proportions", "log_proportions", "log_sample")


LATENTS = latents_schema(
    pa.field("words", pa.int64(), nullable=False), *(vector_field(name, pa.float64()) for name in _VECTORS)
)


@dataclass(frozen=True)
class TopicProportions(TopicPosteriors):
    """Posteriors over the topic proportions z of a collection's documents, of which `mean` is E z.

    Attributes
    ----------
    log_mean, log_sample
        E log z, and log z of one sample (documents x topics); NaN without words.
    """

    log_mean: Array
    log_sample: Array


def read_proportions(path: Path) -> TopicProportions:
    """Read the latents of a system."""
    table = read_latents(path, LATENTS, [*KEYS, "words"])
    vectors = (read_vectors(path, LATENTS, name) for name in _VECTORS)
    return TopicProportions(table.select(KEYS).to_pandas(), table.column("words").to_numpy(), *vectors)


def read_document_features(latents: Path, scores: Path | None) -> DocumentFeatures:
    """Read the features of documents with words of the vocabulary: log proportions, and those of their scores."""
    proportions = read_proportions(latents)
    return proportions.features(proportions.log_mean, latents, scores)
