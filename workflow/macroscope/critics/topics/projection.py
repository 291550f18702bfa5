"""documents -> latents of the critic `topics`: posteriors over topic strengths."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from macroscope.critics.latents import batches_with_progress, key_columns, set_width, vector_column, write_latents
from macroscope.critics.topics.inference import Convergence, infer_all
from macroscope.critics.topics.latents import LATENTS
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.options import TopicsOptions
from macroscope.critics.topics.vocabulary import TOKENIZERS, Tokenize
from macroscope.critics.topics.word_counts import count_words
from macroscope.documents import Collection, Document
from macroscope.files import read_json
from macroscope.progress import Progress

CONVERGENCE = Convergence(1e-8, 500)


def project(texts: Collection, inference: Path, *, options: TopicsOptions, output: Path, signature: str = "") -> None:
    """Infer the posterior over topic strengths of every document; see `macroscope.critics.topics.latents`.

    Parameters
    ----------
    inference
        Folder of the topic model.
    """
    model = CorrelatedTopicModel.load(inference / "model.npz")
    index = {word: number for number, word in enumerate(read_json(inference / "vocabulary.json")["words"])}
    tokenize = TOKENIZERS[options.convention]
    batches = batches_with_progress(texts, Progress("infer topics", len(texts), "documents"))
    tables = (_infer_latents(batch, index, tokenize, model) for batch in batches)
    write_latents(output, set_width(LATENTS, model.dimensions), tables, signature)


def _infer_latents(
    documents: Sequence[Document], index: dict[str, int], tokenize: Tokenize, model: CorrelatedTopicModel
) -> pa.Table:
    """Infer the latents of a batch of documents, in their order."""
    counts = count_words((tokenize(document.text) for document in documents), index)
    shape = (len(documents), model.dimensions)
    mean, variance = np.full(shape, np.nan), np.full(shape, np.nan)
    bound, converged = np.full(len(documents), np.nan), np.zeros(len(documents), dtype=bool)
    nonempty = np.flatnonzero(counts.totals)
    for indices, posterior in infer_all(counts.with_words(), model, CONVERGENCE):
        rows = nonempty[indices]
        mean[rows], variance[rows] = posterior.mean.numpy(), posterior.variance.numpy()
        bound[rows], converged[rows] = posterior.bound.numpy(), posterior.converged.numpy()
    numbers = [pa.array(counts.totals), vector_column(mean), vector_column(variance)]
    columns = [*key_columns(documents), *numbers, pa.array(bound, from_pandas=True), pa.array(converged)]
    return pa.table(columns, schema=set_width(LATENTS, model.dimensions))
