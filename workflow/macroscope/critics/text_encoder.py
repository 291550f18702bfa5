"""Encoders of texts: vectors of whole texts, and of the sentences of a collection."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from numpy.typing import NDArray

from macroscope.critics.narratives import split_narratives
from macroscope.critics.options import SentenceEncoding
from macroscope.critics.sentence_vectors import KnownSentences, SentenceVectors, digest_sentences
from macroscope.documents import Collection
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.models import Precision, compute_in
from macroscope.pretrained import load_pretrained_encoder, require_known_words
from macroscope.progress import progress

_BUILT_AS_BERT = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra"})


def compute_first_token_only(model: Any) -> None:
    """Restrict the last layer after its attention to the first token, in encoders with BERT's architecture.

    These operations are most of a layer's cost, and the heads of these models read only the first token's vector.
    Models of other architectures are left unchanged.
    """
    if model.config.model_type in _BUILT_AS_BERT:
        model.base_model.encoder.layer[-1].attention.output.register_forward_pre_hook(_first)


def _first(_: Any, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Return the first token's part of the attention's output and of its residual (texts x tokens x width)."""
    return tuple(states[:, :1] for states in inputs)


TOKENS_PER_BATCH = 16_384
"""Padded tokens per inference batch: enough to fill the arithmetic units, few enough for any memory. An H100 reads
sentences 1.8 times as fast as with a quarter of this, and with four times as many 1.1 times as fast again."""
TOKENS_IN_CACHE = 1024
"""Padded tokens per inference batch on a CPU. About a hundred tokens fill its arithmetic units; with four times as many
as this, activations no longer stay in a core's cache, and texts of more different lengths are padded."""


def tokens_per_batch(device: str) -> int:
    """Return the padded tokens per batch of an encoder on a device (a `torch.device.type`)."""
    return TOKENS_IN_CACHE if device == "cpu" else TOKENS_PER_BATCH


def batch_by_length(lengths: NDArray[np.int64], budget: int) -> Iterator[NDArray[np.int64]]:
    """Yield batches of indices of texts of similar length, longest first.

    In each batch, count x longest length <= budget, unless a single text is longer.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, int(lengths[order[start]])))
        yield order[start : start + size]
        start += size


class TextEncoder:
    """Encoder or causal language model that embeds texts.

    Parameters
    ----------
    name
        Name of the encoder, as in the config.
    pooling
        Pooling of the last layer's vectors: "mean", "last" or "first".
    max_tokens
        Largest number of tokens per text; longer texts are cut. Default: as many as the encoder accepts.
    precision
        Precision of inference; see `models`.

    Raises
    ------
    MacroscopeError
        If the encoder accepts fewer than `max_tokens` tokens.
    """

    def __init__(
        self, name: str, pooling: str, max_tokens: int | None = None, precision: Precision = "float32"
    ) -> None:
        model, self.tokenizer = load_pretrained_encoder(name)
        # Some models reserve positions that no token of a text may have; the tokenizer's limit excludes these.
        positions = getattr(model.config, "max_position_embeddings", None) or self.tokenizer.model_max_length
        most = min(positions, self.tokenizer.model_max_length)
        max_tokens = most if max_tokens is None else max_tokens
        if max_tokens > most:
            raise MacroscopeError(
                f"encoder {name!r} accepts at most {most} tokens, not {max_tokens}; set a smaller 'max_tokens'"
            )
        self.model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        if pooling == "first":
            compute_first_token_only(self.model)
        self.name, self.pooling, self.max_tokens, self.precision = name, pooling, max_tokens, precision
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token  # masked: its vector is never used

    def keep_layers(self, number: int) -> None:
        """Remove all layers after the first `number`, whose outputs are then the encoder's.

        Raises
        ------
        MacroscopeError
            If the encoder has fewer layers, or is not built like BERT.
        """
        layers = getattr(getattr(self.model, "encoder", None), "layer", ())
        if number > len(layers):
            raise MacroscopeError(
                f"encoder {self.name!r} has {len(layers)} layers like those of BERT, not {number}; give a smaller layer"
            )
        self.model.encoder.layer = layers[:number]

    @property
    def width(self) -> int:
        """Return the dimension of an embedding."""
        return int(self.model.config.hidden_size)

    @torch.inference_mode()
    def embed(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Embed texts.

        A text without any token is embedded as the token that begins texts (published code).

        Returns
        -------
        embeddings
            Texts x width.
        cut
            Whether each text was cut.
        """
        ids, cut = self._encode(texts)
        vectors = np.empty((len(ids), self.width), dtype=np.float32)
        for batch, layers, mask in self._layers(ids):
            vectors[batch] = pool(layers, mask, self.pooling).cpu().numpy()
        return vectors, cut

    @torch.inference_mode()
    def embed_tokens(self, texts: Sequence[str]) -> list[tuple[list[int], torch.Tensor]]:
        """Embed each token of texts.

        Returns
        -------
        list of (token ids, vectors of the last layer: tokens x width)
        """
        ids, _ = self._encode(texts)
        vectors = [torch.empty(0)] * len(ids)
        for batch, layers, _ in self._layers(ids):
            for index, layer in zip(batch, layers.cpu(), strict=True):
                vectors[index] = layer[: len(ids[index])].clone()  # without the memory of the padding
        return list(zip(ids, vectors, strict=True))

    def _encode(self, texts: Sequence[str]) -> tuple[list[list[int]], NDArray[np.bool_]]:
        """Return the token ids of texts, and whether each was cut."""
        ids = self.tokenizer(list(texts), verbose=False)["input_ids"]
        require_known_words(self.tokenizer, ids, self.name)
        # Whether `truncation` says what it cut depends on the version of transformers.
        cut = np.array([len(tokens) > self.max_tokens for tokens in ids], dtype=bool)
        if cut.any():
            long = np.flatnonzero(cut).tolist()
            given = [texts[index] for index in long]
            shortened = self.tokenizer(given, truncation=True, max_length=self.max_tokens)["input_ids"]
            for index, tokens in zip(long, shortened, strict=True):
                ids[index] = tokens
        return [tokens or [self._beginning()] for tokens in ids], cut

    def _layers(self, ids: Sequence[list[int]]) -> Iterator[tuple[NDArray[np.int64], torch.Tensor, torch.Tensor]]:
        """Yield batches of indices, the last layer's vectors (texts x tokens x width), and the mask of tokens."""
        budget = tokens_per_batch(self.model.device.type)
        batches = list(batch_by_length(np.array([len(tokens) for tokens in ids]), budget))
        for batch in progress(batches, "embed texts", unit="batches"):
            batch_ids = {"input_ids": [ids[index] for index in batch]}
            inputs = self.tokenizer.pad(batch_ids, return_tensors="pt", padding_side="right").to(self.model.device)
            with compute_in(self.precision, self.model.device.type):
                layers = self.model(**inputs).last_hidden_state
            yield batch, layers.float(), inputs["attention_mask"]

    def _beginning(self) -> int:
        candidates = (self.tokenizer.bos_token_id, self.tokenizer.cls_token_id, self.tokenizer.eos_token_id)
        return next(token for token in candidates if token is not None)


