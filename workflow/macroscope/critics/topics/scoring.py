"""Scores of the critic `topics`: latent NLL under N(mu, Sigma) (deng2022 §6, Appendix A), known truth, course."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from scipy.optimize import linear_sum_assignment

from macroscope.corpora.simulated.topics import TopicProcess
from macroscope.critics.course import CourseInputs, Follow
from macroscope.critics.latents import read_vectors, write_scores
from macroscope.critics.topic_shares import read_vocabulary
from macroscope.critics.topics.latents import LATENTS, Array, read_posteriors
from macroscope.critics.topics.model import LOG_2_PI, CorrelatedTopicModel, entropy
from macroscope.critics.topics.options import TopicsOptions
from macroscope.critics.topics.vocabulary import TOKENIZERS, Integers
from macroscope.documents import Document
from macroscope.files import read_json, write_json
from macroscope.statistics.courses import BEGINNING, TENTHS


def score(latents: Path, inference: Path, *, options: TopicsOptions, output: Path) -> None:
    """Score latents under the Gaussian of the topic model.

    Writes id, opening, words, and, in nats and NaN for a document without words of the vocabulary:
    nll
        T(x) = -E_q log N(eta; mu, Sigma), exactly; with `convention: published`, at the posterior's mean only.
    nll_published
        Value at the posterior's mean; under the definition only.
    log_likelihood, log_evidence_bound
        E_q log P(x|z) of the words, by the bound of the variational inference, and the bound itself, which is
        log_likelihood minus the KL divergence of q from the prior.
    entropy, kl
        Entropy of q, and KL divergence of q from the prior: T(x) = entropy + kl. The entropy of a density may be
        negative. kl is written under the definition only.
    units
        Number of dimensions of the topic strengths.
    resolved
        Sum over dimensions of 1 - nu^2 (Sigma^-1)_ii: the share of the prior variance that the document's words remove.
        If it is small, posteriors stay near the prior, whatever the document.
    number_patchiness
        Patchiness of the topics (`projection.measure_patchiness`), not in nats.
    """
    model = CorrelatedTopicModel.load(inference / "model.npz")
    write_scores((_score_batch(*batch, model, options) for batch in read_posteriors(latents)), output, latents)


def _score_batch(
    keys: pd.DataFrame, means: Array, variances: Array, model: CorrelatedTopicModel, options: TopicsOptions
) -> pd.DataFrame:
    mean, variance = torch.tensor(means), torch.tensor(variances)
    entropies, at_mean = entropy(variance), model.negative_log_density(mean)
    resolved = (1 - variance * model.precision.diagonal()).sum(dim=1)
    nll = model.cross_entropy(mean, variance)
    kl = (nll - entropies).numpy()
    bound = keys.pop("bound")
    scores = keys.rename(columns={"patchiness": "number_patchiness"}).assign(
        units=model.dimensions, entropy=entropies.numpy(), resolved=resolved.numpy()
    )
    scores = scores.assign(log_likelihood=bound + kl, log_evidence_bound=bound)
    if options.convention == "published":
        return scores.assign(nll=at_mean.numpy())
    return scores.assign(nll=nll.numpy(), kl=kl, nll_published=at_mean.numpy())


# ---- known truth -----------------------------------------------------------------------------------------------------
# Known truth of the critic `topics`: theoretical latent PPL of the systems of a simulated corpus.
#
# The latent NLL of strengths with mean m and covariance S under N(mu, Sigma) is (d log 2 pi + log |Sigma| + tr(Sigma^-1
# (S + (m - mu)(m - mu)'))) / 2. It does not depend on the choice of the fixed topic, since changing that is a linear
# map with determinant 1 or -1.


def write_known_truth(process: Path, inference: Path, *, order: str, output: Path) -> None:
    """Write the theoretical latent PPL of a system of this order, and its definition.

    Parameters
    ----------
    process
        Path of truth/process.json of the corpus.
    inference
        Folder of the topic model.
    order
        Order of the system: "process", "shuffled" or "independent"; see `macroscope.corpora.simulated.topics`.
    output
        Path of a JSON file: latent_ppl of the system's true topic strengths under the fitted prior, or under the
        process's prior if the numbers of topics differ; basis, its definition in words; and, except for the order
        "independent", process_latent_ppl, under the process's prior.
    """
    truth, model = TopicProcess.load(process), CorrelatedTopicModel.load(inference / "model.npz")
    own_latent_ppl = compute_latent_ppl(truth, order, truth.mean, truth.covariance)
    if model.pinned and len(model.topics) == len(truth.names):
        words = read_json(inference / "vocabulary.json")["words"]
        matching = match_topics(truth, model, words)
        result = {
            "latent_ppl": _per_dimension(
                *_relative(truth, order, matching[-1], matching[:-1]), model.mean.numpy(), model.covariance.numpy()
            ),
            "basis": "latent PPL of the true topic strengths under the fitted prior, approached by long texts",
        }
    else:
        result = {
            "latent_ppl": own_latent_ppl,
            "basis": "latent PPL of the true topic strengths under their own distribution",
        }
    if order != "independent":
        result["process_latent_ppl"] = own_latent_ppl
    write_json(output, result)


def compute_latent_ppl(process: TopicProcess, order: str, mean: Array, covariance: Array) -> float:
    """Return exp(E[T] / d) of a system's strengths under N(mean, covariance), all relative to the last topic."""
    topics = len(process.names)
    moments = _relative(process, order, topics - 1, list(range(topics - 1)))
    contrast = _contrast(topics, topics - 1, list(range(topics - 1)))
    return _per_dimension(*moments, contrast @ mean, contrast @ covariance @ contrast.T)


