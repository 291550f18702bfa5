"""EM: the bound never falls, the true model is recovered, and an interrupted fit resumes."""

import numpy as np
import pytest
import torch
from scipy.optimize import linear_sum_assignment

from macroscope.corpora.simulated.topics import simulate_texts, topic_process
from macroscope.critics.topics import fitting
from macroscope.critics.topics.fitting import Settings, build_initial_model, fit
from macroscope.critics.topics.inference import Convergence
from macroscope.critics.topics.scoring import match_topics
from macroscope.critics.topics.vocabulary import WordCounts, count_words
from macroscope.errors import MacroscopeError
from macroscope.natural_language.words import lower_case_words

from .simulated import random_model, sample_counts, sample_strengths

VOCABULARY = 120


def corpus(model, documents, seed=0, low=60, high=200):
    rng = np.random.default_rng(seed)
    strengths = sample_strengths(model, documents, rng)
    counts = sample_counts(model, strengths, rng.integers(low, high, documents), rng)
    return WordCounts.from_documents([np.repeat(np.arange(counts.shape[1]), row) for row in counts])


def fitted(counts, settings, folder, seed=0):
    return fit(counts, VOCABULARY, settings, seed, folder, "cpu")


def test_bound_never_falls(tmp_path):
    counts = corpus(random_model(4, VOCABULARY, seed=1), 150)
    result = fitted(counts, Settings(4, iterations=25, tolerance=0.0), tmp_path / "c")
    bounds = np.array(result.bounds)
    assert len(bounds) == 25
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[-1])).all()
    assert bounds[-1] > bounds[0]


def centred(model, order):
    """Return mean and covariance of centred strengths, which do not depend on the pinned topic."""
    free = torch.eye(model.dimensions, dtype=torch.float64)
    full = torch.cat([free, torch.zeros(1, model.dimensions, dtype=torch.float64)]) if model.pinned else free
    less = np.eye(len(order)) - 1 / len(order)
    mean, covariance = (full @ model.mean).numpy()[order], (full @ model.covariance @ full.T).numpy()
    return less @ mean, less @ covariance[np.ix_(order, order)] @ less


@pytest.mark.parametrize("pinned", [True, False])
def test_parameters_are_recovered(tmp_path, pinned):
    """Tolerances allow for strengths between -7 and 7, the number of documents, and the variational posterior."""
    truth = random_model(4, VOCABULARY, seed=3, sharpness=0.05)
    counts = corpus(truth, 1200, low=150, high=300)
    settings = Settings(4, iterations=150, tolerance=1e-6, pinned=pinned)
    model = fitted(counts, settings, tmp_path).model
    distance = 0.5 * (truth.topics[:, None] - model.topics[None]).abs().sum(dim=2).numpy()
    rows, order = linear_sum_assignment(distance)
    assert distance[rows, order].max() < 0.12
    (mean, covariance), (fitted_mean, fitted_covariance) = centred(truth, rows), centred(model, order)
    np.testing.assert_allclose(fitted_mean, mean, atol=0.3)
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.abs(fitted_covariance - covariance).max() < 0.2 * scale.max()


def test_an_interrupted_fit_resumes(tmp_path, monkeypatch):
    counts = corpus(random_model(3, VOCABULARY, seed=4), 60)
    settings = Settings(3, iterations=6, tolerance=0.0)
    whole = fitted(counts, settings, tmp_path / "whole")
    step, calls = fitting._e_step, []

    def killed(*args):
        calls.append(args)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return step(*args)

    monkeypatch.setattr(fitting, "_e_step", killed)
    with pytest.raises(KeyboardInterrupt):
        fitted(counts, settings, tmp_path / "killed")
    monkeypatch.setattr(fitting, "_e_step", step)
    resumed = fitted(counts, settings, tmp_path / "killed")
    assert resumed.bounds == whole.bounds
    torch.testing.assert_close(resumed.model.topics, whole.model.topics, rtol=0, atol=0)


def test_checkpoints_of_other_documents_or_settings_are_ignored(tmp_path):
    model = random_model(3, VOCABULARY, seed=5)
    fitted(corpus(model, 40), Settings(3, iterations=3, tolerance=0.0), tmp_path / "c")
    result = fitted(corpus(model, 40, seed=1), Settings(3, iterations=2, tolerance=0.0), tmp_path / "c")
    assert len(result.bounds) == 2


