"""What embeds a text: an encoder or a causal language model."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from macroscope.errors import MacroscopeError
from macroscope.models import Precision, computing_in
from macroscope.pretrained import load_pretrained_encoder, require_known_words
from macroscope.progress import progress

_BUILT_AS_BERT = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra"})


def only_first_token(model: Any) -> None:
    """Let the last layer compute what follows its attention for the first token alone, in an encoder built as BERT is.

    That is most of a layer, and of what it gives the heads of these models read the first token's vector alone. Other
    models stay as they are.
    """
    if model.config.model_type in _BUILT_AS_BERT:
        model.base_model.encoder.layer[-1].attention.output.register_forward_pre_hook(_first)


def _first(_: Any, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """What attention gives, and what is added to it (texts x tokens x width)."""
    return tuple(states[:, :1] for states in inputs)


TOKENS_PER_BATCH = 4096
"""Padded tokens of one inference batch: wide enough to fill the arithmetic units, small enough for any memory."""
TOKENS_IN_CACHE = 1024
"""The same for an encoder on a CPU. Its units are full from about a hundred tokens on; with four times as many, what a
layer hands to the next no longer stays in a core's cache, and texts of more different lengths are padded."""


def tokens_per_batch(device: str) -> int:
    """Padded tokens of one batch of an encoder on a device, as `torch.device.type` names it."""
    return TOKENS_IN_CACHE if device == "cpu" else TOKENS_PER_BATCH


def length_batches(lengths: NDArray[np.int64], budget: int) -> Iterator[NDArray[np.int64]]:
    """Indices in batches of similar length, longest first; count x longest <= budget, or a single long one."""
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, int(lengths[order[start]])))
        yield order[start : start + size]
        start += size


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
    precision
        See `models`.
    """

    def __init__(self, name: str, pooling: str, max_tokens: int, precision: Precision = "float32") -> None:
        model, self.tokenizer = load_pretrained_encoder(name)
        # Some models have positions that no token of a text may have; their tokenizers know.
        positions = getattr(model.config, "max_position_embeddings", None) or self.tokenizer.model_max_length
        most = min(positions, self.tokenizer.model_max_length)
        if max_tokens > most:
            raise MacroscopeError(
                f"encoder {name!r} reads {most} tokens at most, not {max_tokens}; set a smaller 'max_tokens'"
            )
        self.model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        if pooling == "first":
            only_first_token(self.model)
        self.name, self.pooling, self.max_tokens, self.precision = name, pooling, max_tokens, precision
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token  # masked: its vector is never looked at

    @property
    def width(self) -> int:
        """Dimensions of an embedding."""
        return int(self.model.config.hidden_size)

    @torch.inference_mode()
    def embed(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return the embedding of each text (texts x width), and whether it was cut.

        A text without any token is embedded as the token that begins texts (published code).
        """
        encoded = self.tokenizer(list(texts), truncation=True, max_length=self.max_tokens)
        require_known_words(self.tokenizer, encoded["input_ids"], self.name)
        ids = [tokens or [self._beginning()] for tokens in encoded["input_ids"]]
        cut = np.array([bool(encoding.overflowing) for encoding in encoded.encodings])
        vectors = np.empty((len(ids), self.width), dtype=np.float32)
        budget = tokens_per_batch(self.model.device.type)
        batches = list(length_batches(np.array([len(tokens) for tokens in ids]), budget))
        for batch in progress(batches, "embed texts", unit="batches"):
            some = {"input_ids": [ids[index] for index in batch]}
            inputs = self.tokenizer.pad(some, return_tensors="pt", padding_side="right").to(self.model.device)
            with computing_in(self.precision, self.model.device.type):
                layers = self.model(**inputs).last_hidden_state
            vectors[batch] = pool(layers.float(), inputs["attention_mask"], self.pooling).cpu().numpy()
        return vectors, cut

    def _beginning(self) -> int:
        known = (self.tokenizer.bos_token_id, self.tokenizer.cls_token_id, self.tokenizer.eos_token_id)
        return next(token for token in known if token is not None)


def pool(layer: torch.Tensor, mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """Reduce the last layer (texts x tokens x width), padded on the right, to one vector a text."""
    if pooling == "first":
        return layer[:, 0]
    if pooling == "last":
        return layer[torch.arange(len(layer)), mask.sum(dim=1) - 1]
    weights = mask[..., None].to(layer.dtype)
    return (layer * weights).sum(dim=1) / weights.sum(dim=1)
