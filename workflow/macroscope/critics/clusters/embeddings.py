"""Latents of the clusters critic: an embedding of every text, from an encoder or a causal language model.

`<system>.parquet`: `id`; `embedding`, a vector of the encoder's width; `truncated`, whether the text was longer than
`max_tokens`; `excerpt`, the first characters of the text, to read. How the texts were embedded stands in the metadata.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer

from macroscope.batches import TOKENS_PER_BATCH, length_batches
from macroscope.critics.clusters.options import EmbeddingOptions
from macroscope.documents import in_batches, read_documents
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.models import load_error, resolve
from macroscope.progress import progress

log = logging.getLogger("macroscope")

EXCERPT = 300
_DOCUMENTS_AT_ONCE = 1000
_FORMAT = b"macroscope.embeddings"
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Embeddings:
    """Embeddings of a collection.

    Attributes
    ----------
    ids, excerpts
        Of each text.
    vectors
        Texts x dimensions.
    truncated
        Whether a text was cut.
    """

    ids: list[str]
    excerpts: list[str]
    vectors: Vectors
    truncated: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.ids)

    def some(self, chosen: NDArray[Any]) -> "Embeddings":
        """Those of some texts, by number or flag."""
        numbers = np.arange(len(self))[chosen]
        return Embeddings(
            [self.ids[i] for i in numbers],
            [self.excerpts[i] for i in numbers],
            self.vectors[numbers],
            self.truncated[numbers],
        )


class TextEncoder:
    """An encoder or a causal language model that embeds texts.

    Parameters
    ----------
    name
        As in the config.
    pooling
        Which of the last layer's vectors: "mean", "last", "first".
    max_tokens
        Longer texts are cut.
    """

    def __init__(self, name: str, pooling: str, max_tokens: int) -> None:
        source = resolve(name)
        if source.location is None:
            raise MacroscopeError(f"encoder {name!r} has no pretrained weights; give one that has, such as minilm")
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(source.location, revision=source.revision or "main")
            model = AutoModel.from_pretrained(source.location, revision=source.revision or "main")
        except (OSError, ValueError) as error:
            raise load_error(source, error) from None
        # Some models have positions that no token of a text may have; their tokenizers know.
        positions = getattr(model.config, "max_position_embeddings", None) or self.tokenizer.model_max_length
        most = min(positions, self.tokenizer.model_max_length)
        if max_tokens > most:
            raise MacroscopeError(
                f"encoder {name!r} reads {most} tokens at most, not {max_tokens}; set critics.clusters.max_tokens"
            )
        self.model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        self.pooling, self.max_tokens = pooling, max_tokens
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token  # masked: its vector is never looked at

    @torch.inference_mode()
    def embed(self, texts: Sequence[str]) -> tuple[Vectors, NDArray[np.bool_]]:
        """Return the embedding of each text (texts x width), and whether it was cut.

        A text without any token is embedded as the token that begins texts (published code).
        """
        encoded = self.tokenizer(list(texts), truncation=True, max_length=self.max_tokens)
        ids = [tokens or [self._beginning()] for tokens in encoded["input_ids"]]
        cut = np.array([bool(encoding.overflowing) for encoding in encoded.encodings])
        vectors = np.empty((len(ids), self.model.config.hidden_size), dtype=np.float32)
        batches = list(length_batches(np.array([len(tokens) for tokens in ids]), TOKENS_PER_BATCH))
        for batch in progress(batches, "embed texts", unit="batches"):
            some = {"input_ids": [ids[index] for index in batch]}
            inputs = self.tokenizer.pad(some, return_tensors="pt", padding_side="right").to(self.model.device)
            layers = self.model(**inputs).last_hidden_state
            vectors[batch] = pool(layers, inputs["attention_mask"], self.pooling).float().cpu().numpy()
        return vectors, cut

    def _beginning(self) -> int:
        known = (self.tokenizer.bos_token_id, self.tokenizer.cls_token_id, self.tokenizer.eos_token_id)
        return next(token for token in known if token is not None)


def text_encoder(options: EmbeddingOptions) -> TextEncoder:
    """Load what the options ask for."""
    return TextEncoder(options.encoder, options.pooling, options.max_tokens)


def pool(layer: torch.Tensor, mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """Reduce the last layer (texts x tokens x width), padded on the right, to one vector a text."""
    if pooling == "first":
        return layer[:, 0]
    if pooling == "last":
        return layer[torch.arange(len(layer)), mask.sum(dim=1) - 1]
    weights = mask[..., None].to(layer.dtype)
    return (layer * weights).sum(dim=1) / weights.sum(dim=1)


def project(documents: Path, output: Path, options: EmbeddingOptions) -> None:
    """Embed every text of a collection, in a stream."""
    encoder = text_encoder(options)
    width = encoder.model.config.hidden_size
    schema = pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            pa.field("embedding", pa.list_(pa.float32(), width), nullable=False),
            pa.field("truncated", pa.bool_(), nullable=False),
            pa.field("excerpt", pa.string(), nullable=False),
        ],
        metadata={_FORMAT: f"{options.encoder}, {options.pooling}, {options.max_tokens}".encode()},
    )
    with atomic(output) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for ids, texts in _texts(documents):
            vectors, cut = encoder.embed(texts)
            flat = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), width)
            excerpts = [" ".join(text[: 2 * EXCERPT].split())[:EXCERPT] for text in texts]
            writer.write_table(pa.table([pa.array(ids), flat, pa.array(cut), pa.array(excerpts)], schema=schema))


def _texts(documents: Path) -> Iterator[tuple[list[str], list[str]]]:
    for some in in_batches(read_documents(documents), _DOCUMENTS_AT_ONCE):
        # As in the published code, a line break is a space.
        yield [document.id for document in some], [document.text.replace("\n", " ") for document in some]


def read_embeddings(path: Path) -> Embeddings:
    """Read the latents of a system."""
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file of embeddings") from None
    column = table.column("embedding").combine_chunks()
    vectors = column.flatten().to_numpy().reshape(len(table), -1)
    truncated = table.column("truncated").to_numpy()
    return Embeddings(table.column("id").to_pylist(), table.column("excerpt").to_pylist(), vectors, truncated)
