"""Log-probabilities of samples against stepwise forward passes; the probabilities of all texts sum to one."""

import itertools

import numpy as np
import pandas as pd
import pytest
import torch
from tokenizers import Tokenizer, decoders, models
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from macroscope.config.schema import parse_config
from macroscope.documents import Document, Provenance, Section, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.plan import Plan
from macroscope.systems.formats import BOUNDARY
from macroscope.systems.language_model.architectures.recurrent import RecurrentLM
from macroscope.systems.language_model.log_probabilities import document_nll, measure_log_probabilities, sample_tokens
from macroscope.systems.language_model.model import load_model
from macroscope.systems.language_model.options import LanguageModelSystem
from macroscope.systems.language_model.sampling import make_sampler, sample_shard
from macroscope.systems.prompts import EncodedPrompt

from ..conftest import CONTEXT, RECURRENT, SIZES, VOCABULARY, tiny_model


def options(**changes):
    defaults = {"base": "x", "titles": False, "samples": 12, "batch_size": 4, "max_tokens": 60, "stride": 4}
    return LanguageModelSystem(kind="language_model", **defaults | changes)


@torch.inference_mode()
def stepwise_nll(model, tokens, stride):
    """Compute -log P token by token, from the window of the plain loop in the sampler's tests."""
    nll, start = [], 0
    for position in range(1, len(tokens)):
        if not isinstance(model, RecurrentLM) and position - start > CONTEXT - 1:
            start = position - (CONTEXT - stride)
        logs = model(torch.tensor([tokens[start:position]])).logits[0, -1].double().log_softmax(-1)
        nll.append(-float(logs[tokens[position]]))
    return nll


@pytest.mark.parametrize("stride", [1, 4, CONTEXT - 1])
@pytest.mark.parametrize("kind", [*SIZES, *RECURRENT])
def test_log_probabilities_are_those_of_the_sampler_token_by_token(kind, stride):
    model, rng = tiny_model(kind, 2.0), np.random.default_rng(0)
    lengths = [2, CONTEXT - 1, CONTEXT, CONTEXT + 1, CONTEXT + stride, CONTEXT + stride + 1, 50]
    documents = [np.array([0, *rng.integers(1, VOCABULARY, length - 1)]) for length in lengths]
    sampler = make_sampler(model, 0, CONTEXT, options(stride=stride), 0, "")
    nll = document_nll(sampler, documents)
    for values, tokens in zip(nll, documents, strict=True):
        np.testing.assert_allclose(values, stepwise_nll(model, tokens.tolist(), stride), atol=2e-5)


LETTERS = ("a", "b", "c")


@pytest.fixture(scope="module", params=[0, 2], ids=["one end", "two control tokens"])
def folder(request, tmp_path_factory):
    """Folder with a model of three letters and the ends, and with a control whose only document is the word "ab"."""
    folder = tmp_path_factory.mktemp("letters")
    tokenizer = Tokenizer(models.BPE(vocab={BOUNDARY: 0, "a": 1, "b": 2, "c": 3}, merges=[]))
    control = [f"<|control {number}|>" for number in range(request.param)]
    tokenizer.add_special_tokens(control)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=BOUNDARY, eos_token=BOUNDARY)
    fast.save_pretrained(folder / "model")
    torch.manual_seed(1)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=4 + len(control), n_positions=8, n_embd=8, n_layer=1, n_head=2))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(5.0)
    model.save_pretrained(folder / "model")
    write_documents(folder / "control", [Document("ab", "test", None, (Section(None, "ab"),))], Provenance("c"))
    return folder


def measure(folder, output, parsed, texts, cut=()):
    samples = [Document(f"lm-{n:07d}", "test", None, (Section(None, text),)) for n, text in enumerate(texts)]
    write_documents(output / "samples", samples, Provenance("c", {"cut_samples": list(cut)}))
    prompts = folder / "control" if parsed.prompt_words else None
    measure_log_probabilities(output / "samples", folder / "model", output / "table", parsed, prompts=prompts)
    return pd.read_parquet(output / "table")


def every_text(longest):
    return ["".join(letters) for n in range(longest + 1) for letters in itertools.product(LETTERS, repeat=n)]


def test_probabilities_of_all_texts_sum_to_one(folder, tmp_path):
    longest = 4
    texts = every_text(longest)[1:]  # a sample is never empty
    cut = [number for number, text in enumerate(texts) if len(text) == longest]
    table = measure(folder, tmp_path, options(max_tokens=longest), texts, cut)
    assert table["tokens"].tolist() == [min(len(text) + 1, longest) for text in texts]
    assert table["ended"].tolist() == [len(text) < longest for text in texts]
    assert set(table["prompt_tokens"]) == {0}
    model = load_model(folder / "model")[0]
    with torch.inference_mode():
        first = model(torch.tensor([[0]], device=model.device)).logits[0, -1].double().softmax(-1)
    empty = 1 - float(first[1:4].sum())
    assert 0.01 < empty < 0.99
    assert np.exp(table["log_probability"]).sum() == pytest.approx(1 - empty, abs=1e-5)


