"""The sentence-level detector: a transformer over sentence embeddings (cai2020 §4.2)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from transformers import BertConfig, BertModel

from macroscope.critics.narrative.examples import NONE, Examples
from macroscope.critics.narrative.narratives import Narratives, Vectors
from macroscope.critics.narrative.options import DetectorOptions
from macroscope.critics.narrative.tensors import classification_loss, padded, perceptron
from macroscope.errors import MacroscopeError


@dataclass(frozen=True)
class Size:
    """What a network looks like: enough to make it again.

    Attributes
    ----------
    embedding
        Width of the sentence embeddings.
    width, layers, heads, hidden
        Of the transformer, whose feed-forward layers are four times as wide; hidden units of the classifier.
    dropout
        In training.
    positions
        Sentences of the longest segment.
    """

    embedding: int
    width: int
    layers: int
    heads: int
    hidden: int
    dropout: float
    positions: int


def size_of(options: DetectorOptions, embedding: int, positions: int) -> Size:
    """Size that the options ask for."""
    width = options.width or embedding
    if width % options.heads:
        raise MacroscopeError(
            f"the embeddings are {width} wide, which {options.heads} heads cannot share; give the detector other"
            " 'heads', or a 'width' of its own"
        )
    return Size(embedding, width, options.layers, options.heads, options.hidden, options.dropout, positions)


class SentenceDetector(nn.Module):
    """Reads the embeddings of a segment's sentences; says of each position whether something is wrong there.

    Parameters
    ----------
    matching
        Weight of the semantic matching loss (eq. 2).
    """

    def __init__(self, size: Size, matching: float = 0.0) -> None:
        super().__init__()
        self.size, self.matching = size, matching
        self.register_buffer("centre", torch.zeros(size.embedding))
        self.register_buffer("spread", torch.ones(size.embedding))
        # Embeddings of another width are mapped onto the transformer's.
        self.read = nn.Identity() if size.embedding == size.width else nn.Linear(size.embedding, size.width)
        config = BertConfig(
            vocab_size=1,
            hidden_size=size.width,
            num_hidden_layers=size.layers,
            num_attention_heads=size.heads,
            intermediate_size=4 * size.width,
            hidden_dropout_prob=size.dropout,
            attention_probs_dropout_prob=size.dropout,
            max_position_embeddings=size.positions,
        )
        self.transformer = BertModel(config, add_pooling_layer=False)
        self.detect = perceptron(size.width, size.hidden, 1)
        self.match = perceptron(size.width, size.hidden, size.embedding)

    def standardise_by(self, vectors: Vectors) -> None:
        """Have embeddings read in units of the spread of these, from their mean: raw ones are hardly different."""
        values = np.asarray(vectors, dtype=np.float32)
        self.centre = torch.from_numpy(values.mean(axis=0))
        self.spread = torch.from_numpy(np.maximum(values.std(axis=0), 1e-6))

    def forward(
        self,
        vectors: torch.Tensor,
        mask: torch.Tensor,
        labels: torch.Tensor | None = None,
        targets: torch.Tensor | None = None,
    ) -> dict[str, torch.Tensor]:
        """Run the network.

        Parameters
        ----------
        vectors
            Segments x positions x embedding.
        mask
            1 where there is a sentence, else 0 (segments x positions).
        labels
            1, 0, or `NONE` (segments x positions).
        targets
            Embedding of the sentence that was there, where the label is 1; anything elsewhere.

        Returns
        -------
        dict
            logits (segments x positions), predicted (segments x positions x embedding; the sentence that should be
            there), and with labels the loss.
        """
        read = self.read((vectors - self.centre) / self.spread)
        states = self.transformer(inputs_embeds=read, attention_mask=mask).last_hidden_state
        found = {"logits": self.detect(states).squeeze(-1), "predicted": self.match(states)}
        if labels is not None:
            found["loss"] = classification_loss(found["logits"], labels)
            if self.matching and targets is not None:
                found["loss"] = found["loss"] + self.matching * matching_loss(found["predicted"], targets, labels)
        return found


def matching_loss(predicted: torch.Tensor, targets: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean cosine distance between predicted and true embedding, where the label is 1 (eq. 2); 0 where none is."""
    there = (labels == 1).to(predicted.dtype)
    distance = 1 - functional.cosine_similarity(predicted, targets, dim=-1)
    return (distance * there).sum() / there.sum().clamp(min=1)


class SentenceBatches:
    """Makes batches of examples, for training or without labels.

    Parameters
    ----------
    narratives
        With vectors; the examples' numbers are theirs.
    """

    def __init__(self, narratives: Narratives, examples: Examples) -> None:
        if narratives.vectors is None:
            raise ValueError("a sentence-level detector reads embeddings: these narratives have none")
        self.vectors, self.examples = narratives.vectors, examples

    def __call__(self, rows: list[int]) -> dict[str, Any]:
        """Collate some examples."""
        some = self.examples.some(rows)
        inputs, targets = torch.from_numpy(some.inputs), torch.from_numpy(some.targets)
        return {
            "vectors": self._of(some.inputs),
            "mask": (inputs != NONE).long(),
            "labels": torch.from_numpy(some.labels).long(),
            "targets": self._of(some.targets) * (targets != NONE)[..., None],
        }

    def _of(self, numbers: Any) -> torch.Tensor:
        return padded(self.vectors, numbers)
