"""The section classifier: an encoder with a classification head that estimates P_c(z_m | x_m) (deng2022 App. E)."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModelForSequenceClassification

from macroscope.critics.text_encoder import batch_by_length, compute_first_token_only, tokens_per_batch
from macroscope.models import Precision, compute_in
from macroscope.pretrained import load_pretrained_encoder, load_saved
from macroscope.progress import progress

log = logging.getLogger("macroscope")


def load_untrained_classifier(encoder: str, types: Sequence[str], seed: int) -> tuple[Any, Any]:
    """Load an encoder with an untrained classification head over `types`; return (model, tokenizer)."""
    torch.manual_seed(seed)
    return load_pretrained_encoder(
        encoder,
        AutoModelForSequenceClassification,
        new_head=True,
        num_labels=len(types),
        id2label=dict(enumerate(types)),
        label2id={name: index for index, name in enumerate(types)},
    )


class SectionClassifier:
    """A trained section classifier.

    Parameters
    ----------
    folder
        Folder of the model and its tokenizer, as written by `save_pretrained`.
    max_tokens
        Length in tokens at which texts are truncated.
    precision
        Numerical precision of the forward pass; see `models`.
    """

    def __init__(self, folder: Path, max_tokens: int, precision: Precision = "float32") -> None:
        model, self.tokenizer = load_saved(folder, AutoModelForSequenceClassification)
        self.model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        compute_first_token_only(self.model)
        self.max_tokens, self.precision = max_tokens, precision
        labels = self.model.config.id2label
        self.types: list[str] = [labels[index] for index in range(len(labels))]

    @torch.inference_mode()
    def logits(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return the logits of P_c(z | x) for each text.

        Texts are sorted by length and batched under a token budget, which keeps padding to a minimum.

        Returns
        -------
        logits
            Array texts x types.
        truncated
            Flags (texts,): whether a text was truncated at `max_tokens`.
        """
        tokens = encode(self.tokenizer, texts, self.max_tokens + 1)
        lengths = np.array([len(ids) for ids in tokens])
        logits = np.empty((len(texts), len(self.types)), dtype=np.float32)
        budget = tokens_per_batch(self.model.device.type)
        batches = list(batch_by_length(np.minimum(lengths, self.max_tokens), budget))
        for batch in progress(batches, "classify sections", unit="batches"):
            inputs = self.tokenizer.pad(
                {"input_ids": [cut(tokens[index], self.max_tokens) for index in batch]}, return_tensors="pt"
            ).to(self.model.device)
            with compute_in(self.precision, self.model.device.type):
                batch_logits = self.model(**inputs).logits
            logits[batch] = batch_logits.float().cpu().numpy()
        return logits, lengths > self.max_tokens


def encode(tokenizer: Any, texts: Sequence[str], max_tokens: int) -> list[list[int]]:
    """Tokenize texts with the encoder's special tokens; truncate each to `max_tokens` ids."""
    return tokenizer(list(texts), truncation=True, max_length=max_tokens)["input_ids"] if len(texts) else []


def cut(ids: list[int], max_tokens: int) -> list[int]:
    """Truncate ids to `max_tokens`, keeping the closing special token."""
    return ids if len(ids) <= max_tokens else [*ids[: max_tokens - 1], ids[-1]]