def pool(layer: torch.Tensor, mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """Reduce the last layer (texts x tokens x width), padded on the right, to one vector per text."""
    if pooling == "first":
        return layer[:, 0]
    if pooling == "last":
        return layer[torch.arange(len(layer)), mask.sum(dim=1) - 1]
    weights = mask[..., None].to(layer.dtype)
    return (layer * weights).sum(dim=1) / weights.sum(dim=1)


# ---- sentence embedding ----------------------------------------------------------------------------------------------
# Embedding of sentences: those of a collection in a stream, each one once.

EmbeddedSentences = tuple[npt.NDArray[np.float16], npt.NDArray[np.bool_]]
"""Vectors (sentences x width), and whether each sentence was cut."""


def embed_sentences(
    documents: Path | None = None,
    texts: Collection | None = None,
    known_sentences: Path | None = None,
    *,
    options: SentenceEncoding,
    language: str,
    output: Path,
) -> None:
    """Embed every sentence of a collection in a stream; see `sentence_vectors.SentenceVectors`.

    Parameters
    ----------
    documents, texts
        A corpus, whose source may give its sentences, or a system's texts.
    known_sentences
        Folder of vectors of the same encoding, which are read instead of being computed again.

    Raises
    ------
    MacroscopeError
        If neither a corpus nor texts are given.
    """
    if documents is not None:
        texts = Collection(documents)
    if texts is None:
        raise MacroscopeError("--input: there are no texts to embed; give --input documents=... or --input texts=...")
    embedder = SentenceEmbedder(lambda: load_sentence_encoder(options), known_sentences)
    ids: list[str] = []
    lengths: list[int] = []
    digests = [digest_sentences([])]
    with atomic(output) as folder:
        folder.mkdir()
        parts = folder / "parts"
        with parts.open("wb") as stream:
            for batch in texts.batches():
                narratives = split_narratives(batch, options.segmenter(language), from_source=documents is not None)
                vectors, cut = embedder.embed(narratives.sentences)
                stream.write(np.hstack([vectors, cut[:, None].astype(np.float16)]).tobytes())
                ids += narratives.ids
                lengths += narratives.lengths.tolist()
                digests.append(digest_sentences(narratives.sentences))
        counts = np.array(lengths, dtype=np.int64)
        SentenceVectors.write(folder, ids, counts, np.concatenate(digests), parts, embedder.width)
        parts.unlink()


class SentenceEmbedder:
    """An encoder of sentences that is loaded at the first sentence whose vector is not known.

    Parameters
    ----------
    load
        Function that loads the encoder.
    known_sentences
        Folder of vectors of the same encoding; None: no vector is known.
    """

    def __init__(self, load: Callable[[], TextEncoder], known_sentences: Path | None = None) -> None:
        self._load = load
        self._encoder: TextEncoder | None = None
        self._stored = None if known_sentences is None else KnownSentences(known_sentences)

    @property
    def encoder(self) -> TextEncoder:
        """Return the encoder."""
        if self._encoder is None:
            self._encoder = self._load()
        return self._encoder

    @property
    def width(self) -> int:
        """Return the dimension of a vector."""
        return self.encoder.width if self._stored is None else self._stored.width

    def embed(self, sentences: Sequence[str]) -> EmbeddedSentences:
        """Embed sentences, repeated ones only once, and none whose vector is known."""
        unique = list(dict.fromkeys(sentences))
        position = {sentence: number for number, sentence in enumerate(unique)}
        order = np.array([position[sentence] for sentence in sentences], dtype=np.int64)
        vectors = np.empty((len(unique), self.width), dtype=np.float16)
        cut = np.empty(len(unique), dtype=bool)
        numbers = np.full(len(unique), -1) if self._stored is None else self._stored.find(unique)
        if self._stored is not None:
            vectors[numbers >= 0], cut[numbers >= 0] = self._stored.read(numbers[numbers >= 0])
        new = np.flatnonzero(numbers < 0)
        if len(new):
            vectors[new], cut[new] = self.encoder.embed([unique[number] for number in new])
        return vectors[order], cut[order]


def load_sentence_encoder(encoding: SentenceEncoding) -> TextEncoder:
    """Load the encoder of an encoding."""
    return TextEncoder(encoding.encoder, encoding.pooling, encoding.max_tokens, encoding.precision)
