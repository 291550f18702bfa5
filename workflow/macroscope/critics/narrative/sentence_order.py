"""Order of a narrative's sentences: the log odds that they stand in their author's order and not in another one.

A text whose sentences were put into another order keeps every sentence, so detectors of missing and of discordant
sentences hardly see it. Two things change. Sentences that follow each other are about the same matter: their similarity
falls with their distance (local coherence; Xu et al. 2019). And some sentences introduce while others conclude: a
sentence's embedding says something about its place (pairwise ordering; Chen et al. 2016).

Both are learned from real narratives alone. A linear position score of a sentence's principal components is fitted to
pairs of sentences of one narrative. Logistic regression then weighs the features of a narrative against those of copies
of itself in which a part of the sentences, or all, stand in another order.

A sentence that was moved away from its place breaks the order in two places. Put back, the log odds of
`sentence_order` rise. So the largest rise over all other places is a number for each sentence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from macroscope.critics.narratives import Narratives, Vectors
from macroscope.files import atomic

FEWEST_SENTENCES = 3
"""Fewest sentences of a narrative whose order is judged."""
FEWEST_NARRATIVES, MOST_NARRATIVES = 30, 2000
"""Fewest narratives to learn from, and the number of which more teach hardly anything."""
COMPONENTS = 50
"""Largest number of principal components of the sentences."""
DOSES = (0.25, 0.5, 1.0, 1.0)
"""Shares of the sentences that stand in another order in the copies to learn from."""
LAGS = (1, 2, 3)
_PAIRS = 60
"""Largest number of pairs of sentences of a narrative that the position score is fitted to."""
_POSITION_STRENGTH, _WEIGHT_STRENGTH = 0.03, 0.1
"""Inverse strengths of the L2 penalties; halving or doubling them changes accuracies by a hundredth."""
_FOLDS = 2

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class OrderModel:
    """Parameters of the log odds.

    Attributes
    ----------
    centre
        Mean embedding (width).
    axes
        Principal axes, divided by the standard deviation along each (width x components).
    position
        Weights of the position score (components); a sentence that stands earlier has the larger score.
    weights
        Weights of the features of `describe_order`.
    """

    centre: Array
    axes: Array
    position: Array
    weights: Array

    def log_odds(self, vectors: Vectors) -> float:
        """Return the log odds that sentences with these embeddings (sentences x width) stand in their own order.

        NaN for fewer than `FEWEST_SENTENCES`. The scale is that of the copies to learn from: only differences between
        collections have a meaning.
        """
        if len(vectors) < FEWEST_SENTENCES:
            return float("nan")
        return float(describe_order(*self.project(vectors)) @ self.weights)

    def project(self, vectors: Vectors) -> tuple[Array, Array]:
        """Return the centred embeddings of length 1 (sentences x width), and the position score of each sentence."""
        centred = np.asarray(vectors, dtype=float) - self.centre
        return _directions(centred), centred @ self.axes @ self.position

    def save(self, path: Path) -> None:
        """Write the parameters as a NumPy archive."""
        with atomic(path) as part, part.open("wb") as stream:
            np.savez(stream, **vars(self))

    @classmethod
    def load(cls, path: Path) -> "OrderModel":
        """Read the parameters."""
        with np.load(path) as arrays:
            return cls(**arrays)


def judge_orders(narratives: Narratives, model: OrderModel) -> list[float]:
    """Return the log odds of the order of each narrative with embeddings; NaN if it has too few sentences."""
    assert narratives.vectors is not None
    return [model.log_odds(narratives.vectors[start:end]) for start, end in pairwise(narratives.starts)]


def describe_order(directions: Array, position: Array) -> Array:
    """Compute the features of a narrative's order, in time linear in its sentences.

    Parameters
    ----------
    directions
        Centred embeddings of length 1 (sentences x width).
    position
        Position score of each sentence.

    Returns
    -------
    array
        Correlation of the position score with the place, counted from the end; mean difference of the score between
        neighbours, limited; score of the first sentence above the mean of the others; mean of the others above the
        last one; mean cosine at each of `LAGS` above that of all pairs (0 where there is no such pair); the same of the
        first sentence with the others, and of the last.
    """
    n = len(directions)
    total = directions.sum(axis=0)
    overall = float((total @ total - (directions**2).sum()) / (n * (n - 1)))
    places = np.arange(n - 1, -1, -1) - (n - 1) / 2
    spread = position.std() * places.std()
    lags = [
        float((directions[:-lag] * directions[lag:]).sum(axis=1).mean()) - overall if n > lag else 0.0 for lag in LAGS
    ]
    ends = [float(directions[end] @ (total - directions[end])) / (n - 1) - overall for end in (0, -1)]
    others = mean_of_others(position)
    trend = float(position @ places) / n / spread if spread else 0.0
    steps = float(np.tanh((position[:-1] - position[1:]) / 2).mean())
    return np.array([trend, steps, position[0] - others[0], others[-1] - position[-1], *lags, *ends])


def mean_of_others(values: Array) -> Array:
    """Return, for each of at least two values, the mean of the others."""
    others: Array = (values.sum() - values) / (len(values) - 1)
    return others


def fit_order(narratives: Narratives, seed: int) -> OrderModel | None:
    """Fit the model to the train split of narratives with embeddings; None if these are few, or all alike."""
    rng = np.random.default_rng(seed)
    numbers = [n for n in narratives.of_split("train") if narratives.lengths[n] >= FEWEST_SENTENCES]
    if len(numbers) < FEWEST_NARRATIVES:
        return None
    if len(numbers) > MOST_NARRATIVES:
        numbers = np.sort(rng.choice(numbers, MOST_NARRATIVES, replace=False)).tolist()
    assert narratives.vectors is not None
    vectors = [
        np.asarray(narratives.vectors[narratives.starts[n] : narratives.starts[n + 1]], dtype=float) for n in numbers
    ]
    centre, axes = _principal_axes(np.concatenate(vectors))
    if not axes.shape[1]:
        return None
    centred = [each - centre for each in vectors]
    directions, components = [_directions(each) for each in centred], [each @ axes for each in centred]
    differences, scale = _differences(directions, components, rng)
    weights = _fit_signs(differences / scale, _WEIGHT_STRENGTH) / scale
    return OrderModel(centre, axes, _fit_position(components, rng), weights)


def _principal_axes(vectors: Array) -> tuple[Array, Array]:
    """Return the mean, and the first axes, each divided by the standard deviation along it."""
    centre = vectors.mean(axis=0)
    centred = vectors - centre
    variances, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    kept = variances > max(1e-9 * variances[-1], 1e-12)  # none, if all sentences are alike
    variances, axes = variances[kept][: -COMPONENTS - 1 : -1], axes[:, kept][:, : -COMPONENTS - 1 : -1]
    return centre, axes / np.sqrt(variances)


def _directions(centred: Array) -> Array:
    return centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9)


def _differences(
    directions: Sequence[Array], components: Sequence[Array], rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return the features of each narrative less those of its copies, and the scale of each feature.

    The position score comes from the other fold: that of the own narratives would fit them too well.
    """
    rows = []
    for fold in range(_FOLDS):
        position = _fit_position([c for n, c in enumerate(components) if n % _FOLDS != fold], rng)
        for n in range(fold, len(components), _FOLDS):
            score = components[n] @ position
            real = describe_order(directions[n], score)
            orders = [reorder(len(score), dose, rng) for dose in DOSES]
            rows += [real - describe_order(directions[n][order], score[order]) for order in orders]
    differences = np.array(rows)
    return differences, np.maximum(differences.std(axis=0), 1e-9)


