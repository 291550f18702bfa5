"""Projection of the clusters critic: embedding of documents, in batches."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from macroscope.critics.clusters.latents import LATENTS, Vectors
from macroscope.critics.clusters.options import ClustersOptions, EmbeddingOptions, read_sentences
from macroscope.critics.latents import key_columns, set_width, vector_column, write_latents
from macroscope.critics.narratives import split_documents
from macroscope.critics.text_encoder import SentenceEmbedder, TextEncoder, load_sentence_encoder
from macroscope.documents import Collection, Document
from macroscope.phrases import shorten

EXCERPT = 300
Embedded = tuple[Vectors, NDArray[np.bool_]]
"""Embeddings (texts x dimensions), and whether a part of each text was cut."""
Embed = Callable[[Sequence[Document]], Embedded]


def project(
    texts: Collection,
    sentence_vectors: Path | None = None,
    *,
    options: ClustersOptions,
    language: str,
    output: Path,
    signature: str = "",
) -> None:
    """Embed every text of a collection; see `macroscope.critics.clusters.latents`.

    Parameters
    ----------
    sentence_vectors
        Vectors of sentences (`sentence_vectors.SentenceVectors`); those of others are computed here.
    """
    width, embed = load_embedding(options, language, sentence_vectors)
    schema = set_width(LATENTS, width)

    def tables() -> Iterator[pa.Table]:
        for documents in texts.batches():
            vectors, cut = embed(documents)
            excerpts = [shorten(join_lines(document), EXCERPT) for document in documents]
            columns = [*key_columns(documents), vector_column(vectors), pa.array(cut), pa.array(excerpts)]
            yield pa.table(columns, schema=schema)

    write_latents(output, schema, tables(), signature)


def load_embedding(options: EmbeddingOptions, language: str, sentence_vectors: Path | None = None) -> tuple[int, Embed]:
    """Return the width of an embedding under the options, and the function that embeds documents."""
    reading = read_sentences(options)
    if reading is None:
        encoder = TextEncoder(options.encoder, options.pooling, options.max_tokens, options.precision)
        return encoder.width, lambda documents: encoder.embed([join_lines(document) for document in documents])
    embedder = SentenceEmbedder(lambda: load_sentence_encoder(reading.encoding), sentence_vectors)
    return 2 * embedder.width, lambda documents: embed_by_sentences(documents, embedder, language)


def embed_by_sentences(documents: Sequence[Document], embedder: SentenceEmbedder, language: str) -> Embedded:
    """Embed texts by the mean and the standard deviation of their sentences' vectors, each of length 1.

    A text without a sentence is embedded as an empty sentence.
    """
    sentences = [of_text or [""] for _, of_text in split_documents(documents, language, from_source=False)]
    starts = np.cumsum([0, *map(len, sentences)])
    vectors, cut = embedder.embed([sentence for of_text in sentences for sentence in of_text])
    unit = vectors.astype(np.float32)
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    embeddings = np.empty((len(documents), 2 * embedder.width), dtype=np.float32)
    is_cut = np.empty(len(documents), dtype=bool)
    for number, (start, end) in enumerate(pairwise(starts)):
        embeddings[number] = np.concatenate([unit[start:end].mean(axis=0), unit[start:end].std(axis=0)])
        is_cut[number] = cut[start:end].any()
    return embeddings, is_cut


def join_lines(document: Document) -> str:
    """Return the text with spaces for its line breaks, as in the published code."""
    return document.text.replace("\n", " ")
