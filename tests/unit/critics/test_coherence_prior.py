"""The section prior against published values, brute force and closed forms."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macroscope.critics.coherence.prior import SectionPrior, count_transitions, fit, flatten, latent_ppl
from macroscope.errors import MacroscopeError

TOY = [
    ["abstract", "introduction", "method", "result", "discussion"],
    ["abstract", "introduction", "result", "discussion", "conclusion"],
    ["abstract", "introduction", "method", "result", "conclusion"],
]
TYPES = ["abstract", "introduction", "method", "result", "discussion", "conclusion"]


def ids(sequences):
    return [[TYPES.index(name) for name in sequence] for sequence in sequences]


def toy(smoothing, convention="published"):
    return SectionPrior(tuple(TYPES), count_transitions(ids(TOY), len(TYPES)), smoothing, convention)


def test_published_value_of_the_toy_corpus():
    # Known value of the released code's convention: M + 1 transitions, V with begin and end.
    assert latent_ppl(toy(1.0), ids(TOY)) == pytest.approx(3.5314984021, abs=1e-10)


def test_unsmoothed_prior_finds_an_unseen_bigram_impossible():
    assert latent_ppl(toy(0.0), ids([["method", "abstract"]])) == np.inf


def brute_force_latent_ppl(sequences, train, delta):
    """The definition in a few lines, with dictionaries and strings."""
    pairs = [pair for s in train for pair in itertools.pairwise(["^", *s, "$"])]
    vocabulary = {name for s in train for name in s}
    total = 0.0
    for s in sequences:
        for a, b in itertools.pairwise(["^", *s, "$"]):
            successors = len(vocabulary) + (a != "^")
            seen = sum(pair == (a, b) for pair in pairs)
            total -= np.log((seen + delta) / (sum(pair[0] == a for pair in pairs) + delta * successors))
    return np.exp(total / sum(len(s) for s in sequences))


@pytest.mark.parametrize("delta", [0.01, 0.5, 1.0])
def test_definition_equals_brute_force(delta):
    documents = [["abstract", "method", "method"], ["conclusion"], *TOY]
    expected = brute_force_latent_ppl(documents, TOY, delta)
    assert latent_ppl(toy(delta, "definition"), ids(documents)) == pytest.approx(expected, rel=1e-12)


def test_rows_of_the_definition_are_distributions():
    probabilities = np.exp(toy(0.3, "definition").log_probabilities)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert probabilities[0, -1] == 0.0, "a document has at least one section"


@given(st.integers(2, 4), st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(0, 10_000))
def test_expected_nll_equals_enumeration(types, lengths, seed):
    rng = np.random.default_rng(seed)
    prior = SectionPrior(
        tuple("abcd"[:types]), rng.integers(0, 5, (types + 1, types + 1)).astype(float), 0.2, "definition"
    )
    posterior = rng.dirichlet(np.ones(types), size=sum(lengths))
    expected, start = [], 0
    for length in lengths:
        q = posterior[start : start + length]
        total = 0.0
        for states in itertools.product(range(types), repeat=length):
            weight = np.prod([q[m, z] for m, z in enumerate(states)])
            total += weight * prior.nll(np.array(states), np.array([length]))[0]
        expected.append(total)
        start += length
    np.testing.assert_allclose(prior.expected_nll(posterior, np.array(lengths)), expected, rtol=1e-9)


def test_a_certain_posterior_gives_the_nll_of_its_states():
    prior = toy(0.5, "definition")
    states, lengths = flatten(ids(TOY))
    np.testing.assert_allclose(prior.expected_nll(np.eye(len(TYPES))[states], lengths), prior.nll(states, lengths))


def test_no_mass_on_an_impossible_transition_costs_nothing():
    prior = toy(0.0, "published")
    states, lengths = flatten(ids(TOY))
    certain = np.eye(len(TYPES))[states]
    np.testing.assert_allclose(prior.expected_nll(certain, lengths), prior.nll(states, lengths))
    uncertain = np.full_like(certain, 1 / len(TYPES))
    assert np.isinf(prior.expected_nll(uncertain, lengths)).all()


def test_smoothing_is_chosen_on_validation():
    prior, scores = fit(ids(TOY), ids([["abstract", "method"]]), TYPES, [0.01, 0.1, 1.0], "definition")
    assert scores[prior.smoothing] == min(scores.values())
    assert set(scores) == {0.01, 0.1, 1.0}


def test_no_usable_smoothing_is_one_clear_sentence():
    with pytest.raises(MacroscopeError, match="no smoothing of"):
        fit(ids(TOY), ids([["method", "abstract"]]), TYPES, [0.0], "published")


def test_saved_and_loaded(tmp_path):
    prior = toy(0.5)
    prior.save(tmp_path)
    loaded = SectionPrior.load(tmp_path)
    assert loaded.types == prior.types
    np.testing.assert_array_equal(loaded.log_probabilities, prior.log_probabilities)


def test_a_document_without_sections_is_refused():
    with pytest.raises(ValueError, match="at least one section"):
        toy(1.0).nll(np.array([0]), np.array([1, 0]))
