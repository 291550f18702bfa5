"""Patchiness of the topics of a document: whether single sentences have topics of their own.

T(x) sees how much of each topic a document has, and not where. Half of one document beside half of another one has an
ordinary mixture of topics. But its sentences are about one half of them or the other: words of one sentence share their
topic more often than words of different sentences do. Ecologists call the ratio of the two shares the patchiness (Lloyd
1967, "Mean crowding"; there of animals in quadrats, here of topics in sentences).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from macroscope.critics.topics.word_counts import Integers

Array = NDArray[np.float64]
_ROUNDING = 1e-12
"""Shares of pairs below it may be 0 but for rounding."""


def measure_patchiness(sentences: Sequence[Integers], shares: Array, topics: Array) -> float:
    """Compute the patchiness of the topics of a document.

    Parameters
    ----------
    sentences
        Indices of the words of the vocabulary in each sentence.
    shares
        Shares of the topics in the document (topics).
    topics
        Distributions of words (topics x vocabulary).

    Returns
    -------
    float
        log(P(two words of one sentence have the same topic) / P(two words of different sentences have)), over all pairs
        of words, each of whose topics is from its distribution given the word and `shares`. 0: sentences do not
        differ in their topics. NaN without pairs of both kinds, or if those of a kind never agree.
    """
    lengths = np.array([len(words) for words in sentences if len(words)], dtype=float)
    pairs_within, pairs = float(lengths @ (lengths - 1)), float(lengths.sum() * (lengths.sum() - 1))
    if not 0 < pairs_within < pairs:
        return float("nan")
    joint = shares[:, None] * topics[:, np.concatenate([words for words in sentences if len(words)])]
    of_words = joint / joint.sum(axis=0)
    of_sentences = np.add.reduceat(of_words, np.cumsum([0, *lengths[:-1]]).astype(np.int64), axis=1)
    alone = float((of_words**2).sum())  # each word beside itself, which is not a pair
    within = float((of_sentences**2).sum()) - alone
    across = float((of_words.sum(axis=1) ** 2).sum()) - alone - within
    share_within, share_across = within / pairs_within, across / (pairs - pairs_within)
    return float(np.log(share_within / share_across)) if min(share_within, share_across) > _ROUNDING else float("nan")
