"""Texts of an n-gram model have the model's probabilities; a system's samples are reproducible."""

import shutil
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from macroscope.documents import Document, Provenance, Section, read_documents, read_provenance, write_documents
from macroscope.systems.ngram import NgramSystem
from macroscope.systems.ngram.counts import MISSING
from macroscope.systems.ngram.generation import NgramSampler, sample_ngram
from macroscope.systems.ngram.training import count_train_split
from macroscope.systems.tokenizer import split_words

from ....tiny import simulated_documents
from .test_model import BEGINNING, END, model_of, random_texts


@pytest.mark.parametrize("smoothing", ["none", "kneser_ney"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_words_come_with_the_probabilities_of_the_model(order, smoothing):
    model, vocabulary = model_of(random_texts(), order, smoothing)
    texts = NgramSampler(model, END, 3).generate(20_000, np.random.default_rng(0))
    words = np.array([n for n in range(len(vocabulary)) if n != BEGINNING])
    for place, before in ((0, ()), (1, (2,)), (2, (2, 3))):
        following = Counter(
            int(text[place]) for text in texts if len(text) > place and tuple(text[:place].tolist()) == before
        )
        history = [MISSING, MISSING, BEGINNING, *before][-(order - 1) :] if order > 1 else []
        exact = model.probabilities(np.tile(np.array(history, dtype=np.int64), (len(words), 1)), words)
        n = following.total()
        assert n > 100
        assert all(following[word] == 0 for word, p in zip(words, exact, strict=True) if p == 0)
        common = exact * n >= 5
        observed = np.array([following[word] for word in words])
        groups = [*observed[common], observed[~common].sum()], [*exact[common] * n, exact[~common].sum() * n]
        if groups[1][-1] < 1:
            groups = [group[:-1] for group in groups]
        assert chisquare(groups[0], np.array(groups[1]) * sum(groups[0]) / sum(groups[1])).pvalue > 1e-3


def test_a_text_that_does_not_end_is_cut():
    model, _ = model_of(["a b " * 30], 2, "none")
    texts = NgramSampler(model, END, 5).generate(50, np.random.default_rng(0))
    assert all(len(text) == 5 or text[-1] == END for text in texts)
    assert any(text[-1] != END for text in texts)


@pytest.fixture
def documents(tmp_path):
    simulated = [d for d in simulated_documents("process", 120, 1)]
    split = [type(d)(d.id, "train" if n % 5 else "valid", d.title, d.sections) for n, d in enumerate(simulated)]
    write_documents(tmp_path / "documents.parquet", split, Provenance("wiki"))
    return tmp_path / "documents.parquet"


def count(documents, folder, options):
    """Count the n-grams of the train split."""
    count_train_split(documents, folder / "model", options, checkpoints=folder / "checkpoints")
    return folder / "model"


@pytest.mark.slow
def test_a_count_that_is_killed_while_its_files_move_can_be_resumed(documents, tmp_path, monkeypatch):
    options = NgramSystem(kind="ngram", titles=False)
    whole = {path.name: path.read_bytes() for path in count(documents, tmp_path / "whole", options).iterdir()}
    move = shutil.move
    for number in range(len(whole)):
        moves = iter(range(number))
        with monkeypatch.context() as patch:  # StopIteration after that number of moves
            patch.setattr(shutil, "move", lambda *paths, moves=moves: (next(moves), move(*paths)))
            with pytest.raises(StopIteration):
                count(documents, tmp_path / str(number), options)
        again = count(documents, tmp_path / str(number), options)
        assert {path.name: path.read_bytes() for path in again.iterdir()} == whole


@pytest.mark.slow
@pytest.mark.parametrize("titles", [True, False])
@pytest.mark.parametrize("smoothing", ["none", "kneser_ney"])
def test_a_system_generates_documents_of_the_corpus(documents, tmp_path, smoothing, titles):
    options = NgramSystem(kind="ngram", smoothing=smoothing, titles=titles, samples=60, max_tokens=3000)
    model = count(documents, tmp_path, options)
    sample_ngram(model, tmp_path / "one", options, corpus="wiki", system="trigram", seed=1)
    sample_ngram(model, tmp_path / "two", options, corpus="wiki", system="trigram", seed=1)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    generated = list(read_documents(tmp_path / "one"))
    assert len(generated) == 60
    assert all((section.title is not None) == titles for document in generated for section in document.sections)
    vocabulary = {word for d in read_documents(documents, "train") for s in d.sections for word in split_words(s.text)}
    words = [word for d in generated for s in d.sections for word in split_words(s.text)]
    if smoothing == "none":  # with smoothing, punctuation marks may be adjacent that are not in any text
        assert set(words) <= vocabulary
    counts = {count.filter: count for count in read_provenance(tmp_path / "one").counts}
    assert counts["20 invalid attempts in a row"].kept == 60


@pytest.mark.slow
def test_other_systems_and_seeds_have_other_texts(documents, tmp_path):
    options = NgramSystem(kind="ngram", titles=False, samples=20, max_tokens=3000)
    model = count(documents, tmp_path, options)
    for name, system, seed in (("a", "trigram", 1), ("b", "other", 1), ("c", "trigram", 2)):
        sample_ngram(model, tmp_path / name, options, corpus="wiki", system=system, seed=seed)
    first, *others = ([d.sections for d in read_documents(tmp_path / name)] for name in "abc")
    assert all(sections != first for sections in others)


def test_a_zero_byte_does_not_end_a_text(tmp_path):
    texts = [Document(f"d{n}", "train", None, (Section(None, "one \0 two"),)) for n in range(3)]
    write_documents(tmp_path / "documents.parquet", texts, Provenance("odd"))
    options = NgramSystem(kind="ngram", titles=False, samples=5)
    model = count(tmp_path / "documents.parquet", tmp_path, options)
    sample_ngram(model, tmp_path / "x", options, corpus="odd", system="t", seed=1)
    assert {d.sections[0].text for d in read_documents(tmp_path / "x")} == {"one \0 two"}
