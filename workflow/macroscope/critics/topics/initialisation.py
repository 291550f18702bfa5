"""Initialisation of a topic model's fit: EM converges to a nearby maximum, so the result depends on the start."""

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
_MAX_CLUSTERED = 20_000
_STARTS = 3
_CORPUS_SHARE = 0.1
"""Weight of the corpus's word distribution in each topic, so that every word is possible in every topic."""


def build_initial_model(
    counts: WordCounts, vocabulary: int, topics: int, pinned: bool, how: Initialisation, seed: int
) -> CorrelatedTopicModel:
    """Build the initial model, with independent strengths of mean 0 and variance 1.

    Parameters
    ----------
    how
        "clusters": a topic has the words of a cluster of documents, or of a random document if the cluster is empty.
        The clustering is k-means on the square roots of word shares (Hellinger distance), with at most 20,000 randomly
        chosen documents. "documents": a topic has the words of a random document, plus a small count of every word, as
        in the published implementation.
    """
    rng = np.random.default_rng(seed)
    start = _topics_from_clusters if how == "clusters" else _topics_from_documents
    dimensions = topics - pinned
    return CorrelatedTopicModel(
        torch.zeros(dimensions, dtype=torch.float64),
        torch.eye(dimensions, dtype=torch.float64),
        torch.from_numpy(start(counts.matrix(vocabulary), topics, rng)),
    )


def _topics_from_documents(counts: sparse.csr_matrix, topics: int, rng: np.random.Generator) -> Array:
    chosen = counts[rng.choice(counts.shape[0], topics, replace=False)].toarray()
    weights = 1.0 + rng.random(chosen.shape) + chosen
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _topics_from_clusters(counts: sparse.csr_matrix, topics: int, rng: np.random.Generator) -> Array:
    corpus_words = np.asarray(counts.sum(axis=0)).ravel()
    corpus_words = corpus_words / corpus_words.sum()
    size = counts.shape[0]
    if size > _MAX_CLUSTERED:
        counts = counts[np.sort(rng.choice(size, _MAX_CLUSTERED, replace=False))]
    shares = sparse.diags_array(1 / np.asarray(counts.sum(axis=1)).ravel()) @ counts
    with warnings.catch_warnings():
        # With fewer distinct documents than topics, some clusters stay empty.
        warnings.simplefilter("ignore", ConvergenceWarning)
        clustering = KMeans(topics, n_init=_STARTS, random_state=int(rng.integers(1 << 31)))
        labels = clustering.fit_predict(sparse.csr_matrix(shares.sqrt()))
    members = sparse.csr_matrix((np.ones(len(labels)), (labels, np.arange(len(labels)))), (topics, len(labels)))
    words = (members @ counts).toarray()
    empty = words.sum(axis=1) == 0
    if empty.any():  # EM would keep equal topics equal
        words[empty] = _topics_from_documents(counts, int(empty.sum()), rng)
    cluster_words = words / words.sum(axis=1, keepdims=True)
    return np.asarray((1 - _CORPUS_SHARE) * cluster_words + _CORPUS_SHARE * corpus_words)
