"""What embeds a text: an encoder or a causal language model."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from macroscope.batches import length_batches, tokens_per_batch
from macroscope.critics.first_token import only_first_token
from macroscope.critics.precision import Precision, computing_in
from macroscope.errors import MacroscopeError
from macroscope.pretrained import load_pretrained_encoder, require_known_words
from macroscope.progress import progress


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
        See `critics.precision`.
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
