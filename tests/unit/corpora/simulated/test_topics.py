"""The simulated corpus of known topics: its truth, its texts, and reading it back."""

import numpy as np
import pytest
from scipy.stats import chi2

from macroscope.corpora.simulated import SimulatedCorpus
from macroscope.corpora.simulated.topics import TopicProcess, generate, simulate_texts, topic_process, write_corpus
from macroscope.documents import read_documents
from macroscope.errors import MacroscopeError
from macroscope.natural_language.words import lower_case_words, stop_words

PROCESS = topic_process()


def _strengths(order, n=4000):
    rng = np.random.default_rng(3)
    return np.array([PROCESS.sample_strengths(order, rng) for _ in range(n)])


@pytest.mark.slow
def test_strengths_have_the_stated_covariances():
    error = 5 * 1.6**2 / np.sqrt(4000)
    assert np.abs(np.cov(_strengths("process"), rowvar=False) - PROCESS.covariance).max() < error
    assert np.abs(np.cov(_strengths("independent"), rowvar=False) - np.diag(np.diag(PROCESS.covariance))).max() < error


@pytest.mark.slow
def test_words_have_the_stated_frequencies():
    strengths = np.linspace(-1, 1, len(PROCESS.names))
    rng = np.random.default_rng(0)
    words = [word for _ in range(300) for word in PROCESS.sample_words(strengths, rng)]
    weights = np.exp(strengths) / np.exp(strengths).sum()
    expected = weights @ PROCESS.topics * len(words)
    counts = np.array([words.count(word) for word in PROCESS.words])
    assert ((counts - expected) ** 2 / expected).sum() < chi2.ppf(0.9999, len(counts) - 1)


def test_all_other_words_are_stop_words():
    text = next(simulate_texts(PROCESS, "process", 1, 0))[0].text
    assert set(lower_case_words(text)) <= set(PROCESS.words) | stop_words("en")


def test_shuffled_texts_have_the_same_words_in_another_order():
    plain, shuffled = (
        [document for document, _ in simulate_texts(PROCESS, order, 5, 1)] for order in ("process", "shuffled")
    )
    for original, changed in zip(plain, shuffled, strict=True):
        bags = [sorted(set(lower_case_words(text.text)) & set(PROCESS.words)) for text in (original, changed)]
        assert bags[0] == bags[1]
        assert original.text != changed.text


def test_same_seed_same_texts_whatever_their_number():
    few, many = (list(simulate_texts(PROCESS, "process", n, 5)) for n in (3, 9))
    assert [document for document, _ in few] == [document for document, _ in many[:3]]


def test_unknown_order():
    with pytest.raises(ValueError, match="not one of process"):
        next(simulate_texts(PROCESS, "other", 1, 0))


def test_impossible_correlations():
    with pytest.raises(MacroscopeError, match="possible together"):
        TopicProcess("ab", "xy", [0, 0], [[1, 2], [2, 1]], np.eye(2))


def test_truth_is_written_with_the_corpus_and_generates_texts(tmp_path):
    options = SimulatedCorpus(source="simulated", kind="topics", documents=40)
    write_corpus(options, 2, tmp_path / "raw.jsonl", tmp_path)
    written = list(read_documents(tmp_path / "documents.parquet"))
    assert len(written) == 40
    assert {document.split for document in written} == {"train", "valid", "test"}
    assert {document.label for document in written} <= set(PROCESS.names)
    generated = list(generate(tmp_path / "process.json", "process", 3, 9))
    assert generated == [document for document, _ in simulate_texts(PROCESS, "process", 3, 9)]
