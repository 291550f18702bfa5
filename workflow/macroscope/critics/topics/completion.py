"""Document completion: prediction of half of a document's words from the other half by a topic model."""

import numpy as np
import torch

from macroscope.critics.topics.inference import Convergence, infer_all
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.word_counts import WordCounts

CONVERGENCE = Convergence(1e-6, 500)
_SAMPLES = 200


def completion_perplexity(
    held_out: WordCounts, model: CorrelatedTopicModel, training: WordCounts, seed: int
) -> tuple[float, float]:
    """Compute the perplexity of half of each document's words given the other half, and the unigram perplexity.

    A word's probability is its expectation over the posterior from the other half, estimated from `_SAMPLES` samples.

    Returns
    -------
    perplexity, unigram
        Perplexities per word; the second under the words' shares in training documents. NaN if no document has two
        words.
    """
    rng = np.random.default_rng(seed)
    seen, unseen = held_out.with_words(2).split_words(rng)
    words = int(unseen.totals.sum())
    if not words:
        return float("nan"), float("nan")
    generator = torch.Generator().manual_seed(seed)
    total = 0.0
    for documents, posterior in infer_all(seen, model, CONVERGENCE):
        rest = unseen.batch(documents)
        likelihood = model.topics.T[rest.types]
        expected = torch.zeros_like(rest.counts)
        for _ in range(_SAMPLES):
            noise = torch.randn(posterior.mean.shape, generator=generator, dtype=posterior.mean.dtype)
            weights = torch.softmax(model.strengths(posterior.mean + posterior.variance.sqrt() * noise), dim=1)
            expected += (likelihood @ weights[:, :, None])[:, :, 0] / _SAMPLES
        logs = torch.where(rest.counts > 0, expected.log(), 0.0)
        total += float((rest.counts * logs).sum())
    size = model.topics.shape[1]
    shares = np.bincount(training.types, training.counts, size) + 1.0
    unigram = np.log(shares / shares.sum())[unseen.types] @ unseen.counts
    return float(np.exp(-total / words)), float(np.exp(-unigram / words))
