"""Sentence-level detector: a transformer over sentence embeddings (cai2020 §4.2)."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from transformers import BertConfig, BertModel

from macroscope.critics.narrative.options import DetectorOptions
from macroscope.critics.narrative.tensors import classification_loss, make_perceptron
from macroscope.critics.narratives import Vectors
from macroscope.errors import MacroscopeError


@dataclass(frozen=True)
class Size:
    """Hyperparameters from which a network can be created again.

    Attributes
    ----------
    embedding
        Width of the sentence embeddings.
    width, layers, heads, hidden
        Width, layers and attention heads of the transformer, whose feed-forward layers are four times as wide; hidden
        units of the classifier.
    dropout
        Dropout probability in training.
    positions
        Number of sentences of the longest segment.
    """

    embedding: int
    width: int
    layers: int
    heads: int
    hidden: int
    dropout: float
    positions: int


def choose_size(options: DetectorOptions, embedding: int, positions: int) -> Size:
    """Return the size that the options specify."""
    width = options.width or embedding
    if width % options.heads:
        raise MacroscopeError(
            f"the detector's width, {width}, is not a multiple of its 'heads', {options.heads}; give the detector"
            " another number of 'heads', or a 'width'"
        )
    return Size(embedding, width, options.layers, options.heads, options.hidden, options.dropout, positions)


class SentenceDetector(nn.Module):
    """Classifier of the positions of a segment as damaged or not, from its sentences' embeddings.

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
        # Embeddings of another width are mapped to the transformer's.
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
        self.detect = make_perceptron(size.width, size.hidden, 1)
        self.match = make_perceptron(size.width, size.hidden, size.embedding)

    def standardise_by(self, vectors: Vectors) -> None:
        """Standardise inputs by mean and spread of these embeddings: raw embeddings hardly differ from each other."""
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
            1 for a sentence, 0 for padding (segments x positions).
        labels
            1, 0, or `NONE` (segments x positions).
        targets
            Embedding of the original sentence if the label is 1; arbitrary elsewhere.

        Returns
        -------
        dict
            logits (segments x positions); predicted (segments x positions x embedding), the embedding of the sentence
            that should be there; and the loss if labels are given.
        """
        inputs = self.read((vectors - self.centre) / self.spread)
        states = self.transformer(inputs_embeds=inputs, attention_mask=mask).last_hidden_state
        outputs = {"logits": self.detect(states).squeeze(-1), "predicted": self.match(states)}
        if labels is not None:
            outputs["loss"] = classification_loss(outputs["logits"], labels)
            if self.matching and targets is not None:
                outputs["loss"] = outputs["loss"] + self.matching * matching_loss(outputs["predicted"], targets, labels)
        return outputs


def matching_loss(predicted: torch.Tensor, targets: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Compute the mean cosine distance of predicted and true embeddings at labels 1 (eq. 2); 0 if there is none."""
    is_damaged = (labels == 1).to(predicted.dtype)
    distance = 1 - functional.cosine_similarity(predicted, targets, dim=-1)
    return (distance * is_damaged).sum() / is_damaged.sum().clamp(min=1)
