"""T(x) of topic strengths: closed forms, and theory for texts from the model."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import multivariate_normal

from macroscope.corpora.simulated.topics import topic_process
from macroscope.critics.topics.latents import read_document_features, read_posteriors, read_strengths
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.options import TopicsOptions
from macroscope.critics.topics.projection import project
from macroscope.critics.topics.scoring import compute_latent_ppl, match_topics, score, write_known_truth
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.files import read_json, write_json
from macroscope.statistics.score_tables import read_document_numbers

from .simulated import random_model, sample_counts, sample_strengths

VOCABULARY = 60


def word(number):
    """Return a word of letters only."""
    return "w" + "".join(chr(ord("a") + int(digit)) for digit in str(number))


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Score documents of a given model, and one without a word of it; return folder, model, strengths."""
    folder = tmp_path_factory.mktemp("topics")
    model = random_model(4, VOCABULARY, seed=3, sharpness=0.05)
    (folder / "inference").mkdir()
    model.save(folder / "inference" / "model.npz")
    write_json(folder / "inference" / "vocabulary.json", {"words": [word(n) for n in range(VOCABULARY)]})
    rng = np.random.default_rng(0)
    strengths = sample_strengths(model, 400, rng)
    counts = sample_counts(model, strengths, np.full(400, 4000), rng)
    texts = [" ".join(np.repeat([word(n) for n in range(VOCABULARY)], row)) for row in counts]
    documents = [Document(f"d{n}", "test", None, (Section(None, text),)) for n, text in enumerate([*texts, "12 !"])]
    write_documents(folder / "texts.parquet", documents, Provenance("c"))
    for convention in ("definition", "published"):
        options = TopicsOptions(convention=convention)
        latents = folder / f"{convention}.latents"
        project(Collection(folder / "texts.parquet"), folder / "inference", options=options, output=latents)
        score(latents, folder / "inference", options=options, output=folder / f"{convention}.scores")
    return folder, model, strengths


def test_strengths_of_long_documents_are_recovered(judged):
    folder, _, strengths = judged
    latents = read_strengths(folder / "definition.latents")
    assert latents.words.tolist() == [4000] * 400 + [0]
    assert np.isnan(latents.mean[-1]).all()
    assert np.median(np.abs(latents.mean[:-1] - strengths)) < 0.15


def test_patchiness_is_of_the_sentences_of_each_document(tmp_path):
    """Sentences of one topic each are patchy; the same words in mixed sentences are not."""
    topics = torch.tensor([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]) * 0.98 + 0.005
    model = CorrelatedTopicModel(torch.zeros(1).double(), torch.eye(1).double(), topics.double())
    (tmp_path / "inference").mkdir()
    model.save(tmp_path / "inference" / "model.npz")
    write_json(tmp_path / "inference" / "vocabulary.json", {"words": ["red", "blue", "east", "west"]})
    patchy = "Red and blue red. East west and east. Blue and red blue. West east and west."
    even = "Red and east blue. West red and east. Blue and west red. East blue and west."
    texts = {"patchy": patchy, "even": even, "one": "red blue east west"}
    documents = [Document(name, "test", None, (Section(None, text),)) for name, text in texts.items()]
    write_documents(tmp_path / "texts.parquet", documents, Provenance("c"))
    output = tmp_path / "latents"
    project(Collection(tmp_path / "texts.parquet"), tmp_path / "inference", options=TopicsOptions(), output=output)
    score(output, tmp_path / "inference", options=TopicsOptions(), output=tmp_path / "scores")
    patchiness = read_document_numbers(tmp_path / "scores").set_index("id")["patchiness"]
    assert patchiness["patchy"] > 0.8
    assert patchiness["even"] < 0
    assert np.isnan(patchiness["one"])
    features = read_document_features(output, tmp_path / "scores").numbers
    assert np.allclose(features[:, -1], patchiness[list(texts)], equal_nan=True)


def test_nll_is_the_expectation_over_the_posterior(judged):
    folder, model, _ = judged
    latents, scores = read_strengths(folder / "definition.latents"), pd.read_parquet(folder / "definition.scores")
    [(_, _, variance)] = read_posteriors(folder / "definition.latents")
    gaussian = multivariate_normal(model.mean.numpy(), model.covariance.numpy())
    rng = np.random.default_rng(1)
    for d in range(3):
        posterior = multivariate_normal(latents.mean[d], np.diag(variance[d]))
        samples = posterior.rvs(200_000, random_state=rng)
        assert scores["nll"][d] == pytest.approx(-gaussian.logpdf(samples).mean(), abs=0.02)
        assert scores["nll_published"][d] == pytest.approx(-gaussian.logpdf(latents.mean[d]))
        assert scores["entropy"][d] == pytest.approx(posterior.entropy())
        assert scores["kl"][d] > 0
    trace = 0.5 * variance[:-1] @ np.diag(np.linalg.inv(model.covariance.numpy()))
    np.testing.assert_allclose((scores["nll"] - scores["nll_published"])[:-1], trace, rtol=1e-9)
    published = pd.read_parquet(folder / "published.scores")
    at_mean = -gaussian.logpdf(read_strengths(folder / "published.latents").mean[:-1])  # of ctm-c's own search
    np.testing.assert_allclose(published["nll"][:-1], at_mean)
    assert "kl" not in published


def test_likelihood_and_prior_add_up_to_the_bound(judged):
    """log P(x) >= -T(x) + E log P(x|z) + H(q) (Appendix A); of long documents the likelihood is that of the truth."""
    folder, model, strengths = judged
    scores = pd.read_parquet(folder / "definition.scores")[:-1]
    together = -scores["nll"] + scores["log_likelihood"] + scores["entropy"]
    np.testing.assert_allclose(scores["log_evidence_bound"], together)
    probabilities = (torch.softmax(model.strengths(torch.from_numpy(strengths)), 1) @ model.topics).numpy()
    index = {word(n): n for n in range(VOCABULARY)}
    for d, document in enumerate(list(Collection(folder / "texts.parquet"))[:5]):
        likelihood = sum(np.log(probabilities[d, index[name]]) for name in document.text.split())
        assert scores["log_likelihood"][d] == pytest.approx(likelihood, rel=2e-3)


def test_texts_of_the_model_have_the_entropy_of_its_gaussian(judged):
    """-E log N(eta) over eta from N itself is the entropy; with long documents, q adds almost nothing."""
    folder, model, strengths = judged
    scores = pd.read_parquet(folder / "definition.scores")
    analytic = float(multivariate_normal(model.mean.numpy(), model.covariance.numpy()).entropy())
    mean, error = scores["nll"].mean(), scores["nll"].std() / np.sqrt(400)
    empirical = model.negative_log_density(torch.from_numpy(strengths)).mean()
    assert abs(float(empirical) - analytic) < 4 * error
    assert abs(mean - analytic) < 4 * error


def test_a_document_without_words_has_undefined_scores(judged):
    scores = pd.read_parquet(judged[0] / "definition.scores")
    assert len(scores) == 401
    last = scores.iloc[-1]
    assert last["id"] == "d400"
    assert last[["nll", "entropy", "kl", "nll_published"]].isna().all()


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
