"""Projection onto topic strengths: documents -> latents."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.critics.latents import signed
from macroscope.critics.topics.inference import Convergence, infer_all
from macroscope.critics.topics.latents import latents_schema, strengths_column
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.options import TopicsOptions
from macroscope.critics.topics.vocabulary import TOKENIZERS, Tokenize
from macroscope.critics.topics.word_counts import word_counts
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
    schema = signed(latents_schema(model.dimensions), signature)
    with (
        atomic(output) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd") as writer,
        Progress("infer topics", len(texts), "documents") as progress,
    ):
        for some in texts.batches():
            writer.write_table(_inferred(some, index, tokenize, model).cast(schema))
            progress.advance(len(some))


def _inferred(
    documents: Sequence[Document], index: dict[str, int], tokenize: Tokenize, model: CorrelatedTopicModel
) -> pa.Table:
    """Latents of some documents, in their order."""
    counts = word_counts((tokenize(document.text) for document in documents), index)
    shape = (len(documents), model.dimensions)
    mean, variance = np.full(shape, np.nan), np.full(shape, np.nan)
    bound, converged = np.full(len(documents), np.nan), np.zeros(len(documents), dtype=bool)
    known = np.flatnonzero(counts.totals)
    for which, found in infer_all(counts.with_words(), model, CONVERGENCE):
        rows = known[which]
        mean[rows], variance[rows] = found.mean.numpy(), found.variance.numpy()
        bound[rows], converged[rows] = found.bound.numpy(), found.converged.numpy()
    keys = [pa.array([getattr(document, key) for document in documents]) for key in KEYS]
    numbers = [pa.array(counts.totals), strengths_column(mean), strengths_column(variance)]
    columns = [*keys, *numbers, pa.array(bound, from_pandas=True), pa.array(converged)]
    return pa.table(columns, schema=latents_schema(model.dimensions))
