"""documents -> latents of the critic `topics`: posteriors over topic strengths."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.critics.latents import add_signature
from macroscope.critics.topics.inference import Convergence, infer_all
from macroscope.critics.topics.latents import latents_schema, strengths_column
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.options import TopicsOptions
from macroscope.critics.topics.vocabulary import TOKENIZERS, Tokenize
from macroscope.critics.topics.word_counts import count_words
from macroscope.documents import Collection, Document
from macroscope.files import atomic, read_json
from macroscope.progress import Progress
from macroscope.statistics.pairing_keys import KEYS

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
    schema = add_signature(latents_schema(model.dimensions), signature)
    with (
        atomic(output) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd") as writer,
        Progress("infer topics", len(texts), "documents") as progress,
    ):
        for batch in texts.batches():
            writer.write_table(_infer_latents(batch, index, tokenize, model).cast(schema))
            progress.advance(len(batch))


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
    keys = [pa.array([getattr(document, key) for document in documents]) for key in KEYS]
    numbers = [pa.array(counts.totals), strengths_column(mean), strengths_column(variance)]
    columns = [*keys, *numbers, pa.array(bound, from_pandas=True), pa.array(converged)]
    return pa.table(columns, schema=latents_schema(model.dimensions))
