"""documents -> latents of the critic `topics`: posteriors over topic strengths."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

from macroscope.critics.latents import batches_with_progress, key_columns, set_width, vector_column, write_latents
from macroscope.critics.topics.inference import Convergence, infer_all
from macroscope.critics.topics.latents import LATENTS
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.options import TopicsOptions
from macroscope.critics.topics.patchiness import measure_patchiness
from macroscope.critics.topics.vocabulary import TOKENIZERS, Tokenize
from macroscope.critics.topics.word_counts import WordCounts
from macroscope.documents import Collection, Document
from macroscope.files import read_json
from macroscope.natural_language.sentences import split_sentences
from macroscope.progress import Progress

CONVERGENCE = {"definition": Convergence(1e-8, 500), "published": Convergence(1e-6, 500, by_coordinates=True)}
"""Convention -> search of a document's posterior (published: ctm-c's, whose settings have no limit)."""


def project(
    texts: Collection,
    inference: Path,
    *,
    options: TopicsOptions,
    language: str = "en",
    output: Path,
    signature: str = "",
) -> None:
    """Infer every document's topic strengths, and their patchiness; see `macroscope.critics.topics.latents`.

    Parameters
    ----------
    inference
        Folder of the topic model.
    language
        Language of the texts, for their sentences.
    """
    model = CorrelatedTopicModel.load(inference / "model.npz")
    index = {word: number for number, word in enumerate(read_json(inference / "vocabulary.json")["words"])}
    tokenize = TOKENIZERS[options.convention]
    batches = batches_with_progress(texts, Progress("infer topics", len(texts), "documents"))
    convergence = CONVERGENCE[options.convention]
    tables = (_infer_latents(batch, index, tokenize, language, model, convergence) for batch in batches)
    write_latents(output, set_width(LATENTS, model.dimensions), tables, signature)


def _infer_latents(
    documents: Sequence[Document],
    index: dict[str, int],
    tokenize: Tokenize,
    language: str,
    model: CorrelatedTopicModel,
    convergence: Convergence,
) -> pa.Table:
    """Infer the latents of a batch of documents, in their order."""
    sentences = [_index_sentences(document.text, index, tokenize, language) for document in documents]
    counts = WordCounts.from_documents(np.concatenate([*words, np.empty(0, np.int64)]) for words in sentences)
    shape = (len(documents), model.dimensions)
    mean, variance = np.full(shape, np.nan), np.full(shape, np.nan)
    bound, converged = np.full(len(documents), np.nan), np.zeros(len(documents), dtype=bool)
    nonempty = np.flatnonzero(counts.totals)
    for indices, posterior in infer_all(counts.with_words(), model, convergence):
        rows = nonempty[indices]
        mean[rows], variance[rows] = posterior.mean.numpy(), posterior.variance.numpy()
        bound[rows], converged[rows] = posterior.bound.numpy(), posterior.converged.numpy()
    shares, topics = torch.softmax(model.strengths(torch.from_numpy(mean)), dim=1).numpy(), model.topics.numpy()
    patchiness = [
        measure_patchiness(words, of_document, topics) for words, of_document in zip(sentences, shares, strict=True)
    ]
    numbers = [pa.array(counts.totals), vector_column(mean), vector_column(variance)]
    columns = [*key_columns(documents), *numbers, pa.array(bound, from_pandas=True), pa.array(converged)]
    columns.append(pa.array(patchiness, type=pa.float64(), from_pandas=True))
    return pa.table(columns, schema=set_width(LATENTS, model.dimensions))


def _index_sentences(text: str, index: dict[str, int], tokenize: Tokenize, language: str) -> list[NDArray[np.int64]]:
    """Return the indices of the words of the vocabulary in each sentence of a text."""
    return [
        np.array([index[word] for word in tokenize(sentence) if word in index], dtype=np.int64)
        for sentence in split_sentences(text, language)
    ]
