"""The log-marginal and its gradient against exhaustive enumeration, finite differences and double precision."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from macroscope.systems.hsmm.marginal import IMPOSSIBLE, LogProbabilities, expected_counts, log_marginal

from .enumeration import paths, random_batch, random_model

ROWS = 7


@settings(max_examples=40)
@given(
    states=st.integers(1, 3),
    longest=st.integers(1, 4),
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    seed=st.integers(0, 10**6),
    missing=st.sampled_from([0.0, 0.5]),
    ends=st.booleans(),
)
def test_it_is_the_sum_over_all_states_and_segmentations(states, longest, sizes, seed, missing, ends):
    model, batch = random_model(states, longest, ROWS, seed, ends), random_batch(sizes, longest, ROWS, seed, missing)
    log_marginals, counts = expected_counts(model, batch)
    transitions = np.zeros((states, states))
    lengths, emissions = np.zeros((longest, states)), np.zeros((ROWS, states))
    for text, size in enumerate(sizes):
        derivations = list(paths(model, batch.rows[text], size))
        total = logsumexp([log for log, _ in derivations])
        assert float(log_marginals[text]) == pytest.approx(total, abs=1e-9)
        for log, segments in derivations:
            share = np.exp(log - total)
            for start, length, state in segments:
                lengths[length - 1, state] += share
                emissions[batch.rows[text, start, length - 1], state] += share
            for (_, _, before), (_, _, after) in itertools.pairwise(segments):
                transitions[before, after] += share
    np.testing.assert_allclose(counts.transition, transitions, atol=1e-9)
    np.testing.assert_allclose(counts.length, lengths, atol=1e-9)
    np.testing.assert_allclose(counts.emission, emissions, atol=1e-9)
    assert float(counts.initial.sum()) == pytest.approx(len(sizes))
    assert float(counts.end.sum()) == pytest.approx(len(sizes))


def test_the_gradient_is_that_of_finite_differences():
    model, batch = random_model(3, 3, ROWS, 1), random_batch([5, 1, 4], 3, ROWS, 2, 0.3)
    leaves = tuple(tensor.clone().requires_grad_() for tensor in model)
    assert torch.autograd.gradcheck(lambda *tensors: log_marginal(LogProbabilities(*tensors), batch), leaves)


def test_single_precision_is_enough_for_long_texts():
    """1,000 tokens, log-probabilities of several thousand nats, and transitions of e^-60 that some texts need."""
    model, batch = random_model(20, 6, 500, 3), random_batch([1000, 700], 6, 500, 4, 0.5)
    transition = torch.log_softmax(model.transition * 20, dim=1)
    model = model._replace(transition=transition, emission=model.emission - 8)
    exact, counts = expected_counts(model, batch)
    single = LogProbabilities(*(tensor.float() for tensor in model))
    log_marginals, rounded = expected_counts(single, batch)
    np.testing.assert_allclose(log_marginals, exact, rtol=1e-5)
    for actual, expected in zip(rounded, counts, strict=True):
        np.testing.assert_allclose(actual, expected, atol=2e-2 * float(expected.max()))


def test_an_impossible_text_uses_nothing():
    model, batch = random_model(2, 2, ROWS, 5), random_batch([3, 2], 2, ROWS, 6)
    batch.rows[0] = -1
    log_marginals, counts = expected_counts(model, batch)
    assert log_marginals[0] <= IMPOSSIBLE / 2
    alone = expected_counts(model, random_batch([3, 2], 2, ROWS, 6).__class__(batch.rows[1:, :2], batch.sizes[1:]))[1]
    for actual, expected in zip(counts, alone, strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-12)
