"""Posteriors of many documents under a model that is given, batch by batch."""

from collections.abc import Iterator

from macroscope.critics.topics.inference import Convergence, Posterior, infer
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.word_counts import Integers, WordCounts


def infer_all(
    counts: WordCounts, model: CorrelatedTopicModel, convergence: Convergence
) -> Iterator[tuple[Integers, Posterior]]:
    """Numbers of the documents of a batch, and their posteriors."""
    for some in counts.batches(len(model.topics)):
        yield some, infer(counts.some(some).to(model.mean.device), model, convergence)
