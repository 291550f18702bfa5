"""Layers, losses, batches and data sets that detectors share."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import Dataset

from macroscope.critics.narrative.examples import NONE, Examples
from macroscope.critics.narratives import Integers, Narratives, VectorRows


def make_perceptron(width: int, hidden: int, out: int) -> nn.Sequential:
    """Create a perceptron with one hidden layer (cai2020 §5.1)."""
    return nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, out))


def classification_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Compute the mean cross-entropy of eq. 1 over the labelled positions; 0 if there is none."""
    is_labelled = (labels >= 0).to(logits.dtype)
    losses = functional.binary_cross_entropy_with_logits(logits, labels.clamp(min=0).to(logits.dtype), reduction="none")
    return (losses * is_labelled).sum() / is_labelled.sum().clamp(min=1)


def gather_embeddings(vectors: VectorRows, numbers: Integers) -> torch.Tensor:
    """Return embeddings by number, 0 for negative numbers: shape of the numbers x width, in single precision."""
    if not len(vectors):
        return torch.zeros(*numbers.shape, vectors.width)
    gathered = vectors[np.maximum(numbers, 0)]
    gathered[numbers < 0] = 0
    return torch.from_numpy(gathered)


class Rows(Dataset[int]):
    """Data set of the indices of consecutive examples; the collator makes batches from them."""

    def __init__(self, first: int, size: int) -> None:
        self.first, self.size = first, size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> int:
        return self.first + index


class SentenceBatches:
    """Collator of batches of examples for detectors that read embeddings.

    Parameters
    ----------
    narratives
        Narratives with vectors, to which the examples' numbers refer.
    """

    def __init__(self, narratives: Narratives, examples: Examples) -> None:
        if narratives.vectors is None:
            raise ValueError(
                "the detector reads embeddings, but these narratives have none; add them with 'with_vectors'"
            )
        self.vectors, self.examples = narratives.vectors, examples

    def __call__(self, rows: list[int]) -> dict[str, torch.Tensor]:
        """Collate the examples with these indices, to train or to validate."""
        examples = self.examples.select(rows)
        return {
            **self.read(rows),
            "labels": torch.from_numpy(examples.labels).long(),
            "targets": gather_embeddings(self.vectors, examples.targets),
        }

    def read(self, rows: list[int]) -> dict[str, torch.Tensor]:
        """Return what the network reads of the examples with these indices."""
        inputs = self.examples.inputs[rows]
        return {"vectors": gather_embeddings(self.vectors, inputs), "mask": torch.from_numpy(inputs != NONE).long()}
