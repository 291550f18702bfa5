"""Layers, losses and data sets that both kinds of detectors share."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import Dataset

from macroscope.critics.narratives import Integers, Vectors


def make_perceptron(width: int, hidden: int, out: int) -> nn.Sequential:
    """Create a perceptron with one hidden layer (cai2020 §5.1)."""
    return nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, out))


def classification_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Compute the mean cross-entropy of eq. 1 over the labelled positions; 0 if there is none."""
    is_labelled = (labels >= 0).to(logits.dtype)
    losses = functional.binary_cross_entropy_with_logits(logits, labels.clamp(min=0).to(logits.dtype), reduction="none")
    return (losses * is_labelled).sum() / is_labelled.sum().clamp(min=1)


def gather_embeddings(vectors: Vectors, numbers: Integers) -> torch.Tensor:
    """Return embeddings by number, 0 for negative numbers: shape of the numbers x width, in single precision."""
    if not len(vectors):
        return torch.zeros(*numbers.shape, vectors.shape[1])
    gathered = np.asarray(vectors[np.maximum(numbers, 0)], dtype=np.float32)
    return torch.from_numpy(gathered * (numbers >= 0)[..., None])


class Rows(Dataset[int]):
    """Data set of the indices of consecutive examples; the collator makes batches from them."""

    def __init__(self, first: int, size: int) -> None:
        self.first, self.size = first, size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> int:
        return self.first + index
