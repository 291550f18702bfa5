"""Sentences that stand elsewhere: the gains are those of all orders, and moved sentences have the largest ones."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from macroscope.critics.narrative.sentence_order import OrderModel, describe_order, fit_order, gains_of_moving

from .test_sentence_order import WIDTH, narratives


def put(n, sentence, place):
    """Return the order of n sentences with one of them at another place."""
    return np.insert(np.delete(np.arange(n), sentence), place, sentence)


@pytest.mark.parametrize("n", [3, 4, 5, 9])
def test_gains_are_those_of_all_other_places(n):
    rng = np.random.default_rng(n)
    model = OrderModel(*(rng.normal(size=shape) for shape in (WIDTH, (WIDTH, 3), 3, 9)))
    vectors = rng.normal(size=(n, WIDTH))
    directions, position = model.project(vectors)

    def log_odds(order):
        return describe_order(directions[order], position[order]) @ model.weights

    expected = [
        max(log_odds(put(n, sentence, place)) for place in range(n) if place != sentence) - log_odds(np.arange(n))
        for sentence in range(n)
    ]
    assert gains_of_moving(model, vectors) == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["walk", "trend"])
def test_a_moved_sentence_gains_most(kind):
    model = fit_order(narratives(kind, 150, 1), seed=1)
    texts = narratives(kind, 200, 2).vectors[:].reshape(200, -1, WIDTH)
    rng = np.random.default_rng(3)
    gains, moved = [], []
    for text in texts:
        sentence = rng.integers(len(text))
        order = put(len(text), sentence, (sentence + len(text) // 2) % len(text))
        gains += list(gains_of_moving(model, text[order]))
        moved += list(order == sentence)
    assert roc_auc_score(moved, gains) > 0.7


def test_two_sentences_have_no_number():
    model = fit_order(narratives("walk", 40, 1), seed=1)
    assert np.isnan(gains_of_moving(model, np.ones((2, WIDTH)))).all()
