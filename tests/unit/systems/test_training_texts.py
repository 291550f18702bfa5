"""Samples of the train split: without replacement, and different for other systems and seeds."""

from collections import Counter

import pytest

from macroscope.documents import Document, Provenance, Section, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.training_texts import TrainingTextsSystem, generate_training_texts


@pytest.fixture
def documents(tmp_path):
    both_splits = [
        Document(f"d{n}", "train" if n < 30 else "test", "t", (Section(None, f"text {n}"),)) for n in range(40)
    ]
    write_documents(tmp_path / "documents", both_splits, Provenance("x"))
    return tmp_path / "documents"


def sample(documents, system="train-1", seed=1, own_seed=0, samples=12):
    options = TrainingTextsSystem(kind="training_texts", samples=samples, seed=own_seed)
    output = documents.with_name("sample")
    generate_training_texts(documents, output, options, corpus="x", system=system, seed=seed)
    return [document.id for document in read_documents(output, "test")]


def test_a_sample_is_of_the_train_split_and_the_same_each_time(documents):
    first = sample(documents)
    assert first == sample(documents)
    assert len(set(first)) == 12
    assert {int(name[1:]) for name in first} <= set(range(30))
    assert sorted(first, key=lambda name: int(name[1:])) == first
    (count,) = read_provenance(documents.with_name("sample")).counts
    assert (count.kept, count.dropped) == (12, 18)


def test_systems_and_seeds_have_samples_of_their_own(documents):
    samples = [sample(documents), sample(documents, system="train-2"), sample(documents, seed=2)]
    assert len({tuple(ids) for ids in samples}) == 3
    assert sample(documents, seed=2) == sample(documents, seed=1, own_seed=1)


@pytest.mark.slow
def test_all_documents_are_sampled_equally_often(documents):
    counts = Counter(name for seed in range(200) for name in sample(documents, seed=seed))
    assert len(counts) == 30
    assert max(abs(count - 80) for count in counts.values()) < 4.5 * (200 * 0.4 * 0.6) ** 0.5


def test_more_samples_than_documents_is_one_sentence(documents):
    with pytest.raises(MacroscopeError, match=r"systems\.train-1\.samples: the train split of corpus 'x' has 30"):
        sample(documents, samples=31)
