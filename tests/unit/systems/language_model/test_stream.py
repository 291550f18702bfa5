"""Windows over the joined stream, and perplexity, against computations by hand."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.systems.language_model.log_probabilities import measure_perplexity, token_nll
from macroscope.systems.language_model.options import LanguageModelSystem
from macroscope.systems.language_model.training import TokenStream, Windows, fingerprint, train_tokenizer
from macroscope.systems.tokenizer import boundary_id

from ..conftest import CONTEXT

OPTIONS = LanguageModelSystem(kind="language_model", base="tiny-gpt2", titles=True)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    documents = [
        Document(
            f"d{n}",
            "test" if n % 3 == 0 else "train",
            None,
            (Section("a", f"word {n} " * (n + 1)), Section("b", "end")),
        )
        for n in range(12)
    ]
    write_documents(folder / "documents.parquet", documents, Provenance("c"))
    train_tokenizer(folder / "documents.parquet", folder / "tokenizer", OPTIONS)
    return folder


@pytest.fixture(scope="module")
def tokenizer(corpus):
    from macroscope.pretrained import load_saved_tokenizer

    return load_saved_tokenizer(corpus / "tokenizer")


def write_stream(corpus, tokenizer, split="train"):
    return TokenStream.write(corpus / "documents.parquet", split, tokenizer, True, boundary_id(tokenizer), corpus / "t")


def test_every_token_is_predicted_exactly_once(corpus, tokenizer):
    stream = write_stream(corpus, tokenizer)
    boundary = boundary_id(tokenizer)
    order = np.array([3, 0, 2, 1, 7, 6, 5, 4])
    windows = Windows(stream, order, 10, boundary)
    expected = np.concatenate([stream.tokens[stream.bounds[i] : stream.bounds[i + 1]] for i in order])
    predicted = np.concatenate([w["labels"][1:].numpy() for w in windows])
    np.testing.assert_array_equal(predicted[predicted != -100], expected)
    assert windows[0]["input_ids"][0] == boundary
    for a, b in zip(windows, list(windows)[1:], strict=False):
        assert a["input_ids"][-1] == b["input_ids"][0]


def test_the_windows_of_each_document_begin_with_the_boundary(corpus, tokenizer):
    stream, boundary = write_stream(corpus, tokenizer), boundary_id(tokenizer)
    order = np.array([3, 0, 2, 1, 7, 6, 5, 4])
    windows = list(Windows(stream, order, 10, boundary, by_document=True))
    whole = [stream.tokens[stream.bounds[i] : stream.bounds[i + 1]] for i in order]
    assert len(windows) == sum(-(-len(tokens) // 9) for tokens in whole)
    for tokens in whole:
        document_windows = [windows.pop(0) for _ in range(-(-len(tokens) // 9))]
        assert document_windows[0]["input_ids"][0] == boundary
        predicted = np.concatenate([window["labels"][1:].numpy() for window in document_windows])
        np.testing.assert_array_equal(predicted[predicted != -100], tokens)


def test_stream_ends_every_document_with_the_boundary(corpus, tokenizer):
    stream = write_stream(corpus, tokenizer)
    assert (stream.tokens[stream.bounds[1:] - 1] == boundary_id(tokenizer)).all()
    assert (np.asarray(stream.tokens) == boundary_id(tokenizer)).sum() == 8
    assert fingerprint(stream) != fingerprint(write_stream(corpus, tokenizer, "test"))


def test_same_texts_same_tokenizer(corpus, tmp_path):
    train_tokenizer(corpus / "documents.parquet", tmp_path / "again", OPTIONS)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        assert (tmp_path / "again" / name).read_bytes() == (corpus / "tokenizer" / name).read_bytes()


@torch.inference_mode()
def stepwise_nll(model, stream, context):
    nll = []
    for position in range(1, len(stream)):
        start = (position - 1) // (context - 1) * (context - 1)
        logits = model(torch.from_numpy(stream[None, start:position])).logits[0, -1].double()
        nll.append(-logits.log_softmax(-1)[stream[position]].item())
    return np.array(nll)


@pytest.mark.parametrize("context", [CONTEXT, 5])
def test_token_nll_equals_one_token_at_a_time(model, context):
    stream = np.random.default_rng(0).integers(0, 11, size=77)
    np.testing.assert_allclose(
        token_nll(model, stream, context), stepwise_nll(model, stream, context), rtol=1e-4, atol=1e-5
    )


def test_documents_by_themselves_do_not_depend_on_earlier_ones(model):
    rng = np.random.default_rng(0)
    lengths = [3, 1, 12, 7]
    documents = [np.append(rng.integers(1, 11, size=length - 1), 0) for length in lengths]
    parts = np.cumsum([0, *lengths[:-1]])
    nll = token_nll(model, np.concatenate([[0], *documents]), 5, parts)
    alone = [stepwise_nll(model, np.concatenate([[0], tokens]), 5) for tokens in documents]
    np.testing.assert_allclose(nll, np.concatenate(alone), rtol=1e-4, atol=1e-5)


def test_uniform_model_has_the_perplexity_of_its_vocabulary(corpus, tokenizer, tmp_path):
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_positions=16, n_embd=8, n_layer=1, n_head=1))
    for parameter in model.parameters():
        torch.nn.init.zeros_(parameter)
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    measure_perplexity(corpus / "documents.parquet", tmp_path / "model", tmp_path / "p.parquet", OPTIONS, split="test")
    table = pd.read_parquet(tmp_path / "p.parquet")
    assert list(table["id"]) == ["d0", "d3", "d6", "d9"]
    assert math.exp(table["nll"].sum() / table["tokens"].sum()) == pytest.approx(len(tokenizer), rel=1e-4)
    # "a: word 0 word 0 ... \n\nb: end"
    assert table["words"].iloc[0] == 1 + 2 + 2
