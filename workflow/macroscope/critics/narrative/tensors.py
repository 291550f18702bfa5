"""What both kinds of detectors compute with."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import Dataset

from macroscope.critics.narrative.narratives import Integers, Vectors


def perceptron(width: int, hidden: int, out: int) -> nn.Sequential:
    """One hidden layer (cai2020 §5.1)."""
    return nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, out))


def classification_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy of eq. 1 over the positions that have a label; 0 where none has."""
    known = (labels >= 0).to(logits.dtype)
    losses = functional.binary_cross_entropy_with_logits(logits, labels.clamp(min=0).to(logits.dtype), reduction="none")
    return (losses * known).sum() / known.sum().clamp(min=1)


def padded(vectors: Vectors, numbers: Integers) -> torch.Tensor:
    """Embeddings by number, 0 for none: numbers' shape x embedding, in single precision."""
    if not len(vectors):
        return torch.zeros(*numbers.shape, vectors.shape[1])
    found = np.asarray(vectors[np.maximum(numbers, 0)], dtype=np.float32)
    return torch.from_numpy(found * (numbers >= 0)[..., None])


class Rows(Dataset[int]):
    """Numbers of consecutive examples; what makes batches of them knows the rest."""

    def __init__(self, first: int, size: int) -> None:
        self.first, self.size = first, size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> int:
        return self.first + index
