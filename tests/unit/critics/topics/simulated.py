"""Documents simulated from a given correlated topic model."""

import numpy as np
import torch

from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.vocabulary import Words


def random_model(topics, vocabulary, seed=0, pinned=True, sharpness=0.1):
    """Return a model with correlated strengths and topics of few words."""
    rng = np.random.default_rng(seed)
    free = topics - pinned
    loadings = rng.normal(size=(free, max(1, free // 2)))
    covariance = loadings @ loadings.T + 0.3 * np.eye(free)
    beta = rng.dirichlet(np.full(vocabulary, sharpness), topics) + 1e-6
    parts = rng.normal(size=free) * 0.5, covariance, beta / beta.sum(axis=1, keepdims=True)
    return CorrelatedTopicModel(*(torch.from_numpy(part) for part in parts))


def sample_strengths(model, documents, rng):
    """Sample topic strengths (documents x dimensions)."""
    return rng.multivariate_normal(model.mean.numpy(), model.covariance.numpy(), documents)


def sample_counts(model, strengths, lengths, rng):
    """Sample counts of word types (documents x vocabulary)."""
    full = model.strengths(torch.from_numpy(strengths))
    shares = torch.softmax(full, dim=1).numpy() @ model.topics.numpy()
    return np.stack([rng.multinomial(n, p / p.sum()) for n, p in zip(lengths, shares, strict=True)])


def pad_counts(counts):
    """Convert counts (documents x vocabulary) to the input of the inference."""
    rows = [np.flatnonzero(row) for row in counts]
    width = max(1, *map(len, rows))
    types, numbers = np.zeros((len(rows), width), dtype=np.int64), np.zeros((len(rows), width))
    for d, row in enumerate(rows):
        types[d, : len(row)], numbers[d, : len(row)] = row, counts[d, row]
    return Words(torch.from_numpy(types), torch.from_numpy(numbers))