def match_topics(process: TopicProcess, model: CorrelatedTopicModel, words: list[str]) -> list[int]:
    """Match each topic of the model to a topic of the process, by the largest total overlap of their words."""
    index = {word: number for number, word in enumerate(words)}
    process_topics = np.zeros((len(process.names), len(words)))
    for number, word in enumerate(process.words):
        if word in index:
            process_topics[:, index[word]] = process.topics[:, number]
    overlap = np.minimum(model.topics.numpy()[:, None], process_topics[None]).sum(axis=2)
    return [int(topic) for topic in linear_sum_assignment(-overlap)[1]]


def _relative(process: TopicProcess, order: str, pinned: int, others: list[int]) -> tuple[Array, Array]:
    """Return mean and covariance of the strengths of `others` relative to that of `pinned`."""
    contrast = _contrast(len(process.names), pinned, others)
    return contrast @ process.mean, contrast @ process.covariance_of(order) @ contrast.T


def _contrast(topics: int, pinned: int, others: list[int]) -> Array:
    return np.asarray(np.eye(topics)[others] - np.eye(topics)[pinned])


def _per_dimension(mean: Array, covariance: Array, prior_mean: Array, prior_covariance: Array) -> float:
    away = mean - prior_mean
    spread = np.linalg.solve(prior_covariance, covariance + np.outer(away, away))
    nll = (len(mean) * LOG_2_PI + np.linalg.slogdet(prior_covariance)[1] + np.trace(spread)) / 2
    return float(np.exp(nll / len(mean)))


# ---- course ----------------------------------------------------------------------------------------------------------


def follow(inputs: CourseInputs) -> Follow:
    """Return the function of each word's agreement with the topics of the beginning; see `critics.course`."""
    assert inputs.inference is not None
    model = CorrelatedTopicModel.load(inputs.inference / "model.npz")
    index, tokenize = read_vocabulary(inputs.inference), TOKENIZERS[inputs.options.convention]
    topics = model.topics.numpy()

    def values(documents: Iterable[Document], latents: Path) -> Iterator[Array]:
        strengths = model.strengths(torch.from_numpy(np.array(read_vectors(latents, LATENTS, "mean"))))
        for document, shares in zip(documents, torch.softmax(strengths, dim=1).numpy(), strict=True):
            words = np.array([index[word] for word in tokenize(document.text) if word in index], dtype=np.int64)
            yield agree_with_beginning(words, shares, topics)

    return values


def agree_with_beginning(words: Integers, shares: Array, topics: Array) -> Array:
    """Return for each word the probability that it has the same topic as another word of the beginning (1 x words).

    The topic of a word is from its distribution given the word and the shares of the topics in the document; `topics`
    are distributions of words (topics x vocabulary). No values if the beginning has fewer than two words.
    """
    size = -(-len(words) * BEGINNING // TENTHS)
    if size < 2:
        return np.empty((1, 0))
    joint = shares[:, np.newaxis] * topics[:, words]
    of_words = joint / joint.sum(axis=0)
    agreement = of_words[:, :size].sum(axis=1) @ of_words
    others = np.full(len(words), float(size))
    agreement[:size] -= (of_words[:, :size] ** 2).sum(axis=0)  # a word and itself are no pair
    others[:size] -= 1
    return np.asarray(agreement / others)[np.newaxis]