def test_probabilities_of_all_continuations_of_a_prompt_sum_to_one(folder, tmp_path):
    longest = 5
    texts = ["ab" + text for text in every_text(longest - 2)]
    cut = [number for number, text in enumerate(texts) if len(text) == longest]
    table = measure(folder, tmp_path, options(max_tokens=longest, prompt_words=1, stride=2), texts, cut)
    assert set(table["prompt_tokens"]) == {2}
    assert table["tokens"].tolist() == [min(len(text) - 1, longest - 2) for text in texts]
    assert np.exp(table["log_probability"]).sum() == pytest.approx(1, abs=1e-5)


def test_log_probabilities_are_those_of_a_plain_forward_pass(folder, tmp_path):
    model = load_model(folder / "model")[0]
    table = measure(folder, tmp_path, options(), ["abca", "c"])
    for tokens, log_probability in zip(([0, 1, 2, 3, 1, 0], [0, 3, 0]), table["log_probability"], strict=True):
        with torch.inference_mode():
            logs = model(torch.tensor([tokens], device=model.device)).logits[0].double().log_softmax(-1)
        *letters, _ = enumerate(tokens[1:])
        end = float(logs[len(letters), [0, *range(4, logs.shape[-1])]].logsumexp(-1))
        assert log_probability == pytest.approx(end + sum(float(logs[i, token]) for i, token in letters), abs=1e-5)


@pytest.mark.parametrize("prompt_words", [None, 1])
def test_samples_have_a_log_probability_each_and_cut_ones_no_end(folder, tmp_path, prompt_words):
    parsed = options(samples=40, max_tokens=6, prompt_words=prompt_words)
    prompts = folder / "control" if prompt_words else None
    arguments = {"system": "lm", "seed": 1, "shard": 0, "shards": 1, "prompts": prompts}
    sample_shard(folder / "model", tmp_path / "s", parsed, **arguments)
    measure_log_probabilities(tmp_path / "s", folder / "model", tmp_path / "t", parsed, prompts=prompts)
    table = pd.read_parquet(tmp_path / "t")
    documents = list(read_documents(tmp_path / "s"))
    assert table["id"].tolist() == [document.id for document in documents]
    lengths = np.array([len(document.text) for document in documents])
    assert table["ended"].tolist() == (lengths < 6).tolist()
    assert len(set(table["ended"])) == 2
    assert not any("<" in document.text for document in documents)
    counts = {count.filter: count for count in read_provenance(tmp_path / "s").counts}
    has_control = len(load_model(folder / "model")[1]) > 4
    assert ("control token in place of an end" in counts) == has_control
    if has_control:
        assert 0 < counts["control token in place of an end"].dropped <= table["ended"].sum()
    assert (table["tokens"] + table["prompt_tokens"] - table["ended"] == lengths).all()
    assert (table["log_probability"] < 0).all()


def test_a_prompt_keeps_the_tokens_that_the_sampler_had():
    vocabulary = {BOUNDARY: 0, "a": 1, "b": 2, "c": 3, "bc": 4, "abc": 5}
    merges = Tokenizer(models.BPE(vocab=vocabulary, merges=[("b", "c"), ("a", "bc")]))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=merges, bos_token=BOUNDARY, eos_token=BOUNDARY)
    prompt, within, apart = (tokenizer(text)["input_ids"] for text in ("ab", "abc", "aba"))
    assert (prompt, within, apart) == ([1, 2], [5], [1, 2, 1])
    given = EncodedPrompt("ab", "x", False, tuple(prompt))
    assert sample_tokens("abc", within, given, tokenizer) == [1, 2, 3]
    assert sample_tokens("aba", apart, given, tokenizer) == apart


def test_invalid_samples_and_options_are_one_sentence(folder, tmp_path):
    with pytest.raises(MacroscopeError, match="nucleus does not sample the model's own distribution"):
        measure(folder, tmp_path, options(decoding={"rule": "nucleus", "p": 0.9}), ["a"])
    with pytest.raises(
        MacroscopeError, match="sample 'lm-0000001': it does not begin with the prompt from document 'ab'"
    ):
        measure(folder, tmp_path, options(prompt_words=1), ["abc", "ba"])
    write_documents(tmp_path / "other", [Document("x", "test", None, (Section(None, "a"),))], Provenance("c"))
    with pytest.raises(MacroscopeError, match="the metadata do not say which samples were cut"):
        measure_log_probabilities(tmp_path / "other", folder / "model", tmp_path / "t", options())


def test_a_plan_has_log_probabilities_of_ancestral_systems():
    lm = {"kind": "language_model", "base": "tiny-gpt2", "titles": False}
    nucleus = {"kind": "resampled", "of": "lm", "decoding": {"rule": "nucleus", "p": 0.9}}
    again = {"kind": "resampled", "of": "lm", "decoding": {"rule": "ancestral"}}
    systems = {"lm": lm, "nucleus": nucleus, "again": again, "trigram": {"kind": "ngram", "titles": False}}
    config = {
        "corpora": {"wiki": {"source": "simulated"}},
        "systems": systems,
        "comparisons": [{"corpus": "wiki", "critics": ["coherence"]}],
    }
    plan = Plan(parse_config(config)).systems.language_models
    assert plan.systems_of("measure_log_probabilities") == ["lm", "again"]
    assert plan.log_probabilities("wiki", "again") == "results/default/systems/wiki/again/log_probabilities.parquet"
    for system in ("nucleus", "trigram", "control"):
        with pytest.raises(
            MacroscopeError, match=f"systems.{system}: the log-probabilities of its samples are unknown"
        ):
            plan.log_probabilities("wiki", system)
