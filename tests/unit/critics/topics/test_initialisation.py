"""Initialisation of a fit, and its recovery of topics that often occur together."""

import numpy as np
import pytest

from macroscope.corpora.simulated.topics import simulate_texts, topic_process
from macroscope.critics.topics.fitting import Settings, fit
from macroscope.critics.topics.initialisation import build_initial_model
from macroscope.critics.topics.known_truth import match_topics
from macroscope.critics.topics.word_counts import WordCounts, count_words
from macroscope.natural_language.words import lower_case_words

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
    monkeypatch.setattr("macroscope.critics.topics.initialisation._MAX_CLUSTERED", 50)
    counts = _counts(200)
    start = build_initial_model(counts, len(PROCESS.words), 3, False, "clusters", 0)
    assert start.dimensions == 3
    assert (
        start.topics.numpy()[:, np.unique(counts.types)] > 0
    ).all()  # words of the other documents are possible, too
