"""Perplexity of an n-gram model against the product of its probabilities, word by word."""

import numpy as np
import pandas as pd
import pytest

from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.systems.ngram import NgramSystem
from macroscope.systems.ngram.counts import MISSING
from macroscope.systems.ngram.model import estimate
from macroscope.systems.ngram.training import count_train_split, measure_perplexity
from macroscope.systems.tokenizer import split_words

from .test_model import trie_of

TRAIN = ["the cat saw the dog.", "a dog saw a cat; the end.", "the dog sat.\n\na cat sat."]
TEST = ["the cat sat.", "a zebra saw the dog."]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_perplexity_is_that_of_the_probabilities_of_the_model(tmp_path, order):
    parts = [("train", text) for text in TRAIN] + [("test", text) for text in TEST]
    documents = [Document(f"d{n}", part, None, (Section(None, text),)) for n, (part, text) in enumerate(parts)]
    write_documents(tmp_path / "documents", documents, Provenance("x"))
    options = NgramSystem(kind="ngram", order=order, smoothing="kneser_ney", titles=False)
    count_train_split(tmp_path / "documents", tmp_path / "model", options, checkpoints=tmp_path / "checkpoints")
    measure_perplexity(tmp_path / "documents", tmp_path / "model", tmp_path / "test.parquet", options, split="test")
    table = pd.read_parquet(tmp_path / "test.parquet")

    numbers = {"<s>": 0, "</s>": 1}
    texts = [np.array([*(numbers.setdefault(w, len(numbers)) for w in split_words(text)), 1]) for text in TRAIN]
    model = estimate(trie_of(texts, order, len(numbers)), "kneser_ney", unknown=True)
    expected = []
    for text in TEST:
        ids = [*(numbers.get(word, MISSING) for word in split_words(text)), 1]
        stream = [*[MISSING] * order, 0, *ids]
        probabilities = [
            model.probabilities(
                np.array([stream[len(stream) - len(ids) + i - order + 1 : len(stream) - len(ids) + i]]),
                np.array([word]),
            )[0]
            for i, word in enumerate(ids)
        ]
        expected.append(-np.log(probabilities).sum())
    np.testing.assert_allclose(table["nll"], expected, rtol=1e-10)
    assert table["tokens"].tolist() == [5, 7]
    assert table["words"].tolist() == [3, 5]
    assert table["unknown"].tolist() == [0, 1]


def test_an_unsmoothed_model_has_no_perplexity():
    assert not NgramSystem(kind="ngram", titles=False).has_perplexity()
    assert NgramSystem(kind="ngram", titles=False, smoothing="kneser_ney").has_perplexity()