def test_batches_change_nothing(tmp_path, monkeypatch):
    counts = corpus(random_model(3, VOCABULARY, seed=6), 80)
    settings = Settings(3, iterations=4, tolerance=0.0, inference=Convergence(1e-12, 50))
    whole = fitted(counts, settings, tmp_path / "whole")
    monkeypatch.setattr("macroscope.critics.topics.vocabulary._CELLS", 2000)
    parts = fitted(counts, settings, tmp_path / "parts")
    np.testing.assert_allclose(parts.bounds, whole.bounds, rtol=1e-10)


def test_fewer_documents_than_dimensions_still_give_a_proper_gaussian(tmp_path):
    counts = corpus(random_model(12, VOCABULARY, seed=7), 12)
    result = fitted(counts, Settings(12, iterations=10, tolerance=0.0, covariance_prior=5.0), tmp_path / "c")
    assert torch.linalg.eigvalsh(result.model.covariance).min() > 0
    with pytest.raises(MacroscopeError, match="13 topics and 12 training documents"):
        fitted(counts, Settings(13), tmp_path / "d")


def test_a_topic_without_words_is_unchanged_and_reported():
    model = random_model(3, VOCABULARY)
    sums = fitting._Sums.zeros(model)
    sums.documents, sums.variance = 10, torch.ones(2, dtype=torch.float64)
    sums.words[:, :2] = 1.0
    after, dead = sums.model(model, Settings(3))
    assert dead == [2]
    torch.testing.assert_close(after.topics[2], model.topics[2])
    torch.testing.assert_close(after.topics.sum(dim=1), torch.ones(3, dtype=torch.float64))


def test_a_bound_that_is_not_finite_is_an_error(tmp_path, monkeypatch):
    counts = corpus(random_model(3, VOCABULARY), 30)
    real = fitting._Sums.add

    def broken(self, posterior, types, topics):
        real(self, posterior, types, topics)
        self.bound += float("nan")

    monkeypatch.setattr(fitting._Sums, "add", broken)
    with pytest.raises(MacroscopeError, match="not finite"):
        fitted(counts, Settings(3), tmp_path / "c")


PROCESS = topic_process()


def _counts(documents):
    index = {word: number for number, word in enumerate(PROCESS.words)}
    texts = (document.text for document, _ in simulate_texts(PROCESS, "process", documents, 1))
    return count_words(map(lower_case_words, texts), index)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["clusters", "documents"])
def test_every_word_is_possible_in_every_topic(how):
    start = build_initial_model(_counts(60), len(PROCESS.words), 8, True, how, 0)
    assert start.topics.shape == (8, len(PROCESS.words))
    assert np.allclose(start.topics.sum(dim=1), 1)
    assert (start.topics.numpy()[:, np.unique(_counts(60).types)] > 0).all()


@pytest.mark.slow
def test_correlated_topics_are_separated(tmp_path):
    fitted = fit(_counts(450), len(PROCESS.words), Settings(8, smoothing=0.01), 0, tmp_path / "c", "cpu").model
    true_topics = PROCESS.topics[match_topics(PROCESS, fitted, list(PROCESS.words))]
    assert 0.5 * np.abs(fitted.topics.numpy() - true_topics).sum(axis=1).max() < 0.1


def test_fewer_different_documents_than_topics():
    counts = WordCounts.from_documents([np.array([0, 1])] * 5 + [np.array([2, 3])] * 5)
    start = build_initial_model(counts, 4, 4, True, "clusters", 0)
    assert np.isfinite(start.topics.numpy()).all()
    assert np.allclose(start.topics.sum(dim=1), 1)
    assert len(np.unique(start.topics.numpy(), axis=0)) == 4  # EM could never separate equal topics


@pytest.mark.slow
def test_large_corpora_are_clustered_by_a_sample(monkeypatch):
    monkeypatch.setattr("macroscope.critics.topics.fitting._MAX_CLUSTERED", 50)
    counts = _counts(200)
    start = build_initial_model(counts, len(PROCESS.words), 3, False, "clusters", 0)
    assert start.dimensions == 3
    assert (
        start.topics.numpy()[:, np.unique(counts.types)] > 0
    ).all()  # words of the other documents are possible, too
