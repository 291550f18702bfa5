"""Rise in the log odds of a text's order when one of its sentences stands elsewhere.

A sentence that was moved away from its place breaks the order in two places. Put back, the log odds of
`sentence_order` rise. So the largest rise over all other places is a number for each sentence.
"""

import numpy as np
import numpy.typing as npt

from macroscope.critics.narrative.sentence_order import FEWEST_SENTENCES, LAGS, OrderModel, mean_of_others
from macroscope.critics.narratives import Vectors

Array = npt.NDArray[np.float64]


def gains_of_moving(model: OrderModel, vectors: Vectors) -> Array:
    """Return, for each sentence, the rise in log odds of the order from its best move.

    Parameters
    ----------
    vectors
        Embeddings of a text's sentences (sentences x width).

    Returns
    -------
    array
        One number per sentence: log odds with the sentence at the best of all other places, less the log odds as it
        is. Below 0 if every other place is worse; NaN for fewer than `sentence_order.FEWEST_SENTENCES` sentences. The
        time is quadratic in the sentences.
    """
    n = len(vectors)
    if n < FEWEST_SENTENCES:
        return np.full(n, np.nan)
    directions, position = model.project(vectors)
    text = _Text(directions, position)
    gains = np.empty(n)
    for sentence in range(n):
        log_odds = text.features_of_moves(sentence) @ model.weights
        gains[sentence] = np.delete(log_odds, sentence).max() - log_odds[sentence]
    return gains


class _Text:
    """Sentences of a text, with what all moves share.

    Parameters
    ----------
    directions, position
        See `sentence_order.describe_order`.
    """

    def __init__(self, directions: Array, position: Array) -> None:
        n = len(directions)
        total = directions.sum(axis=0)
        self.directions, self.position = directions, position
        self.overall = float((total @ total - (directions**2).sum()) / (n * (n - 1)))
        self.likeness = (directions @ total - (directions**2).sum(axis=1)) / (n - 1) - self.overall
        self.lead = position - mean_of_others(position)
        # Cosines and steps of the score at each distance that a pair may have before or after a move.
        self.cosines = {lag: (directions[:-lag] * directions[lag:]).sum(axis=1) for lag in range(1, max(LAGS) + 2)}
        self.steps = {lag: np.tanh((position[:-lag] - position[lag:]) / 2) for lag in (1, 2)}

    def features_of_moves(self, sentence: int) -> Array:
        """Return the features of the order with a sentence at each place (places x features)."""
        n, others = len(self.position), np.delete(np.arange(len(self.position)), sentence)
        cosines = self.directions @ self.directions[sentence]
        step_to = np.tanh((self.position - self.position[sentence]) / 2)
        first, last = np.full(n, others[0]), np.full(n, others[-1])
        first[0] = last[-1] = sentence
        steps = _pairs_after_move(self.steps, sentence, 1, step_to[others], -step_to[others])
        lags = [
            _pairs_after_move(self.cosines, sentence, lag, cosines[others], cosines[others]) / (n - lag) - self.overall
            if n > lag
            else np.zeros(n)
            for lag in LAGS
        ]
        return np.column_stack(
            [
                self._trends(sentence, others),
                steps / (n - 1),
                self.lead[first],
                -self.lead[last],
                *lags,
                self.likeness[first],
                self.likeness[last],
            ]
        )

    def _trends(self, sentence: int, others: npt.NDArray[np.int64]) -> Array:
        """Return the correlation of the score with the place, counted from the end, for each place of a sentence."""
        n = len(self.position)
        places = np.arange(n - 1, -1, -1) - (n - 1) / 2
        spread = self.position.std() * places.std()
        if not spread:
            return np.zeros(n)
        scores = self.position[others]
        behind = scores.sum() - np.concatenate([[0.0], scores.cumsum()])  # those that stand one place later
        products: Array = scores @ places[:-1] - behind + self.position[sentence] * places
        return products / n / spread


def _pairs_after_move(by_lag: dict[int, Array], sentence: int, lag: int, before: Array, after: Array) -> Array:
    """Return the sum over all pairs at a distance, with a sentence at each place of its text.

    Parameters
    ----------
    by_lag
        Distance -> value of each pair of sentences of the text at this distance.
    before, after
        Value of each other sentence with the sentence, if it stands before the sentence, or after it.
    """
    m = len(before)
    places = np.arange(m + 1)
    sums = np.full(m + 1, _of_others(by_lag, sentence, lag).sum())
    sums -= _across(_of_others(by_lag, sentence, lag), places, lag)
    if lag > 1:  # pairs with the sentence between them stand one place further apart
        sums += _across(_of_others(by_lag, sentence, lag - 1), places, lag - 1)
    sums[lag:] += before[: m + 1 - lag]
    sums[: m + 1 - lag] += after[lag - 1 :]
    return sums


def _of_others(by_lag: dict[int, Array], sentence: int, lag: int) -> Array:
    """Return the value of each pair at a distance in the text without a sentence."""
    near, far = by_lag[lag], by_lag[lag + 1]
    start = max(sentence - lag, 0)
    return np.concatenate([near[:start], far[start:sentence], near[sentence + 1 :]])


def _across(pairs: Array, places: npt.NDArray[np.int64], lag: int) -> Array:
    """Return, for each place, the sum over the pairs whose first sentence stands before it and the second not."""
    total = np.concatenate([[0.0], pairs.cumsum()])
    until = np.minimum(places, len(pairs))
    since = np.clip(places - lag, 0, len(pairs))
    return total[until] - total[since]
