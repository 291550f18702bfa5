"""Baselines without coherence, which check for leaks: prediction from the position, and from single sentences.

If damage could be predicted from its position, or from the sentence by itself, a detector could succeed without any
coherence. These two baselines are reported beside every detector, and should be at chance: an AUC of one half.
"""

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression

from macroscope.critics.narrative.examples import Examples
from macroscope.critics.narratives import Narratives

MOST_SENTENCES = 50_000
FEATURES = 1 << 16


def predict_by_position(train: Examples, test: Examples) -> npt.NDArray[np.float64]:
    """Return the share of 1 among the training labels, by length and position (segments x positions)."""
    width = train.labels.shape[1]
    rates = np.full((max(width, test.labels.shape[1]) + 1, max(width, test.labels.shape[1])), np.nan)
    lengths = (train.labels >= 0).sum(axis=1)
    for length in np.unique(lengths):
        labels = train.labels[lengths == length]
        with np.errstate(invalid="ignore"):
            rates[length, :width] = (labels == 1).sum(axis=0) / (labels >= 0).sum(axis=0)
    overall = (train.labels == 1).sum() / max(1, (train.labels >= 0).sum())
    predicted = rates[(test.labels >= 0).sum(axis=1)][:, : test.labels.shape[1]]
    return np.where(np.isnan(predicted), overall, predicted)


def predict_by_single_sentence(
    narratives: Narratives, train: Examples, test: Examples, seed: int
) -> npt.NDArray[np.float64]:
    """Predict logits from the words of each sentence and their number, by logistic regression.

    Slots are predicted from the sentence before them.

    Returns
    -------
    array
        Segments x positions; 0 at positions without a label.
    """
    positions = np.argwhere(train.labels >= 0)
    if len(positions) > MOST_SENTENCES:
        positions = positions[np.random.default_rng(seed).choice(len(positions), MOST_SENTENCES, replace=False)]
    labels = train.labels[tuple(positions.T)] == 1
    logits = np.zeros(test.labels.shape)
    if labels.all() or not labels.any():
        return logits
    model = LogisticRegression(solver="liblinear").fit(_features(narratives, train.inputs[tuple(positions.T)]), labels)
    places = np.argwhere(test.labels >= 0)
    for start in range(0, len(places), MOST_SENTENCES):
        part = tuple(places[start : start + MOST_SENTENCES].T)
        logits[part] = model.decision_function(_features(narratives, test.inputs[part]))
    return logits


def _features(narratives: Narratives, numbers: npt.NDArray[np.int64]) -> sparse.csr_matrix:
    sentences = [narratives.sentences[number] for number in numbers]
    words = HashingVectorizer(n_features=FEATURES, alternate_sign=False, norm="l2").transform(sentences)
    lengths = np.log1p([[len(sentence.split())] for sentence in sentences])
    return sparse.hstack([words, sparse.csr_matrix(lengths)]).tocsr()
