"""Known truth of topics: agreement with Monte Carlo, and invariance to the parametrisation of the model."""

import numpy as np
import pytest
import torch

from macroscope.corpora.simulated.topics import topic_process
from macroscope.critics.topics.known_truth import compute_latent_ppl, match_topics, write_known_truth
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.files import read_json, write_json

PROCESS = topic_process()


def _model(order, pinned):
    """Return the process as a model, with its topics in another order and relative to one of them."""
    others = [topic for topic in order if topic != pinned]
    contrast = np.eye(len(order))[others] - np.eye(len(order))[pinned]
    topics = PROCESS.topics[[*others, pinned]]
    parts = contrast @ PROCESS.mean, contrast @ PROCESS.covariance @ contrast.T, topics
    return CorrelatedTopicModel(*map(torch.from_numpy, parts))


def _written(tmp_path, model, order, words=PROCESS.words):
    write_json(tmp_path / "process.json", PROCESS.to_json())
    model.save(tmp_path / "model.npz")
    write_json(tmp_path / "vocabulary.json", {"words": list(words), "dropped": {}})
    write_known_truth(tmp_path / "process.json", tmp_path, order=order, output=tmp_path / "known_truth.json")
    return read_json(tmp_path / "known_truth.json")


@pytest.mark.parametrize("order", ["process", "independent"])
def test_expectation_is_that_of_samples(order):
    rng = np.random.default_rng(0)
    strengths = np.array([PROCESS.sample_strengths(order, rng) for _ in range(20_000)])
    model = _model(range(8), 7)
    nll = model.negative_log_density(torch.from_numpy(strengths[:, :7] - strengths[:, 7:]))
    expected = compute_latent_ppl(PROCESS, order, PROCESS.mean, PROCESS.covariance)
    assert np.log(expected) == pytest.approx(float(nll.mean()) / 7, abs=4 * float(nll.std()) / 7 / np.sqrt(20_000))


@pytest.mark.parametrize("pinned", [0, 3])
def test_neither_the_order_of_the_topics_nor_the_fixed_one_matters(tmp_path, pinned):
    model = _model([5, 0, 3, 2, 7, 6, 1, 4], pinned)
    for order in ("process", "shuffled", "independent"):
        truth = _written(tmp_path, model, order)
        assert truth["latent_ppl"] == pytest.approx(
            compute_latent_ppl(PROCESS, order, PROCESS.mean, PROCESS.covariance)
        )
        assert ("process_latent_ppl" in truth) == (order != "independent")


def test_topics_are_matched_by_their_words():
    order = [5, 0, 3, 2, 7, 6, 1, 4]
    assert match_topics(PROCESS, _model(order, 4), list(PROCESS.words)) == order
    backwards = [*reversed(PROCESS.words)]
    model = _model(order, 4)
    turned = CorrelatedTopicModel(model.mean, model.covariance, model.topics.flip(1))
    assert match_topics(PROCESS, turned, backwards) == order


def test_with_another_number_of_topics_theory_is_that_of_the_process(tmp_path):
    model = CorrelatedTopicModel(
        torch.zeros(2, dtype=torch.float64), torch.eye(2, dtype=torch.float64), torch.full((3, 4), 0.25)
    )
    truth = _written(tmp_path, model, "independent", "abcd")
    assert truth["latent_ppl"] == compute_latent_ppl(PROCESS, "independent", PROCESS.mean, PROCESS.covariance)
    assert "own distribution" in truth["basis"]
