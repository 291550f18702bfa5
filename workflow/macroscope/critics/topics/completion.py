"""How well a topic model predicts half of the words of a document from the others (document completion)."""

import numpy as np
import torch

from macroscope.critics.topics.inference import Convergence, infer_all
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.word_counts import WordCounts

CONVERGENCE = Convergence(1e-6, 500)
_DRAWS = 200


def completion_perplexity(
    held_out: WordCounts, model: CorrelatedTopicModel, training: WordCounts, seed: int
) -> tuple[float, float]:
    """Perplexity of half of the words of each document, given a posterior from the others; and without any topics.

    A word's probability is its expectation over the posterior, from `_DRAWS` draws.

    Returns
    -------
    perplexity, unigram
        A word; the second under the words' shares in training documents. NaN where no document has two words.
    """
    rng = np.random.default_rng(seed)
    seen, unseen = held_out.with_words(2).halves(rng)
    words = int(unseen.totals.sum())
    if not words:
        return float("nan"), float("nan")
    generator = torch.Generator().manual_seed(seed)
    total = 0.0
    for some, found in infer_all(seen, model, CONVERGENCE):
        rest = unseen.some(some)
        likelihood = model.topics.T[rest.types]
        expected = torch.zeros_like(rest.counts)
        for _ in range(_DRAWS):
            noise = torch.randn(found.mean.shape, generator=generator, dtype=found.mean.dtype)
            weights = torch.softmax(model.strengths(found.mean + found.variance.sqrt() * noise), dim=1)
            expected += (likelihood @ weights[:, :, None])[:, :, 0] / _DRAWS
        of_words = torch.where(rest.counts > 0, expected.log(), 0.0)
        total += float((rest.counts * of_words).sum())
    size = model.topics.shape[1]
    shares = np.bincount(training.types, training.counts, size) + 1.0
    alone = np.log(shares / shares.sum())[unseen.types] @ unseen.counts
    return float(np.exp(-total / words)), float(np.exp(-alone / words))
