"""The order of sentences: its features by hand, and the log odds of texts with and without an order."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from macroscope.critics.narrative.sentence_order import (
    FEWEST_NARRATIVES,
    LAGS,
    OrderModel,
    describe_order,
    fit_order,
    reorder,
)
from macroscope.critics.narratives import Narratives, VectorRows

WIDTH = 12


def narratives(kind, number, seed, sentences=8):
    """Make narratives of embeddings: a walk (neighbours are similar), a trend (places differ), or neither."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(number, sentences, WIDTH))
    if kind == "walk":
        steps = steps.cumsum(axis=1) / np.sqrt(np.arange(1, sentences + 1))[:, None]
    if kind == "trend":
        steps[:, :, 0] += np.linspace(-1.5, 1.5, sentences)
    starts = np.arange(number + 1) * sentences
    vectors = steps.reshape(-1, WIDTH).astype(np.float16)
    names = [f"n{n}" for n in range(number)]
    return Narratives(
        names, ["train"] * number, [""] * number, ["A sentence."] * len(vectors), starts, VectorRows(vectors)
    )


def tell_apart(model, made, dose, seed):
    """Return the AUC of the log odds of narratives against copies in another order."""
    rng = np.random.default_rng(seed)
    texts = [made.vectors[start:end] for start, end in zip(made.starts[:-1], made.starts[1:], strict=True)]
    copies = [text[reorder(len(text), dose, rng)] for text in texts]
    odds = [model.log_odds(text) for text in [*texts, *copies]]
    return roc_auc_score([1] * len(texts) + [0] * len(copies), odds)


@pytest.mark.parametrize("kind", ["walk", "trend"])
def test_other_orders_of_unseen_narratives_have_lower_log_odds(kind):
    model = fit_order(narratives(kind, 150, 1), seed=1)
    held_out = narratives(kind, 200, 2)
    assert tell_apart(model, held_out, 1.0, 3) > 0.85
    assert 0.6 < tell_apart(model, held_out, 0.25, 3) < tell_apart(model, held_out, 1.0, 3)


def test_without_an_order_nothing_is_learned():
    model = fit_order(narratives("neither", 150, 1), seed=1)
    assert tell_apart(model, narratives("neither", 400, 2), 1.0, 3) == pytest.approx(0.5, abs=0.07)


def test_features_are_those_of_all_pairs():
    rng = np.random.default_rng(0)
    n = 6
    vectors, position = rng.normal(size=(n, 5)), rng.normal(size=n)
    directions = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = directions @ directions.T
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    overall = np.mean([cosines[pair] for pair in pairs])
    lags = [np.mean([cosines[i, i + lag] for i in range(n - lag)]) - overall for lag in LAGS]
    ends = [np.mean([cosines[end, j] for j in range(n) if j != end]) - overall for end in (0, n - 1)]
    expected = [
        np.corrcoef(position, -np.arange(n))[0, 1],
        np.mean([np.tanh((position[i] - position[i + 1]) / 2) for i in range(n - 1)]),
        position[0] - position[1:].mean(),
        position[:-1].mean() - position[-1],
        *lags,
        *ends,
    ]
    assert describe_order(directions, position) == pytest.approx(expected)


@pytest.mark.parametrize(("n", "dose", "moved"), [(2, 0.1, 2), (8, 0.25, 2), (40, 0.5, 20), (5, 1.0, 5)])
def test_a_share_of_the_sentences_changes_places(n, dose, moved):
    rng = np.random.default_rng(0)
    for _ in range(50):
        order = reorder(n, dose, rng)
        assert sorted(order) == list(range(n))
        assert 2 <= (order != np.arange(n)).sum() <= moved


def test_short_texts_and_few_narratives_have_no_order():
    model = fit_order(narratives("walk", FEWEST_NARRATIVES, 1), seed=1)
    assert np.isnan(model.log_odds(np.ones((2, WIDTH))))
    assert np.isfinite(model.log_odds(np.ones((3, WIDTH))))  # sentences that are all the same
    assert fit_order(narratives("walk", FEWEST_NARRATIVES - 1, 1), seed=1) is None
    assert fit_order(narratives("walk", 100, 1, sentences=2), seed=1) is None


def test_sentences_that_are_all_alike_have_no_order():
    made = narratives("walk", 100, 1)
    assert fit_order(made.with_vectors(np.ones_like(made.vectors[:]), made.cut), seed=1) is None


def test_a_model_is_read_as_it_was_written(tmp_path):
    made = narratives("walk", 40, 1)
    model = fit_order(made, seed=1)
    for name in ("a.npz", "b.npz"):
        model.save(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert OrderModel.load(tmp_path / "a.npz").log_odds(made.vectors[:8]) == model.log_odds(made.vectors[:8])