def reorder(n: int, dose: float, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return another order of n > 1 sentences: a share of them, at least two, change places among each other."""
    places = rng.choice(n, max(2, round(dose * n)), replace=False)
    order = np.arange(n)
    changed = rng.permutation(places)
    order[places] = np.roll(places, 1) if (changed == places).all() else changed
    return order


def _fit_position(components: Sequence[Array], rng: np.random.Generator) -> Array:
    """Fit the weights with which the earlier one of two sentences has the larger score; each narrative counts alike."""
    differences, weights = [], []
    for each in components:
        first, second = np.triu_indices(len(each), 1)
        if len(first) > _PAIRS:
            chosen = rng.choice(len(first), _PAIRS, replace=False)
            first, second = first[chosen], second[chosen]
        differences.append(each[first] - each[second])
        weights.append(np.full(len(first), 1 / len(first)))
    scales = np.concatenate(weights)
    return _fit_signs(np.concatenate(differences), _POSITION_STRENGTH, scales / scales.mean())


def _fit_signs(differences: Array, strength: float, scales: Array | None = None) -> Array:
    """Fit weights with which differences are positive: logistic regression without intercept on both signs."""
    from sklearn.linear_model import LogisticRegression  # slow to import, and only training needs it

    signs = np.where(np.arange(len(differences)) % 2, 1.0, -1.0)
    model = LogisticRegression(C=strength, fit_intercept=False, max_iter=1000)
    weights: Array = model.fit(differences * signs[:, None], signs, sample_weight=scales).coef_[0]
    return weights


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
