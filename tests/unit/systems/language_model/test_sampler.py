"""The sampler against a plain loop without a cache, against enumeration, and in different batches."""

import itertools
import math
from collections import Counter, deque

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from macroscope.errors import MacroscopeError
from macroscope.systems.language_model.architectures.recurrent import RecurrentLM
from macroscope.systems.language_model.model import Decoder
from macroscope.systems.language_model.options import Ancestral, TopK
from macroscope.systems.language_model.sampler import Request, TokenSampler

from ..conftest import CONTEXT, VOCABULARY

SEED = 5


def sampler(model, **changes):
    options = {
        "context": CONTEXT,
        "stride": 4,
        "batch_size": 4,
        "max_tokens": 60,
        "decoding": Ancestral(rule="ancestral"),
        "seed": SEED,
        "stream": "test",
    }
    return TokenSampler(model, 0, **(options | changes))


def generate(model, indices, **changes):
    return {
        result.request.index: result
        for result in sampler(model, **changes).run(deque(Request(index) for index in indices))
    }


@torch.inference_mode()
def generate_plainly(model, index, *, stride=4, max_tokens=60):
    """Generate one document without a cache, with the sliding window written out."""
    generator = sampler(model).generator(Request(index))
    tokens, start = [0], 0
    while True:
        if len(tokens) - start > CONTEXT - 1:
            start = len(tokens) - (CONTEXT - stride)
        logits = model(torch.tensor([tokens[start:]])).logits[0, -1]
        probabilities = logits.double().softmax(-1).numpy()
        cumulative = probabilities.cumsum()
        token = int(np.searchsorted(cumulative, generator.random() * cumulative[-1], side="right"))
        tokens.append(token)
        if token == 0:
            return tokens[1:-1]
        if len(tokens) > max_tokens:
            return tokens[1:]


@pytest.mark.parametrize("stride", [1, 4, 9, CONTEXT - 1])
def test_cached_batches_equal_a_plain_loop_of_every_architecture(model, stride):
    results = generate(model, range(12), stride=stride)
    expected = {index: generate_plainly(model, index, stride=stride) for index in range(12)}
    assert {index: result.tokens.tolist() for index, result in results.items()} == expected
    assert max(len(tokens) for tokens in expected.values()) > CONTEXT, "some documents must be longer than the window"


def test_samples_do_not_depend_on_the_batch_or_the_shards(model):
    together = generate(model, range(24))
    for shards in (2, 3, 4):
        apart = {}
        for shard in range(shards):
            apart |= generate(model, range(shard, 24, shards))
        for index, result in together.items():
            np.testing.assert_array_equal(apart[index].tokens, result.tokens)


def test_a_step_that_reads_filled_blocks_only_draws_the_same_tokens(model, monkeypatch):
    expected = generate(model, range(9))
    widths = set()

    class GpuDecoder(Decoder):
        def step(self, tokens, cached):
            self.reads_all = False  # as on a GPU
            logits = super().step(tokens, cached)
            widths.add(self.cache.layers[0].read)
            return logits

    monkeypatch.setattr("macroscope.systems.language_model.sampler.Decoder", GpuDecoder)
    monkeypatch.setattr("macroscope.systems.language_model.model.BLOCK", 3)
    actual = generate(model, range(9))
    assert all(actual[index].tokens.tolist() == expected[index].tokens.tolist() for index in range(9))
    assert len(widths) > 1 or isinstance(model, RecurrentLM)


def test_logits_do_not_depend_on_other_rows_to_the_bit(gpt2):
    seen = {}

    def recorded(neighbours):
        run = sampler(gpt2, batch_size=3)
        logits = []
        run.model = Recorder(gpt2, logits)
        list(run.run(deque([Request(0), *(Request(i) for i in neighbours)])))
        return logits

    seen = [recorded(neighbours) for neighbours in ([], [1, 2], [3, 4, 5, 6])]
    for logits in seen[1:]:
        for a, b in zip(seen[0], logits, strict=False):
            assert torch.equal(a, b)


class Recorder:
    """A model that records the logits of its first row while that row has the first document."""

    def __init__(self, model, logits):
        self.inner, self.logits, self.ended = model, logits, False
        self.config, self.device, self.dtype = model.config, model.device, model.dtype
        self.base_model_prefix = model.base_model_prefix
        setattr(self, model.base_model_prefix, getattr(model, model.base_model_prefix))

    def __call__(self, **inputs):
        output = self.inner(**inputs)
        self.ended |= bool(self.logits) and int(inputs["input_ids"][0, 0]) == 0
        if not self.ended:
            self.logits.append(output.logits[0, -1].clone())
        return output


