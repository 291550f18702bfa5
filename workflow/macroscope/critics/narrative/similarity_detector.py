"""Similarity-level detector: logistic regression on similarities of a segment's sentence embeddings.

Embeddings are centred, because raw embeddings of sentences hardly differ from each other. A discordant sentence is less
similar to the others than they are to each other. Around a gap, it also matters what usually follows directly: the
sentences on both sides are read by their first principal components. Features are standardised, and the similarities
enter with their squares and products: about a hundred weights, which some hundred stories determine.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from torch import nn
from torch.nn import functional

from macroscope.critics.narrative.options import Task
from macroscope.critics.narrative.tensors import classification_loss
from macroscope.critics.narratives import Vectors

COMPONENTS = 30
"""Largest number of principal components of the sentences around a slot."""
LIMIT = 4.0
"""Largest absolute value of a standardised feature: squares of outliers would outweigh everything else."""
STRENGTHS = (0.001, 0.01, 0.1, 1.0)
"""Inverse strengths of the L2 penalty, out of which validation segments choose."""
_PLACES_AT_ONCE = 1 << 13
SENTENCE_FEATURES, SLOT_FEATURES = 14, 8
"""Number of similarities, with the place, of a sentence and of a slot."""


@dataclass(frozen=True)
class SimilaritySize:
    """Hyperparameters from which a detector can be created again.

    Attributes
    ----------
    task
        "missing" or "discordant".
    embedding, components
        Width of the sentence embeddings, and number of principal components.
    """

    task: Task
    embedding: int
    components: int

    @classmethod
    def of(cls, task: Task, embedding: int) -> "SimilaritySize":
        """Return the size for embeddings of a width: only slots are read by principal components."""
        return cls(task, embedding, min(COMPONENTS, embedding) if task == "missing" else 0)


class SimilarityDetector(nn.Module):
    """Classifier of the positions of a segment as damaged or not, from similarities of its sentences' embeddings."""

    def __init__(self, size: SimilaritySize) -> None:
        super().__init__()
        self.size = size
        self.similarities = SENTENCE_FEATURES if size.task == "discordant" else SLOT_FEATURES
        features = self.similarities + 2 * size.components
        self.register_buffer("centre", torch.zeros(size.embedding))
        self.register_buffer("axes", torch.zeros(size.embedding, size.components))
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("spread", torch.ones(features))
        products = self.similarities * (self.similarities + 1) // 2
        self.detect = nn.Linear(features + products, 1)

    def standardise_by(self, vectors: Vectors) -> None:
        """Set the centre and the principal axes of these embeddings."""
        values = np.asarray(vectors, dtype=np.float32)
        centre = values.mean(axis=0)
        self.centre = torch.from_numpy(centre)
        if self.size.components:
            values = values - centre
            _, axes = np.linalg.eigh((values.T @ values).astype(np.float64) / max(1, len(values)))
            self.axes = torch.from_numpy(axes[:, : -self.size.components - 1 : -1].astype(np.float32, order="C"))

    def forward(self, vectors: torch.Tensor, mask: torch.Tensor) -> dict[str, torch.Tensor]:
        """Run the detector.

        Parameters
        ----------
        vectors
            Segments x positions x embedding.
        mask
            1 for a sentence, 0 for padding (segments x positions).

        Returns
        -------
        dict
            logits (segments x positions); arbitrary at positions that are padding, or no slot.
        """
        return {"logits": self.detect(self.expand(self.features(vectors, mask))).squeeze(-1)}

    def features(self, vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Compute the raw features of each position (segments x positions x features)."""
        is_sentence = mask.bool()
        centred = (vectors - self.centre) * is_sentence[..., None]
        directions = functional.normalize(centred, dim=-1)
        if self.size.task == "discordant":
            return sentence_features(directions, is_sentence)
        components = centred @ self.axes
        following = functional.pad(components[:, 1:], (0, 0, 0, 1))
        return torch.cat([slot_features(directions, is_sentence), components, following], dim=-1)

    def expand(self, features: torch.Tensor) -> torch.Tensor:
        """Standardise and limit features; append the squares and products of the similarities."""
        limited = ((features - self.mean) / self.spread).clamp(-LIMIT, LIMIT)
        similarities = limited[..., : self.similarities]
        first, second = torch.triu_indices(self.similarities, self.similarities, device=features.device)
        return torch.cat([limited, similarities[..., first] * similarities[..., second]], dim=-1)

    @torch.no_grad()
    def fit(self, train: "LabelledPlaces", valid: "LabelledPlaces") -> pd.DataFrame:
        """Fit the weights, with the strength of the penalty that has the lowest loss on validation segments.

        Returns
        -------
        data frame
            Columns strength, train_loss, valid_loss: a row per strength.
        """
        from sklearn.linear_model import LogisticRegression  # slow to import, and only training needs it

        self.mean = train.features.mean(dim=0)
        self.spread = train.features.std(dim=0).clamp(min=1e-6)
        expanded, labels = self._expand_all(train.features), train.labels.numpy()
        rows, weights = [], []
        for strength in STRENGTHS:
            # This solver takes a handful of Newton steps, since places are far more than weights.
            model = LogisticRegression(C=strength, solver="newton-cholesky").fit(expanded, labels)
            weights.append((torch.from_numpy(model.coef_), torch.from_numpy(model.intercept_)))
            self._set_weights(*weights[-1])
            rows.append((strength, self.loss(train), self.loss(valid)))
        history = pd.DataFrame(rows, columns=["strength", "train_loss", "valid_loss"])
        self._set_weights(*weights[int(history["valid_loss"].to_numpy().argmin())])
        return history

    @torch.no_grad()
    def loss(self, places: "LabelledPlaces") -> float:
        """Return the mean cross-entropy of the places' labels in nats."""
        logits = [self.detect(self.expand(part)).squeeze(-1) for part in places.features.split(_PLACES_AT_ONCE)]
        return float(classification_loss(torch.cat(logits), places.labels))

    def _expand_all(self, features: torch.Tensor) -> npt.NDArray[np.float64]:
        """Expand the features of places in blocks, since intermediate results take three times as much memory."""
        expanded = np.empty((len(features), self.detect.in_features))
        for start in range(0, len(features), _PLACES_AT_ONCE):
            part = slice(start, start + _PLACES_AT_ONCE)
            expanded[part] = self.expand(features[part]).numpy()
        return expanded

    def _set_weights(self, weights: torch.Tensor, intercept: torch.Tensor) -> None:
        self.detect.weight.copy_(weights)
        self.detect.bias.copy_(intercept)


@dataclass(frozen=True)
class LabelledPlaces:
    """Raw features of labelled places (places x features), and whether each is damaged."""

    features: torch.Tensor
    labels: torch.Tensor

    @classmethod
    @torch.no_grad()
    def of(cls, network: SimilarityDetector, batches: Iterable[dict[str, torch.Tensor]]) -> "LabelledPlaces":
        """Compute the features of all labelled places in batches of segments."""
        parts = [
            (network.features(batch["vectors"], batch["mask"])[is_labelled], batch["labels"][is_labelled])
            for batch in batches
            for is_labelled in [batch["labels"] >= 0]
        ]
        features, labels = zip(*parts, strict=True)
        return cls(torch.cat(features), torch.cat(labels))


def sentence_features(directions: torch.Tensor, is_sentence: torch.Tensor) -> torch.Tensor:
    """Compute the similarities of each sentence to the others of its segment, and its place.

    Parameters
    ----------
    directions
        Centred embeddings of length 1, 0 for padding (segments x positions x width).

    Returns
    -------
    tensor
        Segments x positions x `SENTENCE_FEATURES`: cosine with the sum of the other sentences, that beyond the
        segment's mean, and its rank; mean, largest, largest beyond the segment's mean, and smallest cosine with another
        sentence; cosines with the sentence before, with the one after, and between these two; mean cosine among the
        other sentences; place, and whether it is the first or the last.
    """
    cosines = directions @ directions.transpose(1, 2)
    is_pair = is_sentence[:, :, None] & is_sentence[:, None, :]
    is_pair = is_pair & ~torch.eye(cosines.shape[1], dtype=torch.bool, device=cosines.device)
    count = is_sentence.sum(dim=1, keepdim=True)
    others = (count - 1).clamp(min=1)
    to_rest = (directions * functional.normalize(directions.sum(1, keepdim=True) - directions, dim=-1)).sum(dim=-1)
    sums = (cosines * is_pair).sum(dim=2)
    has_pair = is_pair.any(dim=2)
    largest = cosines.masked_fill(~is_pair, -2.0).amax(dim=2) * has_pair
    smallest = cosines.masked_fill(~is_pair, 2.0).amin(dim=2) * has_pair
    among_others = (sums.sum(dim=1, keepdim=True) - 2 * sums) / ((count - 1) * (count - 2)).clamp(min=1)
    before = functional.pad(_diagonal(cosines, 1), (1, 0))
    after = functional.pad(_diagonal(cosines, 1), (0, 1))
    around = functional.pad(_diagonal(cosines, 2), (1, 1))[:, : cosines.shape[1]]
    similarities = [
        to_rest,
        to_rest - _mean(to_rest, is_sentence),
        _rank(to_rest, is_sentence),
        sums / others,
        largest,
        largest - _mean(largest, is_sentence),
        smallest,
        before,
        after,
        around,
        among_others,
    ]
    return torch.stack([*similarities, *_place(is_sentence)], dim=-1) * is_sentence[..., None]


def slot_features(directions: torch.Tensor, is_sentence: torch.Tensor) -> torch.Tensor:
    """Compute the similarities across each slot between two sentences, and its place.

    Returns
    -------
    tensor
        Segments x positions x `SLOT_FEATURES`: cosine across the slot, that beyond the segment's mean, and its rank;
        cosine of the sentence before with the second after, and of the second before with the one after; cosine of
        the sums of both sides; whether it is the first or the last slot. The last position has no slot.
    """
    cosines = directions @ directions.transpose(1, 2)
    is_slot = functional.pad(is_sentence[:, :-1] & is_sentence[:, 1:], (0, 1))
    across = functional.pad(_diagonal(cosines, 1), (0, 1)) * is_slot
    wider = functional.pad(_diagonal(cosines, 2), (0, 2))[:, : cosines.shape[1]]
    wider_before = functional.pad(_diagonal(cosines, 2), (1, 1))[:, : cosines.shape[1]]
    left = directions.cumsum(dim=1)
    right = directions.sum(dim=1, keepdim=True) - left
    sides = functional.cosine_similarity(left, right, dim=-1)
    similarities = [
        across,
        across - _mean(across, is_slot),
        _rank(across, is_slot),
        wider,
        wider_before,
        sides,
    ]
    return torch.stack([*similarities, *_place(is_slot)[1:]], dim=-1) * is_slot[..., None]


def _diagonal(cosines: torch.Tensor, offset: int) -> torch.Tensor:
    """Return the cosines of sentences `offset` apart (segments x positions - offset); none in shorter segments."""
    return cosines.diagonal(offset=min(offset, cosines.shape[1]), dim1=1, dim2=2)


def _mean(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (values * mask).sum(dim=1, keepdim=True) / mask.sum(dim=1, keepdim=True).clamp(min=1)


def _rank(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the share of the other places of the segment with a smaller value."""
    below = (values[:, None, :] < values[:, :, None]) & mask[:, None, :]
    return below.sum(dim=2) / (mask.sum(dim=1, keepdim=True) - 1).clamp(min=1)


def _place(mask: torch.Tensor) -> list[torch.Tensor]:
    """Return the place from 0 to 1, and whether it is the first and the last one of its segment."""
    number = mask.cumsum(dim=1) - 1
    last = mask.sum(dim=1, keepdim=True) - 1
    return [number / last.clamp(min=1), (number == 0).float(), (number == last).float()]
