"""Projection of the clusters critic: embedding of documents, in batches."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from macroscope.critics.clusters.latents import Vectors, latents_schema, vector_column
from macroscope.critics.clusters.options import EmbeddingOptions
from macroscope.critics.latents import add_signature
from macroscope.critics.text_encoder import TextEncoder
from macroscope.critics.words import shorten
from macroscope.documents import Collection, Document
from macroscope.files import atomic
from macroscope.statistics.pairing_keys import KEYS

EXCERPT = 300


def project(texts: Collection, *, options: EmbeddingOptions, output: Path, signature: str = "") -> None:
    """Embed every text of a collection; see `macroscope.critics.clusters.latents`."""
    encoder = load_text_encoder(options)
    schema = add_signature(latents_schema(encoder.width), signature)
    with atomic(output) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for documents, strings, vectors, cut in embed_batches(texts.batches(), encoder):
            excerpts = [shorten(text, EXCERPT) for text in strings]
            keys = [pa.array([getattr(document, key) for document in documents]) for key in KEYS]
            columns = [*keys, vector_column(vectors), pa.array(cut), pa.array(excerpts)]
            writer.write_table(pa.table(columns, schema=schema))


def embed_batches(
    batches: Iterable[Sequence[Document]], encoder: TextEncoder
) -> Iterator[tuple[Sequence[Document], list[str], Vectors, NDArray[np.bool_]]]:
    """Yield documents, texts, vectors, and whether each text was cut, batch by batch."""
    for documents in batches:
        # Line breaks become spaces, as in the published code.
        texts = [document.text.replace("\n", " ") for document in documents]
        yield documents, texts, *encoder.embed(texts)


def load_text_encoder(options: EmbeddingOptions) -> TextEncoder:
    """Load the encoder of the options."""
    return TextEncoder(options.encoder, options.pooling, options.max_tokens, options.precision)
