"""What can be told without reading a narrative: by the position alone, and by single sentences (no leaks).

Were damage to show in where it is, or in the sentence by itself, a detector could score without any coherence. These
two stand beside every detector, and should score at the base rate: an AUC of one half.
"""

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression

from macroscope.critics.narrative.examples import Examples
from macroscope.critics.narrative.narratives import Narratives

MOST_SENTENCES = 50_000
FEATURES = 1 << 16


def by_position(train: Examples, test: Examples) -> npt.NDArray[np.float64]:
    """Share of the training labels that are 1 at each position, of segments as long (segments x positions)."""
    width = train.labels.shape[1]
    rates = np.full((max(width, test.labels.shape[1]) + 1, max(width, test.labels.shape[1])), np.nan)
    lengths = (train.labels >= 0).sum(axis=1)
    for length in np.unique(lengths):
        some = train.labels[lengths == length]
        with np.errstate(invalid="ignore"):
            rates[length, :width] = (some == 1).sum(axis=0) / (some >= 0).sum(axis=0)
    overall = (train.labels == 1).sum() / max(1, (train.labels >= 0).sum())
    found = rates[(test.labels >= 0).sum(axis=1)][:, : test.labels.shape[1]]
    return np.where(np.isnan(found), overall, found)


def by_single_sentence(narratives: Narratives, train: Examples, test: Examples, seed: int) -> npt.NDArray[np.float64]:
    """Logistic regression on the words of each sentence and their number (segments x positions; 0 where no label is).

    The sentence before a slot stands for the slot.
    """
    known = np.argwhere(train.labels >= 0)
    if len(known) > MOST_SENTENCES:
        known = known[np.random.default_rng(seed).choice(len(known), MOST_SENTENCES, replace=False)]
    labels = train.labels[tuple(known.T)] == 1
    found = np.zeros(test.labels.shape)
    if labels.all() or not labels.any():
        return found
    model = LogisticRegression(solver="liblinear").fit(_features(narratives, train.inputs[tuple(known.T)]), labels)
    places = test.labels >= 0
    found[places] = model.decision_function(_features(narratives, test.inputs[places]))
    return found


def _features(narratives: Narratives, numbers: npt.NDArray[np.int64]) -> sparse.csr_matrix:
    sentences = [narratives.sentences[number] for number in numbers]
    words = HashingVectorizer(n_features=FEATURES, alternate_sign=False, norm="l2").transform(sentences)
    lengths = np.log1p([[len(sentence.split())] for sentence in sentences])
    return sparse.hstack([words, sparse.csr_matrix(lengths)]).tocsr()
