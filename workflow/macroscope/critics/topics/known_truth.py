"""What theory gives for the systems of a simulated corpus whose topics are known: the topics critic's known truth.

The latent NLL of strengths with mean m and covariance S under N(mu, Sigma) is (d log 2 pi + log |Sigma| +
tr(Sigma^-1 (S + (m - mu)(m - mu)'))) / 2. It does not depend on which topic's strength is fixed: a change of that is
linear, with a determinant of 1 or -1.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from macroscope.corpora.simulated.topics import TopicProcess
from macroscope.critics.topics.model import LOG_2_PI, CorrelatedTopicModel
from macroscope.files import read_json, write_json

Array = NDArray[np.float64]


def write_known_truth(process: Path, inference: Path, *, order: str, output: Path) -> None:
    """Write what theory gives for a system of this order: latent_ppl, and what that is.

    Parameters
    ----------
    process
        truth/process.json of the corpus.
    inference
        Folder of the topic model.
    order
        "process", "shuffled" or "independent"; see `macroscope.corpora.simulated.topics`.
    output
        JSON: latent_ppl, of the system's own topic strengths under the fitted prior, where that has as many topics as
        the process, and else under the process's own; basis; and for the process itself process_latent_ppl, under its
        own.
    """
    truth, model = TopicProcess.load(process), CorrelatedTopicModel.load(inference / "model.npz")
    own = latent_ppl(truth, order, truth.mean, truth.covariance)
    if model.pinned and len(model.topics) == len(truth.names):
        words = read_json(inference / "vocabulary.json")["words"]
        found = matched(truth, model, words)
        result = {
            "latent_ppl": _per_dimension(*_relative(truth, order, found[-1], found[:-1]), *_prior(model)),
            "basis": "cost of the true topic strengths under the fitted prior, which long texts would reveal",
        }
    else:
        result = {"latent_ppl": own, "basis": "cost of the true topic strengths under their own distribution"}
    if order != "independent":
        result["process_latent_ppl"] = own
    write_json(output, result)


def latent_ppl(process: TopicProcess, order: str, mean: Array, covariance: Array) -> float:
    """exp(E[T] / d) of a system's strengths under N(mean, covariance), all relative to the last topic."""
    topics = len(process.names)
    drawn = _relative(process, order, topics - 1, list(range(topics - 1)))
    contrast = _contrast(topics, topics - 1, list(range(topics - 1)))
    return _per_dimension(*drawn, contrast @ mean, contrast @ covariance @ contrast.T)


def matched(process: TopicProcess, model: CorrelatedTopicModel, words: list[str]) -> list[int]:
    """Topic of the process that each topic of the model is: those that have most of their words in common."""
    known = {word: number for number, word in enumerate(words)}
    theirs = np.zeros((len(process.names), len(words)))
    for number, word in enumerate(process.words):
        if word in known:
            theirs[:, known[word]] = process.topics[:, number]
    overlap = np.minimum(model.topics.numpy()[:, None], theirs[None]).sum(axis=2)
    return [int(topic) for topic in linear_sum_assignment(-overlap)[1]]


def _relative(process: TopicProcess, order: str, pinned: int, others: list[int]) -> tuple[Array, Array]:
    """Mean and covariance of the strengths of some topics relative to that of another."""
    contrast = _contrast(len(process.names), pinned, others)
    return contrast @ process.mean, contrast @ process.covariance_of(order) @ contrast.T


def _contrast(topics: int, pinned: int, others: list[int]) -> Array:
    return np.asarray(np.eye(topics)[others] - np.eye(topics)[pinned])


def _prior(model: CorrelatedTopicModel) -> tuple[Array, Array]:
    return model.mean.numpy(), model.covariance.numpy()


def _per_dimension(mean: Array, covariance: Array, prior_mean: Array, prior_covariance: Array) -> float:
    away = mean - prior_mean
    spread = np.linalg.solve(prior_covariance, covariance + np.outer(away, away))
    nll = (len(mean) * LOG_2_PI + np.linalg.slogdet(prior_covariance)[1] + np.trace(spread)) / 2
    return float(np.exp(nll / len(mean)))
