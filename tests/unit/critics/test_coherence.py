"""Parts of the coherence critic: temperature, projection, scores, transitions, theory."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from macroscope.corpora.simulated.articles import sample_section_types
from macroscope.corpora.simulated.process import SectionProcess, wiki_process
from macroscope.critics import critics
from macroscope.critics.coherence.classifier import cut
from macroscope.critics.coherence.explanation import has_repeating_error, select_repetition
from macroscope.critics.coherence.latents import Batch, LatentsInfo, read_batches, read_info, write_batches
from macroscope.critics.coherence.options import CoherenceOptions
from macroscope.critics.coherence.prior import Priors, SectionPrior, count_transitions, flatten, step_probabilities
from macroscope.critics.coherence.scoring import expected_latent_ppl, fit_prior, score
from macroscope.critics.coherence.sections import get_gold_types, rank_section_types, read_gold_sequences, sample_subset
from macroscope.critics.coherence.smoothing import Additive, BackOff
from macroscope.critics.coherence.training import train
from macroscope.critics.coherence.transitions import build_transition_table
from macroscope.critics.coherence.validation import (
    calibrate,
    compute_reliability,
    cross_calibrate,
    estimate_confusion,
    expected_calibration_error,
    fit_temperature,
    invert_confusion,
    write_confusion,
)
from macroscope.critics.declaration import signature
from macroscope.critics.text_encoder import batch_by_length
from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.files import read_json
from macroscope.options import Resampling
from macroscope.statistics.permutation_groups import Permutation

from ...tiny import simulated_documents, write_encoder, write_texts_of_lengths

TYPES = ("a", "b", "c")


def make_prior(sequences, smoothing=0.1):
    return SectionPrior(TYPES, count_transitions(sequences, len(TYPES)), Additive(smoothing))


def write_priors(folder, prior, confusion=None, **others):
    Priors(prior, SectionPrior(prior.types, prior.counts, Additive(1.0, True), True), others).save(folder)
    write_confusion(folder / "confusion.json", np.eye(len(prior.types)) if confusion is None else confusion)


# ---- calibration of the classifier ---------------------------------------------------------------------------------


def make_logits(temperature, n=6000, types=4, seed=0):
    rng = np.random.default_rng(seed)
    honest = rng.normal(scale=2, size=(n, types))
    posterior = calibrate(honest, 1.0).astype(float)
    gold = (posterior.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=types - 1)
    return honest * temperature, gold


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_temperature_is_recovered(temperature):
    logits, gold = make_logits(temperature)
    assert fit_temperature(logits, gold) == pytest.approx(temperature, rel=0.06)
    table = compute_reliability(cross_calibrate(logits, gold), gold, np.arange(len(gold)))
    assert expected_calibration_error(table) < 0.03


def test_a_classifier_without_errors_does_not_become_certain():
    logits, gold = np.eye(3)[np.arange(60) % 3] * 4.0, np.arange(60) % 3
    confidence = calibrate(logits, fit_temperature(logits, gold)).max()
    assert confidence == pytest.approx(1 - 1 / 62, abs=2e-3)


def test_sections_of_unseen_types_are_ignored():
    logits, gold = make_logits(2.0, n=500)
    unseen = np.vstack([logits, np.full((50, 4), 3.0)])
    assert fit_temperature(unseen, np.append(gold, [-1] * 50)) == pytest.approx(fit_temperature(logits, gold))
    assert fit_temperature(np.zeros((2, 3)), np.array([-1, -1])) == 1


def test_calibration_error_of_a_known_table():
    posterior = np.array([[0.75, 0.25]] * 4)
    table = compute_reliability(posterior, [0, 0, 1, 1], [0, 0, 1, 1])
    assert expected_calibration_error(table) == pytest.approx(0.25)
    assert table["sections"].sum() == 4
    row = table[table["sections"] > 0].iloc[0]
    assert (row["correct"], row["documents"], row["affected"], row["squares"]) == (2, 2, 1, 2.0)


# ---- sections ------------------------------------------------------------------------------------------------------


def test_subset_keeps_every_type():
    types = ["common"] * 500 + ["rare"]
    chosen = sample_subset(types, 20, seed=1)
    assert len(chosen) == 20
    assert 500 in chosen


def test_a_document_with_an_untitled_section_has_no_gold_types():
    assert get_gold_types(Document("x", "train", None, (Section("a", "t"), Section(None, "t")))) is None
    assert rank_section_types([["b", "a"], ["a"], ["c"]]) == ["a", "b", "c"]


def test_a_reference_without_section_titles_is_one_sentence(tmp_path):
    path = write_texts_of_lengths(tmp_path / "documents.parquet", {"untitled": 5})
    with pytest.raises(MacroscopeError, match="has section titles, but the coherence critic learns from them"):
        read_gold_sequences(path, "test")


def test_length_batches_cover_all_within_the_budget():
    lengths = np.array([3, 50, 7, 7, 20, 64, 1])
    batches = list(batch_by_length(lengths, 64))
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
    write_batches(
        tmp_path / "l.parquet",
        [Batch(["x", "y", "z"], ["of x", "of y", "of z"], lengths, posterior, gold)],
        LatentsInfo(list(TYPES), "s", counts),
    )
    return tmp_path / "l.parquet", posterior, lengths, gold


def test_latents_round_trip(latents):
    path, posterior, lengths, gold = latents
    (batch,) = read_batches(path)
    np.testing.assert_array_equal(batch.posterior, posterior)
    np.testing.assert_array_equal(batch.lengths, lengths)
    assert batch.gold == gold
    assert read_info(path).counts == {"documents": 3}


def brute_force_t(prior, posterior):
    """Compute E over all type sequences of -log P_c(z), for a posterior that factorises."""
    total = 0.0
    for states in itertools.product(range(3), repeat=len(posterior)):
        weight = np.prod([posterior[m, z] for m, z in enumerate(states)])
        total += weight * prior.nll(np.array(states), np.array([len(states)]))[0]
    return total


def test_scores_equal_brute_force(latents, tmp_path):
    path, posterior, lengths, _ = latents
    prior = make_prior([[0, 1, 2], [0, 0, 1], [2]])
    write_priors(tmp_path, prior, other=make_prior([[0], [1]]))
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
    write_priors(tmp_path, SectionPrior(("x", "y", "z"), np.ones((4, 4)), Additive(1.0)))
    with pytest.raises(MacroscopeError, match="section types differ"):
        score(latents[0], tmp_path, options=CoherenceOptions(), output=tmp_path / "scores.parquet")


# ---- transitions ---------------------------------------------------------------------------------------------------


def tabulate(sequences, control, prior, threshold=0.01, permutations=999):
    permutation = Permutation((len(control), len(sequences)))
    return build_transition_table(
        sequences, control, prior, threshold, Resampling(permutations=permutations), permutation
    )


@pytest.mark.slow
def test_bundles_of_documents_give_similar_p_values(monkeypatch):
    rng = np.random.default_rng(0)
    samples = [
        [rng.choice(3, rng.integers(1, 5), p=p) for _ in range(1500)] for p in ([0.4, 0.3, 0.3], [0.4, 0.32, 0.28])
    ]
    prior = make_prior([[0, 1, 2]], smoothing=1.0)
    p_values = []
    monkeypatch.setattr("macroscope.statistics.permutation_groups.BUNDLES", 300)
    for many in (10**6, 1000):
        for module in ("critics.coherence.transitions", "statistics.permutation_groups"):
            monkeypatch.setattr(f"macroscope.{module}.MANY", many)
        p_values.append(tabulate(*samples, prior).sort_values(["previous", "next"])["p_value"].to_numpy())
    assert not np.array_equal(*p_values)
    np.testing.assert_allclose(*p_values, atol=0.12)


def test_transition_table_of_known_sequences():
    prior = make_prior([[0, 1]] * 99 + [[0, 2]], smoothing=0.0)
    table = tabulate([[0, 1], [0, 0, 1]], [[0, 1], [0, 1]], prior, 0.02).set_index(["previous", "next"])
    assert table.at[("a", "b"), "count"] == 2
    assert table.at[("a", "b"), "documents"] == 2
    assert table.at[("a", "b"), "probability"] == pytest.approx(2 / 3)
    assert table.at[("a", "b"), "reference_probability"] == 1
    assert table.at[("a", "a"), "error"]
    assert table.at[("a", "a"), "repetition"]
    assert table["frequency"].sum() == pytest.approx(1)
    assert table["count"].sum() == 7


def test_only_differences_beyond_chance_have_small_p_values():
    prior = make_prior([[0, 1, 2]], smoothing=1.0)
    rng = np.random.default_rng(0)
    control = [[0, int(rng.random() < 0.5) + 1] for _ in range(200)]
    same = [[0, int(rng.random() < 0.5) + 1] for _ in range(200)]
    worse = [[0, int(rng.random() < 0.9) + 1] for _ in range(200)]
    assert tabulate(same, control, prior)["p_adjusted"].min() > 0.05
    assert tabulate(worse, control, prior)["p_adjusted"].min() < 0.01


@pytest.mark.slow
def test_looping_documents_are_not_a_difference():
    """15 % of the documents of both samples loop: with transitions as units, 63 % of runs found a difference."""
    rng, prior = np.random.default_rng(1), make_prior([[0, 1, 2]], smoothing=1.0)

    def documents(n):
        return [[0, *[1] * int(rng.integers(5, 20)), 2] if rng.random() < 0.15 else [0, 1, 2] for _ in range(n)]

    minima = [tabulate(documents(40), documents(100), prior, permutations=199)["p_adjusted"].min() for _ in range(200)]
    # At a level of 5 %, 25 of 200 has a probability of 1e-4.
    assert np.sum(np.array(minima) <= 0.05) < 25


@pytest.mark.slow
def test_intervals_of_transitions_cover_over_documents():
    rng, prior = np.random.default_rng(2), make_prior([[0, 1, 2]], smoothing=1.0)
    # Every document has one transition from the type to the end: documents over expected sections.
    covered, truth = [], 1 / (0.85 / 0.95 + 0.15 / 0.2)
    for _ in range(300):
        repeats = rng.geometric(1 - rng.choice([0.05, 0.8], 60, p=[0.85, 0.15]))
        table = tabulate([[1] * int(n) for n in repeats], [[0, 1]], prior, permutations=100)
        row = table.set_index(["previous", "next"]).loc[("b", "<end>")]
        covered.append(row["probability_low"] <= truth <= row["probability_high"])
    assert np.mean(covered) >= 0.91


# ---- the classifier's errors ---------------------------------------------------------------------------------------


def test_the_corrected_nll_has_the_mean_of_the_true_types():
    rng, n = np.random.default_rng(3), 4000
    prior = SectionPrior(TYPES, count_transitions([[0, 1, 2]] * 20 + [[0, 2]] * 5, 3), BackOff(1.0, 1.0))
    states, lengths = flatten([[0, 1, 2]] * n)
    means = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.1, 0.1, 0.8]])
    posterior = np.array([rng.dirichlet(5 * means[state]) for state in states])
    confusion = estimate_confusion(posterior, states)
    np.testing.assert_allclose(confusion, means, atol=0.01)
    truth, seen = prior.nll(states, lengths).mean(), prior.expected_nll(posterior, lengths).mean()
    corrected = prior.expected_nll(posterior @ invert_confusion(confusion), lengths)
    assert seen > truth + 0.5
    assert abs(corrected.mean() - truth) < 4 * corrected.std() / np.sqrt(n)


def test_a_singular_confusion_matrix_is_not_inverted():
    assert invert_confusion(np.full((4, 4), 0.25)) is None


def test_step_probabilities_multiply_to_the_likelihood():
    prior = make_prior([[0, 1, 2], [1, 1]])
    steps = step_probabilities([1, 0, 2], prior)
    assert len(steps) == 4
    assert -np.log(steps).sum() == pytest.approx(prior.nll(np.array([1, 0, 2]), np.array([3]))[0])


# ---- theory --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("order", ["process", "shuffled", "independent"])
def test_theory_equals_simulation(order):
    """Compare 20,000 scored samples of each system with the expected value under the same prior."""
    process = wiki_process()
    index = {name: i for i, name in enumerate(process.states)}
    rng = np.random.default_rng(1)
    train = [[index[t] for t in process.sample(rng)] for _ in range(1000)]
    prior = SectionPrior(process.states, count_transitions(train, len(index)), Additive(0.01))
    states, lengths = flatten([[index[t] for t in sample_section_types(process, order, rng)] for _ in range(20000)])
    nll = prior.nll(states, lengths)
    measured = nll.sum() / lengths.sum()
    standard_error = (nll - measured * lengths).std() / lengths.mean() / np.sqrt(len(nll))
    assert abs(np.log(expected_latent_ppl(process, prior, order, seed=3)) - measured) < 4 * standard_error


def test_theory_of_the_process_under_itself_is_its_entropy_rate():
    process = SectionProcess(["a", "b"], [0.7, 0.3], [[0.1, 0.4], [0.2, 0.2]], [0.5, 0.6])
    counts = np.array([[0.7, 0.3, 0.0], [0.1, 0.4, 0.5], [0.2, 0.2, 0.6]]) * 1000
    prior = SectionPrior(("a", "b"), counts, Additive(0.0))
    assert expected_latent_ppl(process, prior, "process", 0) == pytest.approx(process.latent_ppl())


def test_theory_with_an_unseen_type_is_infinite():
    process = SectionProcess(["a", "z"], [0.7, 0.3], [[0.1, 0.4], [0.2, 0.2]], [0.5, 0.6])
    prior = SectionPrior(("a",), np.ones((2, 2)), Additive(1.0))
    assert expected_latent_ppl(process, prior, "process", 0) == np.inf


def test_options_signature_names_every_option():
    for name in CoherenceOptions.model_fields:
        assert f"|{name}:" in signature(critics()["coherence"], CoherenceOptions(), "score", 1)
    assert json.loads(CoherenceOptions().model_dump_json())


def test_warning_about_a_classifier_without_skill():
    from macroscope.critics.coherence.validation import check_classifier

    validation = {"accuracy": 0.8, "accuracy_low": 0.7, "majority_share": 0.6, "sections": 40}
    assert check_classifier(validation) is None
    assert "would be right on 60%" in check_classifier(validation | {"accuracy_low": 0.55})


def test_the_example_of_a_repetition_is_the_least_likely_document_with_that_error():
    """Real texts are a b, so b after b is an error. T(x) per section is 2 of `a`, 1.8 of `b`; `c` repeats nothing."""
    prior = SectionPrior(("a", "b"), count_transitions([[0, 1]] * 99 + [[0, 0, 1]], 2), Additive(0.01))
    states = {"usual": [0, 1], "a": [0, 1, 1], "b": [0, 1, 1, 1], "c": [1]}
    states = {name: np.array(sequence) for name, sequence in states.items()}
    texts = [
        Document(name, "test", None, tuple(Section(None, f"{name} {n}") for n in range(len(sequence))))
        for name, sequence in states.items()
    ]
    scores = pd.DataFrame({"id": list(states), "nll": [1.0, 8.0, 9.0, 99.0], "units": [2, 4, 5, 2]})
    [example] = select_repetition(texts, scores, states, prior, 0.05)
    assert example["id"] == "a"
    assert [(section["type"], section["error"]) for section in example["sections"]] == [
        *(("a", False), ("b", False), ("b", True))
    ]
    assert select_repetition(texts, scores, states, prior, 1e-9) == []
    assert has_repeating_error(np.array([0, 1, 1]), prior, 0.05)
    assert not has_repeating_error(np.array([1]), prior, 0.05)


def test_a_type_that_only_a_partly_titled_document_has_is_learnt(tmp_path):
    torch.manual_seed(0)
    documents = [
        replace(document, split="valid" if n % 5 == 0 else "train")
        for n, document in enumerate(simulated_documents("process", 40, 1))
    ]
    first, second, *others = documents[1].sections
    partly = (replace(first, title="9."), replace(second, title=None), *others)
    documents[1] = replace(documents[1], sections=partly)
    path = tmp_path / "documents.parquet"
    write_documents(path, documents, Provenance("c", options={"language": "en"}))
    options = CoherenceOptions(encoder=str(write_encoder(tmp_path / "encoder")), max_tokens=16, epochs=1)
    train(path, output=tmp_path / "inference", options=options, seed=1, checkpoints=tmp_path / "checkpoints")
    assert "9." in read_json(tmp_path / "inference" / "section_types.json")["types"]
    fit_prior(path, tmp_path / "inference", options=options, output=tmp_path / "prior")
    assert read_json(tmp_path / "prior" / "validation.json")["documents"] == 8
