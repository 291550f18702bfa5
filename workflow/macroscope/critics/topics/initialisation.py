"""What the fit of a topic model starts from: EM climbs to the nearest maximum, so the start decides what is found."""

import warnings
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.word_counts import WordCounts

Array = NDArray[np.float64]
Initialisation = Literal["clusters", "documents"]
_MOST_CLUSTERED = 20_000
_STARTS = 3
_OF_ALL = 0.1
"""Share of a topic's words that are those of all documents, so that every word is possible in every topic."""


def initial_model(
    counts: WordCounts, vocabulary: int, topics: int, pinned: bool, how: Initialisation, seed: int
) -> CorrelatedTopicModel:
    """Model to start from: strengths are independent, with mean 0 and variance 1.

    Parameters
    ----------
    how
        "clusters": a topic is the words of a cluster of documents (k-means of the square roots of their words' shares,
        whose distances are Hellinger's; of 20,000 documents at random where there are more), or of a random document
        where a cluster stays empty. "documents": the words of a random document, and a little of every word, as the
        published implementation has it.
    """
    rng = np.random.default_rng(seed)
    start = _of_clusters if how == "clusters" else _of_documents
    dimensions = topics - pinned
    return CorrelatedTopicModel(
        torch.zeros(dimensions, dtype=torch.float64),
        torch.eye(dimensions, dtype=torch.float64),
        torch.from_numpy(start(counts.matrix(vocabulary), topics, rng)),
    )


def _of_documents(counts: sparse.csr_matrix, topics: int, rng: np.random.Generator) -> Array:
    chosen = counts[rng.choice(counts.shape[0], topics, replace=False)].toarray()
    found = 1.0 + rng.random(chosen.shape) + chosen
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _of_clusters(counts: sparse.csr_matrix, topics: int, rng: np.random.Generator) -> Array:
    of_all = np.asarray(counts.sum(axis=0)).ravel()
    of_all = of_all / of_all.sum()
    size = counts.shape[0]
    if size > _MOST_CLUSTERED:
        counts = counts[np.sort(rng.choice(size, _MOST_CLUSTERED, replace=False))]
    shares = sparse.diags_array(1 / np.asarray(counts.sum(axis=1)).ravel()) @ counts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different documents than topics: some stay empty
        clustering = KMeans(topics, n_init=_STARTS, random_state=int(rng.integers(1 << 31)))
        labels = clustering.fit_predict(sparse.csr_matrix(shares.sqrt()))
    members = sparse.csr_matrix((np.ones(len(labels)), (labels, np.arange(len(labels)))), (topics, len(labels)))
    words = (members @ counts).toarray()
    empty = words.sum(axis=1) == 0
    if empty.any():  # topics that are equal would stay so
        words[empty] = _of_documents(counts, int(empty.sum()), rng)
    own = words / words.sum(axis=1, keepdims=True)
    return np.asarray((1 - _OF_ALL) * own + _OF_ALL * of_all)
