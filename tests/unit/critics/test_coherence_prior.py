"""The section prior, compared with published values, brute force and closed forms."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macroscope.corpora.simulated.process import wiki_process
from macroscope.critics.coherence.options import CoherenceOptions
from macroscope.critics.coherence.prior import (
    UNKNOWN,
    Priors,
    SectionPrior,
    count_transitions,
    fit_priors,
    flatten,
    latent_ppl,
)
from macroscope.critics.coherence.scoring import expected_latent_ppl
from macroscope.critics.coherence.smoothing import Additive, BackOff, fit_back_off
from macroscope.errors import MacroscopeError

TOY = [
    ["abstract", "introduction", "method", "result", "discussion"],
    ["abstract", "introduction", "result", "discussion", "conclusion"],
    ["abstract", "introduction", "method", "result", "conclusion"],
]
TYPES = ["abstract", "introduction", "method", "result", "discussion", "conclusion"]


def to_indices(sequences):
    return [[TYPES.index(name) for name in sequence] for sequence in sequences]


def toy_prior(smoothing, published=True):
    counts = count_transitions(to_indices(TOY), len(TYPES))
    if not isinstance(smoothing, BackOff):
        smoothing = Additive(smoothing, published)
    return SectionPrior(tuple(TYPES), counts, smoothing, published)


def test_published_value_of_the_toy_corpus():
    # Known value of the released code's convention: M + 1 transitions, V with begin and end.
    assert latent_ppl(toy_prior(1.0), to_indices(TOY)) == pytest.approx(3.5314984021, abs=1e-10)


def test_an_unseen_bigram_is_impossible_without_smoothing():
    assert latent_ppl(toy_prior(0.0), to_indices([["method", "abstract"]])) == np.inf


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
    assert latent_ppl(toy_prior(delta, published=False), to_indices(documents)) == pytest.approx(expected, rel=1e-12)


def test_rows_of_the_definition_are_distributions():
    probabilities = np.exp(toy_prior(0.3, published=False).log_probabilities)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert probabilities[0, -1] == 0.0, "a document has at least one section"


@pytest.mark.slow
@given(st.integers(2, 4), st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(0, 10_000))
def test_expected_nll_equals_enumeration(types, lengths, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 5, (types + 1, types + 1)).astype(float)
    prior = SectionPrior(tuple("abcd"[:types]), counts, Additive(0.2))
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
    prior = toy_prior(0.5, published=False)
    states, lengths = flatten(to_indices(TOY))
    np.testing.assert_allclose(prior.expected_nll(np.eye(len(TYPES))[states], lengths), prior.nll(states, lengths))


def test_no_mass_on_an_impossible_transition_costs_nothing():
    prior = toy_prior(0.0)
    states, lengths = flatten(to_indices(TOY))
    certain = np.eye(len(TYPES))[states]
    np.testing.assert_allclose(prior.expected_nll(certain, lengths), prior.nll(states, lengths))
    uncertain = np.full_like(certain, 1 / len(TYPES))
    assert np.isinf(prior.expected_nll(uncertain, lengths)).all()


def test_transitions_to_unknown_types_are_skipped_as_published():
    prior = toy_prior(1.0)
    nll, units = prior.known_nll(np.array([0, UNKNOWN, 3]), np.array([3]))
    logs = prior.log_probabilities
    assert units == [2]
    assert nll == pytest.approx([-logs[0, 0] - logs[4, -1]])


# ---- back-off ------------------------------------------------------------------------------------------------------


def brute_force_back_off(sequences, a, b, left_out):
    """Return P(next | previous) from all documents but one, with dictionaries and loops."""
    pairs = [pair for d, s in enumerate(sequences) if d != left_out for pair in itertools.pairwise(["^", *s, "$"])]
    width = len({name for s in sequences for name in s}) + 1

    def share(name):
        return (sum(pair[1] == name for pair in pairs) + b / width) / (len(pairs) + b)

    def probability(before, after):
        below = share(after) / (1 - (share("$") if before == "^" else 0))
        seen = sum(pair == (before, after) for pair in pairs)
        return (seen + a * below) / (sum(pair[0] == before for pair in pairs) + a)

    return probability


def test_back_off_equals_brute_force():
    probability = brute_force_back_off(TOY, 2.0, 3.0, left_out=None)
    table = np.exp(toy_prior(BackOff(2.0, 3.0), published=False).log_probabilities)
    for i, before in enumerate(["^", *TYPES]):
        for j, after in enumerate([*TYPES, "$"]):
            if (before, after) != ("^", "$"):
                assert table[i, j] == pytest.approx(probability(before, after))
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    assert table[0, -1] == 0


def test_weights_maximise_the_leave_one_out_likelihood():
    rng = np.random.default_rng(0)
    documents = [[TYPES[i] for i in rng.integers(0, 6, rng.integers(2, 5))] for _ in range(8)] + TOY * 3

    def likelihood(a, b):
        total = 0.0
        for d, document in enumerate(documents):
            probability = brute_force_back_off(documents, a, b, d)
            total += sum(np.log(probability(*pair)) for pair in itertools.pairwise(["^", *document, "$"]))
        return total

    fit = fit_back_off(to_indices(documents), len(TYPES))
    best = fit.smoothing
    here = likelihood(best.transitions, best.types)
    for factor in (0.8, 1.25):
        assert likelihood(best.transitions * factor, best.types) < here + 1e-3
        assert likelihood(best.transitions, best.types * factor) < here + 1e-3
    assert not fit.at_edge


def test_without_unseen_transitions_the_weight_is_at_its_edge():
    """The documents do not identify the weight, which the fit reports."""
    assert fit_back_off([[0, 1]] * 50, 2).at_edge


@pytest.mark.slow
def test_back_off_is_near_the_truth_when_additive_smoothing_is_not():
    """Systems of the simulated encyclopaedia under its true probabilities, and under estimates from 430 articles."""
    process, rng = wiki_process(), np.random.default_rng(0)
    index = {name: i for i, name in enumerate(process.states)}
    train = [[index[name] for name in process.sample(rng)] for _ in range(430)]
    rows = np.column_stack([process.transition, process.end])
    exact = SectionPrior(process.states, np.vstack([np.append(process.begin, 0.0), rows]), Additive(0.0))
    counts, back_off = count_transitions(train, len(index)), fit_back_off(train, len(index))
    assert not back_off.at_edge
    for order in ("process", "shuffled", "independent"):
        truth, backed_off, additive = (
            expected_latent_ppl(process, prior, order, 1)
            for prior in (
                exact,
                SectionPrior(process.states, counts, back_off.smoothing),
                SectionPrior(process.states, counts, Additive(0.001)),
            )
        )
        assert abs(np.log(backed_off / truth)) < 0.35
        assert order == "process" or additive > 10 * truth


# ---- all priors of a corpus ----------------------------------------------------------------------------------------


def fit_toy_priors(train, valid, **options):
    return fit_priors(to_indices(train), valid, TYPES, np.eye(len(TYPES)), CoherenceOptions(**options))


def test_smoothing_is_selected_on_validation_documents():
    valid = to_indices([["abstract", "method"]])
    priors, choice = fit_toy_priors(TOY, valid, prior="additive", smoothing=[0.01, 0.1, 1.0])
    assert choice.validation[choice.name] == min(choice.validation[f"additive_{d}"] for d in ("0.01", "0.1", "1"))
    assert choice.at_edge == (choice.name != "additive_0.1")
    others = {"back_off", "additive_0.01", "additive_0.1", "additive_1", "aggregated"} - {choice.name}
    assert set(priors.others) == others


def test_the_published_prior_is_fitted_with_the_default_one():
    priors, choice = fit_toy_priors(TOY, [[0, UNKNOWN, 3]])
    assert choice.name == "back_off"
    assert priors.published.smoothing == Additive(1.0, True)
    assert priors.published.units(np.array([4])) == 5
    assert fit_toy_priors(TOY, [], convention="published")[0].default.published


@pytest.mark.slow
def test_the_aggregated_prior_is_that_of_inferred_types():
    confusion = np.full((6, 6), 0.02) + 0.88 * np.eye(6)
    priors, _ = fit_priors(to_indices(TOY), [], TYPES, confusion, CoherenceOptions())
    counts, rng = np.zeros((7, 7)), np.random.default_rng(0)
    for _ in range(4000):
        for document in to_indices(TOY):
            seen = [int(rng.choice(6, p=confusion[state])) for state in document]
            np.add.at(counts, ([0, *(1 + s for s in seen)], [*seen, 6]), 1 / 4000)
    np.testing.assert_allclose(priors.others["aggregated"].counts, counts, atol=0.06)


def test_no_usable_smoothing_raises_one_clear_sentence():
    with pytest.raises(MacroscopeError, match="no smoothing of"):
        fit_toy_priors(TOY, to_indices([["method", "abstract"]]), prior="additive", smoothing=[0.0])


def test_an_impossible_validation_document_has_no_perplexity(tmp_path):
    priors, choice = fit_toy_priors(TOY, to_indices([["method", "abstract"]]), smoothing=[0.0, 0.1])
    assert choice.validation["additive_0"] is None
    priors.save(tmp_path)
    assert "Infinity" not in (tmp_path / "prior.json").read_text()


def test_saved_and_loaded(tmp_path):
    priors, _ = fit_toy_priors(TOY, to_indices(TOY))
    priors.save(tmp_path)
    loaded = Priors.load(tmp_path)
    assert loaded.default.types == priors.default.types
    np.testing.assert_array_equal(loaded.default.log_probabilities, priors.default.log_probabilities)
    np.testing.assert_array_equal(loaded.published.log_probabilities, priors.published.log_probabilities)
    assert set(loaded.others) == set(priors.others)


def test_a_document_without_sections_is_refused():
    with pytest.raises(ValueError, match="at least one section"):
        toy_prior(1.0).nll(np.array([0]), np.array([1, 0]))
