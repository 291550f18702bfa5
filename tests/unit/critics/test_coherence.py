"""The coherence critic's parts: temperature, projection, scores, transitions, theory."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from macroscope.batches import length_batches
from macroscope.corpora.simulated.articles import draw_section_types
from macroscope.corpora.simulated.genres import wiki_process
from macroscope.corpora.simulated.process import SectionProcess
from macroscope.critics import critics
from macroscope.critics.coherence.classifier import cut
from macroscope.critics.coherence.latents import Batch, LatentsInfo, read_info, read_latents, write_latents
from macroscope.critics.coherence.options import CoherenceOptions
from macroscope.critics.coherence.prior import SectionPrior, count_transitions, flatten
from macroscope.critics.coherence.scoring import score
from macroscope.critics.coherence.sections import gold_types, section_types, subset
from macroscope.critics.coherence.temperature import (
    calibrated,
    cross_calibrated,
    expected_calibration_error,
    fit_temperature,
    reliability,
)
from macroscope.critics.coherence.theory import expected_latent_ppl
from macroscope.critics.coherence.transitions import error_summary, step_probabilities, transition_table
from macroscope.critics.declaration import signature
from macroscope.documents import Document, Section
from macroscope.errors import MacroscopeError

TYPES = ("a", "b", "c")


def prior_of(sequences, smoothing=0.1):
    return SectionPrior(TYPES, count_transitions(sequences, len(TYPES)), smoothing)


# ---- calibration of the classifier ---------------------------------------------------------------------------------


def logits_of_known_temperature(temperature, n=6000, types=4, seed=0):
    rng = np.random.default_rng(seed)
    honest = rng.normal(scale=2, size=(n, types))
    posterior = calibrated(honest, 1.0).astype(float)
    gold = (posterior.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=types - 1)
    return honest * temperature, gold


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_temperature_is_recovered(temperature):
    logits, gold = logits_of_known_temperature(temperature)
    assert fit_temperature(logits, gold) == pytest.approx(temperature, rel=0.06)
    assert expected_calibration_error(reliability(cross_calibrated(logits, gold), gold)) < 0.03


def test_a_classifier_without_error_does_not_end_up_certain():
    logits, gold = np.eye(3)[np.arange(60) % 3] * 4.0, np.arange(60) % 3
    confidence = calibrated(logits, fit_temperature(logits, gold)).max()
    assert confidence == pytest.approx(1 - 1 / 62, abs=2e-3)


def test_sections_of_unseen_types_take_no_part():
    logits, gold = logits_of_known_temperature(2.0, n=500)
    unseen = np.vstack([logits, np.full((50, 4), 3.0)])
    assert fit_temperature(unseen, np.append(gold, [-1] * 50)) == pytest.approx(fit_temperature(logits, gold))
    assert fit_temperature(np.zeros((2, 3)), np.array([-1, -1])) == 1


def test_calibration_error_of_a_known_table():
    posterior = np.array([[0.75, 0.25]] * 4)
    table = reliability(posterior, [0, 0, 1, 1])
    assert expected_calibration_error(table) == pytest.approx(0.25)
    assert table["sections"].sum() == 4


# ---- sections ------------------------------------------------------------------------------------------------------


def test_subset_keeps_every_type():
    types = ["common"] * 500 + ["rare"]
    chosen = subset(types, 20, seed=1)
    assert len(chosen) == 20
    assert 500 in chosen


def test_a_document_with_an_untitled_section_has_no_gold_types():
    assert gold_types(Document("x", "train", None, (Section("a", "t"), Section(None, "t")))) is None
    assert section_types([["b", "a"], ["a"], ["c"]]) == ["a", "b", "c"]


def test_length_batches_cover_all_within_the_budget():
    lengths = np.array([3, 50, 7, 7, 20, 64, 1])
    batches = list(length_batches(lengths, 64))
    assert sorted(np.concatenate(batches)) == list(range(7))
    assert all(len(batch) * lengths[batch].max() <= 64 or len(batch) == 1 for batch in batches)


def test_a_long_text_keeps_its_closing_token():
    assert cut([101, 1, 2, 3, 102], 4) == [101, 1, 2, 102]
    assert cut([101, 1, 102], 4) == [101, 1, 102]


# ---- latents and scores --------------------------------------------------------------------------------------------


@pytest.fixture
def latents(tmp_path):
    rng = np.random.default_rng(0)
    lengths = np.array([2, 4, 1])
    posterior = rng.dirichlet([0.5] * 3, size=7).astype(np.float32)
    gold = [["a", "b"], None, ["c"]]
    counts = {"documents": 3}
    write_latents(
        tmp_path / "l.parquet",
        [Batch(["x", "y", "z"], lengths, posterior, gold)],
        LatentsInfo(list(TYPES), "s", counts),
    )
    return tmp_path / "l.parquet", posterior, lengths, gold


def test_latents_round_trip(latents):
    path, posterior, lengths, gold = latents
    (batch,) = read_latents(path)
    np.testing.assert_array_equal(batch.posterior, posterior)
    np.testing.assert_array_equal(batch.lengths, lengths)
    assert batch.gold == gold
    assert read_info(path).counts == {"documents": 3}


def brute_force_t(prior, posterior):
    """E over all type sequences of -log P_c(z), for a posterior that factorises."""
    total = 0.0
    for states in itertools.product(range(3), repeat=len(posterior)):
        weight = np.prod([posterior[m, z] for m, z in enumerate(states)])
        total += weight * prior.nll(np.array(states), np.array([len(states)]))[0]
    return total


def test_scores_equal_brute_force(latents, tmp_path):
    path, posterior, lengths, _ = latents
    prior = prior_of([[0, 1, 2], [0, 0, 1], [2]])
    prior.save(tmp_path)
    score(path, tmp_path, options=CoherenceOptions(), output=tmp_path / "scores.parquet")
    table = pd.read_parquet(tmp_path / "scores.parquet")
    exact = posterior.astype(float)
    exact /= exact.sum(axis=1, keepdims=True)
    pieces = np.split(exact, np.cumsum(lengths)[:-1])
    np.testing.assert_allclose(table["nll"], [brute_force_t(prior, q) for q in pieces])
    np.testing.assert_allclose(table["entropy"], [-(q * np.log(q)).sum() for q in pieces], rtol=1e-6)
    np.testing.assert_allclose(table["kl"], table["nll"] - table["entropy"])
    np.testing.assert_allclose(table["nll_gold"], [*prior.nll(*flatten([[0, 1]])), np.nan, *prior.nll(*flatten([[2]]))])
    assert list(table["units"]) == [2, 4, 1]


def test_scores_refuse_latents_of_other_types(latents, tmp_path):
    SectionPrior(("x", "y", "z"), np.ones((4, 4)), 1.0).save(tmp_path)
    with pytest.raises(MacroscopeError, match="section types differ"):
        score(latents[0], tmp_path, options=CoherenceOptions(), output=tmp_path / "scores.parquet")


# ---- transitions ---------------------------------------------------------------------------------------------------


def test_transition_table_of_known_sequences():
    prior = prior_of([[0, 1]] * 99 + [[0, 2]], smoothing=0.0)
    table = transition_table([[0, 1], [0, 0, 1]], [[0, 1], [0, 1]], prior, 0.02, 0.95).set_index(["previous", "next"])
    assert table.at[("a", "b"), "count"] == 2
    assert table.at[("a", "b"), "probability"] == pytest.approx(2 / 3)
    assert table.at[("a", "b"), "control_probability"] == 1
    assert table.at[("a", "a"), "error"]
    assert table.at[("a", "a"), "repetition"]
    assert table["frequency"].sum() == pytest.approx(1)
    summary = error_summary(table.reset_index())
    assert summary["transitions"] == 7
    assert summary["errors"] == 1
    assert summary["repetition_share_of_errors"] == 1


def test_only_differences_beyond_chance_have_small_p_values():
    prior = prior_of([[0, 1, 2]], smoothing=1.0)
    rng = np.random.default_rng(0)
    control = [[0, int(rng.random() < 0.5) + 1] for _ in range(200)]
    same = [[0, int(rng.random() < 0.5) + 1] for _ in range(200)]
    worse = [[0, int(rng.random() < 0.9) + 1] for _ in range(200)]
    assert transition_table(same, control, prior, 0.01, 0.95)["p_adjusted"].min() > 0.05
    assert transition_table(worse, control, prior, 0.01, 0.95)["p_adjusted"].min() < 1e-6


def test_step_probabilities_multiply_to_the_likelihood():
    prior = prior_of([[0, 1, 2], [1, 1]])
    steps = step_probabilities([1, 0, 2], prior)
    assert len(steps) == 4
    assert -np.log(steps).sum() == pytest.approx(prior.nll(np.array([1, 0, 2]), np.array([3]))[0])


# ---- theory --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["process", "shuffled", "independent"])
def test_theory_equals_simulation(order):
    """20,000 scored draws of each system against the expected value under the same prior."""
    process = wiki_process()
    index = {name: i for i, name in enumerate(process.states)}
    rng = np.random.default_rng(1)
    train = [[index[t] for t in process.sample(rng)] for _ in range(1000)]
    prior = SectionPrior(process.states, count_transitions(train, len(index)), 0.01)
    states, lengths = flatten([[index[t] for t in draw_section_types(process, order, rng)] for _ in range(20000)])
    nll = prior.nll(states, lengths)
    measured = nll.sum() / lengths.sum()
    standard_error = (nll - measured * lengths).std() / lengths.mean() / np.sqrt(len(nll))
    assert abs(np.log(expected_latent_ppl(process, prior, order, seed=3)) - measured) < 4 * standard_error


def test_theory_of_the_process_under_itself_is_its_entropy_rate():
    process = SectionProcess(["a", "b"], [0.7, 0.3], [[0.1, 0.4], [0.2, 0.2]], [0.5, 0.6])
    counts = np.array([[0.7, 0.3, 0.0], [0.1, 0.4, 0.5], [0.2, 0.2, 0.6]]) * 1000
    prior = SectionPrior(("a", "b"), counts, 0.0)
    assert expected_latent_ppl(process, prior, "process", 0) == pytest.approx(process.latent_ppl())


def test_theory_with_a_type_that_the_prior_never_saw_is_infinite():
    process = SectionProcess(["a", "z"], [0.7, 0.3], [[0.1, 0.4], [0.2, 0.2]], [0.5, 0.6])
    prior = SectionPrior(("a",), np.ones((2, 2)), 1.0)
    assert expected_latent_ppl(process, prior, "process", 0) == np.inf


def test_options_signature_names_every_option():
    for name in CoherenceOptions.model_fields:
        assert f"|{name}:" in signature(critics()["coherence"], CoherenceOptions(), "score")
    assert json.loads(CoherenceOptions().model_dump_json())


def test_a_classifier_that_knows_nothing_is_warned_of():
    from macroscope.critics.coherence.report import classifier_warning

    known = {"accuracy": 0.8, "accuracy_low": 0.7, "majority_share": 0.6, "sections": 40}
    assert classifier_warning(known) is None
    assert "would be right on 60%" in classifier_warning(known | {"accuracy_low": 0.55})
