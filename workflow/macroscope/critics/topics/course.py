"""Topics of the words along the texts: how far they are those of the beginning."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import torch

from macroscope.critics.course import CourseInputs, Follow
from macroscope.critics.latents import read_vectors
from macroscope.critics.topic_shares import read_vocabulary
from macroscope.critics.topics.latents import LATENTS
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.vocabulary import TOKENIZERS, Integers
from macroscope.documents import Document
from macroscope.statistics.courses import BEGINNING, TENTHS
from macroscope.statistics.document_features import Array


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