def exact_probabilities(model, longest):
    """Compute P(document) of every document of at most `longest` tokens, by enumeration."""
    probabilities = {}
    for length in range(longest + 1):
        for tokens in itertools.product(range(1, VOCABULARY), repeat=length):
            with torch.inference_mode():
                logs = model(torch.tensor([[0, *tokens]])).logits[0].double().log_softmax(-1)
            path = [*tokens, 0]
            probabilities[tokens] = math.exp(sum(float(logs[i, token]) for i, token in enumerate(path)))
    return probabilities


def test_short_documents_come_with_their_exact_probabilities(gpt2):
    n = 3000
    exact = exact_probabilities(gpt2, 2)
    counts = Counter(
        tuple(result.tokens.tolist()) for result in generate(gpt2, range(n), batch_size=64, max_tokens=3).values()
    )
    common = [tokens for tokens, p in exact.items() if p * n >= 5]
    observed = [counts[tokens] for tokens in common]
    expected = [exact[tokens] * n for tokens in common]
    observed.append(n - sum(observed))
    expected.append(n - sum(expected))
    assert len(common) >= 5
    assert chisquare(observed, expected).pvalue > 1e-4


def test_a_document_is_cut_at_the_longest_length(gpt2):
    results = generate(gpt2, range(40), max_tokens=5)
    assert all(len(result.tokens) <= 5 for result in results.values())
    assert any(result.cut for result in results.values())
    assert all(len(result.tokens) == 5 for result in results.values() if result.cut)
    assert all(0 not in result.tokens for result in results.values())


@pytest.mark.parametrize("ends", [(), (3,), (3, 7, 9)])
def test_the_most_probable_text_ends_where_that_of_transformers_does(gpt2, ends):
    """Prompts of one token, as many as the vocabulary has; `generate` has all ends as its `eos_token_id`."""
    prompts = [token for token in range(1, VOCABULARY) if token not in ends]
    greedy = sampler(gpt2, ends=ends, max_tokens=CONTEXT - 2, decoding=TopK(rule="top_k", k=1))
    results = {r.request.index: r for r in greedy.run(deque(Request(n, prompt=(n,)) for n in prompts))}
    for token in prompts:
        inputs = {"input_ids": torch.tensor([[0, token]]), "attention_mask": torch.ones(1, 2)}
        (tokens,) = gpt2.generate(
            **inputs, do_sample=False, max_length=CONTEXT - 1, eos_token_id=[0, *ends], pad_token_id=0
        )
        result = results[token]
        end = [] if result.cut else [result.end]
        assert [0, *result.tokens.tolist(), *end] == tokens.tolist()
        assert not set(result.tokens.tolist()) & {0, *ends}


def test_documents_with_several_ends_come_with_their_exact_probabilities(gpt2):
    """A text that may end by one of three tokens has the sum of the three probabilities."""
    n, ends = 3000, (0, 3, 7)
    with torch.inference_mode():
        first = gpt2(torch.tensor([[0]])).logits[0, -1].double().softmax(-1)
    results = generate(gpt2, range(n), ends=ends, batch_size=64, max_tokens=1)
    empty = [result.end for result in results.values() if not len(result.tokens)]
    observed = [*(empty.count(end) for end in ends), n - len(empty)]
    expected = [*(n * float(first[end]) for end in ends), n * (1 - float(first[list(ends)].sum()))]
    assert min(expected) >= 1
    assert chisquare(observed, expected).pvalue > 1e-4


def test_other_attempts_seeds_and_streams_give_other_documents(gpt2):
    first = generate(gpt2, range(8))
    again = {d.request.index: d for d in sampler(gpt2).run(deque(Request(i, 1) for i in range(8)))}
    for changed in (again, generate(gpt2, range(8), seed=6), generate(gpt2, range(8), stream="else")):
        assert any(first[i].tokens.tolist() != changed[i].tokens.tolist() for i in range(8))


def test_a_stride_as_long_as_the_window_is_refused(gpt2):
    with pytest.raises(MacroscopeError, match="stride: 16 is not between 1 and 15"):
        sampler(gpt2, stride=CONTEXT)
