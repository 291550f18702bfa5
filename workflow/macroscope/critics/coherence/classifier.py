"""The section classifier: an encoder with a classification head that estimates P_c(z_m | x_m) (deng2022 App. E)."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModelForSequenceClassification

from macroscope.critics.text_encoder import length_batches, only_first_token, tokens_per_batch
from macroscope.models import Precision, computing_in
from macroscope.pretrained import load_own, load_pretrained_encoder
from macroscope.progress import progress

log = logging.getLogger("macroscope")


def new_classifier(encoder: str, types: Sequence[str], seed: int) -> tuple[Any, Any]:
    """Load an encoder with a fresh classification head over `types`; returns (model, tokenizer)."""
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
        Model and tokenizer, as `save_pretrained` writes them.
    max_tokens
        Longer texts are cut at this length.
    precision
        See `models`.
    """

    def __init__(self, folder: Path, max_tokens: int, precision: Precision = "float32") -> None:
        model, self.tokenizer = load_own(folder, AutoModelForSequenceClassification)
        self.model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        only_first_token(self.model)
        self.max_tokens, self.precision = max_tokens, precision
        labels = self.model.config.id2label
        self.types: list[str] = [labels[index] for index in range(len(labels))]

    @torch.inference_mode()
    def logits(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return the logits of P_c(z | x) for each text.

        Texts are sorted by length and batched under a token budget, so that next to nothing is spent on padding.

        Returns
        -------
        array texts x types; array of flags: whether a text was cut at `max_tokens`.
        """
        tokens = encode(self.tokenizer, texts, self.max_tokens + 1)
        lengths = np.array([len(ids) for ids in tokens])
        logits = np.empty((len(texts), len(self.types)), dtype=np.float32)
        budget = tokens_per_batch(self.model.device.type)
        batches = list(length_batches(np.minimum(lengths, self.max_tokens), budget))
        for batch in progress(batches, "classify sections", unit="batches"):
            inputs = self.tokenizer.pad(
                {"input_ids": [cut(tokens[index], self.max_tokens) for index in batch]}, return_tensors="pt"
            ).to(self.model.device)
            with computing_in(self.precision, self.model.device.type):
                found = self.model(**inputs).logits
            logits[batch] = found.float().cpu().numpy()
        return logits, lengths > self.max_tokens


def encode(tokenizer: Any, texts: Sequence[str], max_tokens: int) -> list[list[int]]:
    """Token ids of each text with the encoder's special tokens, at most `max_tokens` of them."""
    return tokenizer(list(texts), truncation=True, max_length=max_tokens)["input_ids"] if len(texts) else []


def cut(ids: list[int], max_tokens: int) -> list[int]:
    """Keep the first `max_tokens` ids, the last of which stays the closing special token."""
    return ids if len(ids) <= max_tokens else [*ids[: max_tokens - 1], ids[-1]]
