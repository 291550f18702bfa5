"""Projection of the clusters critic: embedding of documents, in batches."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from macroscope.critics.clusters.latents import LATENTS, Vectors
from macroscope.critics.clusters.options import EmbeddingOptions
from macroscope.critics.excerpts import shorten
from macroscope.critics.latents import key_columns, set_width, vector_column, write_latents
from macroscope.critics.text_encoder import TextEncoder
from macroscope.documents import Collection, Document

EXCERPT = 300


def project(texts: Collection, *, options: EmbeddingOptions, output: Path, signature: str = "") -> None:
    """Embed every text of a collection; see `macroscope.critics.clusters.latents`."""
    encoder = load_text_encoder(options)
    schema = set_width(LATENTS, encoder.width)

    def tables() -> Iterator[pa.Table]:
        for documents, strings, vectors, cut in embed_batches(texts.batches(), encoder):
            excerpts = [shorten(text, EXCERPT) for text in strings]
            columns = [*key_columns(documents), vector_column(vectors), pa.array(cut), pa.array(excerpts)]
            yield pa.table(columns, schema=schema)

    write_latents(output, schema, tables(), signature)


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
