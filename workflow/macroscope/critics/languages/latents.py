"""Files of latents of the critic `languages`: posteriors over topic proportions, one row per document.

Columns: `id`; `opening` (`Document.opening`); `words`, the document's number of words of the vocabulary; and, from
the posterior over its topic proportions z, `proportions` (E z), `log_proportions` (E log z) and `log_sample` (log z of
one sample), each with one number per topic, all NaN without words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow as pa

from macroscope.critics.languages.model import Array, LatentDirichletAllocation, Posterior, sample_posterior
from macroscope.critics.languages.options import LanguagesOptions
from macroscope.critics.latents import (
    batches_with_progress,
    key_columns,
    latents_schema,
    read_latents,
    read_vectors,
    set_width,
    vector_column,
    vector_field,
    write_latents,
)
from macroscope.critics.topic_shares import TopicPosteriors, read_vocabulary
from macroscope.documents import Collection, Document
from macroscope.natural_language.words import lower_case_words
from macroscope.progress import Progress
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


# ---- projection ------------------------------------------------------------------------------------------------------
# documents -> latents of the critic `languages`: posteriors over topic proportions.


def project(
    texts: Collection, inference: Path, *, options: LanguagesOptions, output: Path, seed: int, signature: str = ""
) -> None:
    """Sample the posterior over topic proportions of every document; see `macroscope.critics.languages.latents`.

    Parameters
    ----------
    inference
        Folder of the model.
    seed
        Seed; each document's random numbers depend only on it and the document's id, not on the other documents.
    """
    model = LatentDirichletAllocation.load(inference / "model.npz")
    index = read_vocabulary(inference)
    batches = batches_with_progress(texts, Progress("sample topic proportions", len(texts), "documents"))
    tables = (_sample_latents(batch, index, model, options.sweeps, seed) for batch in batches)
    write_latents(output, set_width(LATENTS, len(model.alpha)), tables, signature)


def _sample_latents(
    documents: Sequence[Document],
    index: dict[str, int],
    model: LatentDirichletAllocation,
    sweeps: int,
    seed: int,
) -> pa.Table:
    """Sample the latents of a batch of documents, in their order."""
    topics = len(model.alpha)
    undefined = Posterior(*(np.full(topics, np.nan) for _ in range(3)))
    words, posteriors = [], []
    for document in documents:
        numbers = np.array([index[w] for w in lower_case_words(document.text) if w in index], dtype=np.int64)
        rng = np.random.default_rng([seed, crc32(document.text.encode())])
        words.append(len(numbers))
        posteriors.append(sample_posterior(numbers, model, sweeps, rng) if len(numbers) else undefined)
    vectors = [
        vector_column(np.stack([getattr(posterior, name) for posterior in posteriors]))
        for name in ("mean", "log_mean", "log_sample")
    ]
    columns = [*key_columns(documents), pa.array(words), *vectors]
    return pa.table(columns, schema=set_width(LATENTS, topics))
