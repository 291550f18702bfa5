"""Training of the topic model: outputs, prediction of held-out words, and errors."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
import torch

from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.options import TopicsOptions
from macroscope.critics.topics.training import completion_perplexity, compute_npmi, threads_for, train
from macroscope.critics.topics.vocabulary import WordCounts
from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError

from ....gpu import same_bytes
from .simulated import random_model, sample_counts, sample_strengths

SUBJECTS = {
    "sky": "star planet moon orbit comet galaxy telescope".split(),
    "sea": "whale coral tide reef shark island harbour".split(),
    "kitchen": "flour butter oven sugar dough spoon recipe".split(),
}


def corpus(path, documents=90, seed=0, empty=0):
    """Write documents that are mostly about one subject, some in the validation split, some without any word."""
    rng = np.random.default_rng(seed)
    subjects = list(SUBJECTS.values())
    texts = []
    for n in range(documents):
        shares = rng.dirichlet(np.full(3, 0.2))
        words = [str(rng.choice(subjects[rng.choice(3, p=shares)])) for _ in range(40)]
        texts.append(Document(f"d{n}", "valid" if n % 5 == 0 else "train", None, (Section(None, " ".join(words)),)))
    texts += [Document(f"empty{n}", "train", None, (Section(None, "the 12 !"),)) for n in range(empty)]
    write_documents(path, texts, Provenance("c", options={"language": "en"}))
    return path


def test_topics_are_the_subjects_and_held_out_words_are_predicted(tmp_path):
    documents = corpus(tmp_path / "documents.parquet", empty=2)
    options = TopicsOptions(topics=3, most_documents=1.0, tolerance=1e-4, restarts=2)
    train(documents, output=tmp_path / "inference", options=options, seed=1, checkpoints=tmp_path / "checkpoints")
    table = pd.read_csv(tmp_path / "inference" / "topics.csv")
    tops = [set(words.split()[:5]) for words in table["words"]]
    assert all(any(top <= set(words) for words in SUBJECTS.values()) for top in tops)
    assert table["share"].sum() == pytest.approx(1)
    assert table["share"].is_monotonic_decreasing
    validation = json.loads((tmp_path / "inference" / "validation.json").read_text())
    assert validation["documents"] == 72
    assert validation["documents_without_words"] == 2
    assert validation["completion_perplexity"] < 0.7 * validation["unigram_perplexity"]
    assert 19 < validation["unigram_perplexity"] < 22.5  # 21 words, equally frequent
    assert not (tmp_path / "checkpoints").exists()


def test_a_small_corpus_is_predicted_better_than_by_word_frequencies(tmp_path):
    """Without a prior, the fit to 160 short texts on 20 subjects predicts others worse than word frequencies do."""
    rng = np.random.default_rng(3)
    vocabulary = ["".join(letters) for letters in itertools.product("bdfgklmnpr", "aeiou", "lmnrst")]
    frequencies = rng.dirichlet(np.full(len(vocabulary), 0.5))
    subjects = rng.dirichlet(frequencies * 15, 20)
    shares = rng.dirichlet(np.full(20, 0.3), 200) @ subjects
    texts = [" ".join(rng.choice(vocabulary, 20, p=share)) for share in shares]
    documents = [
        Document(f"d{n}", "valid" if n % 5 == 0 else "train", None, (Section(None, text),))
        for n, text in enumerate(texts)
    ]
    path = tmp_path / "documents.parquet"
    write_documents(path, documents, Provenance("c", options={"language": "en"}))
    ratios = {}
    for name, weight in (("chosen", None), ("none", 0.0)):
        options = TopicsOptions(
            topics=8, most_documents=1.0, least_frequency=1, tolerance=1e-4, covariance_prior=weight
        )
        train(path, output=tmp_path / name, options=options, seed=1, checkpoints=tmp_path / "checkpoints")
        validation = json.loads((tmp_path / name / "validation.json").read_text())
        ratios[name] = validation["completion_perplexity"] / validation["unigram_perplexity"]
    assert ratios["chosen"] < 1
    assert ratios["none"] > 1.05


@same_bytes
def test_same_seed_same_bytes(tmp_path):
    documents = corpus(tmp_path / "documents.parquet")
    options = TopicsOptions(topics=3, most_documents=1.0, iterations=3)
    for name in ("one", "two"):
        train(documents, output=tmp_path / name, options=options, seed=1, checkpoints=tmp_path / "checkpoints")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_too_small_a_vocabulary_is_an_error(tmp_path):
    documents = corpus(tmp_path / "documents.parquet", documents=10)
    options = TopicsOptions(topics=3, most_documents=1.0, least_frequency=100)
    with pytest.raises(MacroscopeError, match=r"0 words are left for 3 topics .*21 too rare"):
        train(documents, output=tmp_path / "inference", options=options, seed=1, checkpoints=tmp_path / "c")


def test_npmi_by_hand():
    # Of four documents, words 0 and 1 are in two each and both in one; word 2 occurs with neither.
    counts = WordCounts.from_documents([np.array(words) for words in ([0, 1], [0], [1], [2])])
    pair = np.log(0.25 / (0.5 * 0.5)) / -np.log(0.25)
    assert compute_npmi(np.array([0, 1]), counts) == pytest.approx(pair)
    assert compute_npmi(np.array([0, 2]), counts) == pytest.approx(-1)
    assert compute_npmi(np.array([0, 1, 2]), counts) == pytest.approx((pair - 2) / 3)


def test_completion_of_one_topic_is_the_perplexity_of_its_words():
    """With equal topics, the other words are not informative."""
    share = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64)
    ones = torch.ones(1, dtype=torch.float64)
    model = CorrelatedTopicModel(0 * ones, torch.eye(1, dtype=torch.float64), share.repeat(2, 1))
    documents = WordCounts.from_documents([np.array([0, 0]), np.array([1, 1]), np.array([2, 2]), np.array([0, 0])])
    training = WordCounts.from_documents([np.repeat([0, 1, 2], [999, 499, 499])])
    perplexities = completion_perplexity(documents, model, training, 0)
    expected = np.exp(-(2 * np.log(0.5) + 2 * np.log(0.25)) / 4)
    assert perplexities == pytest.approx((expected, expected), rel=1e-3)


def test_documents_of_one_word_are_left_out_of_the_completion():
    """The perplexity is undefined if there are no others."""
    model, training = random_model(4, 80, seed=1), WordCounts.from_documents([np.arange(80)])
    single, several = np.array([3]), np.array([5, 7, 9])
    assert np.isnan(completion_perplexity(WordCounts.from_documents([single, single]), model, training, 0)).all()
    mixed = completion_perplexity(WordCounts.from_documents([single, several, single]), model, training, 0)
    assert mixed == completion_perplexity(WordCounts.from_documents([several]), model, training, 0)


def test_the_true_model_predicts_best():
    truth, wrong_model = (random_model(4, 80, seed=seed) for seed in (1, 2))
    rng = np.random.default_rng(0)
    counts = sample_counts(truth, sample_strengths(truth, 60, rng), np.full(60, 80), rng)
    documents = WordCounts.from_documents([np.repeat(np.arange(80), row) for row in counts])
    right, alone = completion_perplexity(documents, truth, documents, 0)
    wrong, _ = completion_perplexity(documents, wrong_model, documents, 0)
    assert right < alone < wrong


@pytest.mark.parametrize(("documents", "available", "used"), [(123, 2, 1), (1000, 2, 2), (100_000, 8, 8), (0, 1, 1)])
def test_few_documents_are_fitted_with_few_threads(documents, available, used):
    assert threads_for(documents, available) == used
