"""Patchiness of the topics of a document: enumeration, a known process, and invariances."""

from itertools import combinations

import numpy as np
import pytest
import torch

from macroscope.critics.topics.projection import measure_patchiness
from macroscope.critics.topics.quasi_newton import MEMORY, History, Metric

SEPARATE = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
"""Two topics of two words each."""
EVEN = np.array([0.5, 0.5])


def _sentences(*sentences):
    return [np.array(words, dtype=np.int64) for words in sentences]


def _enumerate(sentences, shares, topics):
    """Return the patchiness by the definition: all pairs of words, one by one."""
    words = [(number, word) for number, sentence in enumerate(sentences) for word in sentence]
    agreement = {True: [], False: []}
    for (first, former), (second, latter) in combinations(words, 2):
        of_former, of_latter = (shares * topics[:, word] / (shares @ topics[:, word]) for word in (former, latter))
        agreement[first == second].append(of_former @ of_latter)
    return np.log(np.mean(agreement[True]) / np.mean(agreement[False]))


def test_it_is_the_ratio_over_all_pairs_of_words():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.ones(7), 3)
    sentences = [rng.integers(0, 7, length) for length in (4, 0, 1, 3)]
    shares = rng.dirichlet(np.ones(3))
    assert measure_patchiness(sentences, shares, topics) == pytest.approx(_enumerate(sentences, shares, topics))


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3)])
def test_sentences_of_two_matters_are_patchy_in_any_order(order):
    """Pairs within sentences always agree, and a third of the pairs across: log 3."""
    sentences = _sentences([0, 1], [1, 0], [2, 3], [3, 2])
    value = measure_patchiness([sentences[place] for place in order], EVEN, SEPARATE)
    assert value == pytest.approx(np.log(3))


def test_a_document_of_one_topic_is_not_patchy():
    assert measure_patchiness(_sentences([0, 1], [1, 1, 0]), np.array([1.0, 0.0]), SEPARATE) == pytest.approx(0)


def test_words_in_any_sentence_are_not_patchy_and_two_texts_in_one_are():
    """Compare texts of a known model: in one text, the words are independent given the shares of the topics."""
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(60, 0.1), 5)

    def sample(shares, number):
        places = rng.choice(5, (number, 10), p=shares)
        return [np.array([rng.choice(60, p=topics[topic]) for topic in row]) for row in places]

    alone, mixed = [], []
    for _ in range(40):
        first, second = rng.dirichlet(np.full(5, 0.3), 2)
        alone.append(measure_patchiness(sample(first, 20), first, topics))
        mixed.append(measure_patchiness(sample(first, 10) + sample(second, 10), (first + second) / 2, topics))
    assert abs(np.mean(alone)) < 3 * np.std(alone) / np.sqrt(40) + 0.005
    assert np.mean(mixed) > 0.1
    assert np.mean(np.array(mixed)[:, None] > np.array(alone)) > 0.8


@pytest.mark.parametrize("sentences", [[], [[]], [[0], [1], [2]], [[0, 1, 2]]])
def test_without_pairs_of_both_kinds_it_is_undefined(sentences):
    assert np.isnan(measure_patchiness(_sentences(*sentences), EVEN, SEPARATE))


def test_topics_that_never_agree_across_sentences_are_undefined():
    assert np.isnan(measure_patchiness(_sentences([0, 1], [2, 3]), EVEN, SEPARATE))


SIZE = 5


def _metric(rng, problems):
    half = rng.normal(size=(2, SIZE, SIZE))
    inverses = torch.from_numpy(half @ half.transpose(0, 2, 1) + np.eye(SIZE))
    return Metric(inverses, torch.arange(problems) % 2)


def _bfgs(inverse, pairs):
    """Return the inverse Hessian after updates (Nocedal and Wright 2006, eq. 6.17)."""
    for step, change in pairs:
        rho = 1 / (step @ change)
        left = np.eye(SIZE) - rho * np.outer(step, change)
        inverse = left @ inverse @ left.T + rho * np.outer(step, step)
    return inverse


def test_directions_are_those_of_bfgs_over_the_last_steps():
    rng = np.random.default_rng(0)
    history, kept = History(_metric(rng, 3)), []
    for _ in range(MEMORY + 2):
        step = rng.normal(size=(3, SIZE))
        change = step @ np.diag(rng.gamma(2.0, 1.0, SIZE))
        history.remember(torch.from_numpy(step), torch.from_numpy(change))
        kept.append((step, change))
    gradient = rng.normal(size=(3, SIZE))
    directions = history.direction(torch.from_numpy(gradient)).numpy()
    for n in range(3):
        inverse = history.metric.inverses[n % 2].numpy()
        expected = _bfgs(inverse, [(step[n], change[n]) for step, change in kept[-MEMORY:]]) @ gradient[n]
        np.testing.assert_allclose(directions[n], expected, rtol=1e-8)


def test_a_step_without_curvature_is_ignored():
    rng = np.random.default_rng(1)
    history = History(_metric(rng, 2))
    gradient = torch.from_numpy(rng.normal(size=(2, SIZE)))
    before = history.direction(gradient)
    step = torch.from_numpy(rng.normal(size=(2, SIZE)))
    step[1] = 0.0
    history.remember(step, -step)
    torch.testing.assert_close(history.direction(gradient), before)


def test_a_subset_of_problems_keeps_their_histories():
    rng = np.random.default_rng(2)
    history = History(_metric(rng, 4))
    step = torch.from_numpy(rng.normal(size=(4, SIZE)))
    history.remember(step, 2 * step)
    gradient = torch.from_numpy(rng.normal(size=(4, SIZE)))
    subset = torch.tensor([3, 0])
    torch.testing.assert_close(history[subset].direction(gradient[subset]), history.direction(gradient)[subset])
