"""The stochastic beam against enumeration, against a plain loop without a cache, and in different batches."""

import itertools
from collections import Counter, defaultdict, deque

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from macroscope.systems.language_model.beam_sampler import BeamSampler
from macroscope.systems.language_model.options import Ancestral, BeamSampling
from macroscope.systems.language_model.sampler import Request, TokenSampler

from ..conftest import CONTEXT, tiny_model

OPTIONS = {"context": CONTEXT, "batch_size": 12, "seed": 5, "stream": "test"}


def sampler(model, beams, **changes):
    options = OPTIONS | {"stride": 4, "max_tokens": 40} | changes
    return BeamSampler(model, 0, decoding=BeamSampling(rule="beam_sampling", beams=beams), **options)


def generate(model, beams, indices, **changes):
    run = sampler(model, beams, **changes).run(deque(Request(index) for index in indices))
    return {result.request.index: result for result in run}


@torch.inference_mode()
def generate_plainly(model, index, beams, stride=4, max_tokens=40, ends=(0,)):
    """Generate one document, encoding every sequence of the beam again for every token."""
    generator = sampler(model, beams).generator(Request(index))
    live, ended, start = [((0,), 0.0)], [], 0
    while True:
        length = len(live[0][0])
        if length - start > CONTEXT - 1:
            start = length - (CONTEXT - stride)
        uniforms, new = generator.random((len(live), beams)), {}
        for (tokens, log), numbers in zip(live, uniforms, strict=True):
            logs = model(torch.tensor([tokens[start:]])).logits[0, -1].double().log_softmax(-1).numpy()
            cumulative = np.exp(logs).cumsum()
            for token in np.searchsorted(cumulative, numbers * cumulative[-1], side="right"):
                new[(*tokens, int(token))] = log + logs[token]
        kept = sorted([*ended, *new.items()], key=lambda item: -item[1])[:beams]
        ended = [item for item in kept if item[0][-1] in ends]
        live = [item for item in kept if item[0][-1] not in ends]
        best = kept[0][0]
        if best[-1] in ends:
            return list(best[1:-1])
        if len(best) > max_tokens:
            return list(best[1:])


def test_a_beam_ends_at_each_of_several_ends(gpt2):
    ends = (0, 3, 7)
    results = generate(gpt2, 3, range(10), ends=ends)
    expected = {index: generate_plainly(gpt2, index, 3, ends=ends) for index in range(10)}
    assert {index: result.tokens.tolist() for index, result in results.items()} == expected
    assert len({result.end for result in results.values()}) > 1


@pytest.mark.parametrize("beams", [2, 3])
def test_cached_beams_equal_a_plain_loop(model, beams):
    results = generate(model, beams, range(10))
    assert {i: result.tokens.tolist() for i, result in results.items()} == {
        i: generate_plainly(model, i, beams) for i in range(10)
    }


def test_some_beams_outgrow_the_window():
    # With this scale the model seldom ends, so that sequences get long.
    model = tiny_model("gpt2", 3.0)
    results = generate(model, 3, range(6))
    assert max(len(result.tokens) for result in results.values()) > CONTEXT
    assert {i: result.tokens.tolist() for i, result in results.items()} == {
        i: generate_plainly(model, i, 3) for i in range(6)
    }


def test_samples_do_not_depend_on_the_batch_or_the_shards(gpt2):
    together = generate(gpt2, 3, range(12))
    apart = generate(gpt2, 3, range(0, 12, 2)) | generate(gpt2, 3, range(1, 12, 2))
    for index, result in together.items():
        np.testing.assert_array_equal(apart[index].tokens, result.tokens)


def test_one_beam_is_ancestral_sampling(gpt2):
    results = generate(gpt2, 1, range(400), max_tokens=1, batch_size=64)
    ancestral = TokenSampler(gpt2, 0, decoding=Ancestral(rule="ancestral"), **OPTIONS | {"stride": 4, "max_tokens": 1})
    expected = {d.request.index: d for d in ancestral.run(deque(Request(index) for index in range(400)))}
    assert {i: d.tokens.tolist() for i, d in results.items()} == {i: d.tokens.tolist() for i, d in expected.items()}


def probabilities_of_token_sets(p, k):
    """Compute the probability of each set of distinct tokens among k independent draws."""
    probabilities = defaultdict(float)
    for tokens in itertools.product(range(len(p)), repeat=k):
        probabilities[frozenset(tokens)] += float(np.prod([p[token] for token in tokens]))
    return probabilities


def enumerate_samples(logs_of, k, longest):
    """Compute P(sample) of all possible samples under the beam; samples are cut at `longest` tokens."""
    result = defaultdict(float)
    states = {(((), 0.0),): 1.0}  # sequences of the beam, most probable first -> probability
    for length in range(1, longest + 1):
        after = defaultdict(float)
        for beam, weight in states.items():
            ended = [item for item in beam if item[0] and item[0][-1] == 0]
            live = [item for item in beam if item not in ended]
            logs = [logs_of(tokens) for tokens, _ in live]
            for chosen in itertools.product(
                *(probabilities_of_token_sets(np.exp(next_logs), k).items() for next_logs in logs)
            ):
                new = [
                    ((*tokens, token), log + next_logs[token])
                    for (tokens, log), next_logs, (drawn, _) in zip(live, logs, chosen, strict=True)
                    for token in sorted(drawn)
                ]
                kept = tuple(sorted([*ended, *new], key=lambda item: -item[1])[:k])
                probability = weight * float(np.prod([p for _, p in chosen]))
                if kept[0][0][-1] == 0 or length == longest:
                    result[kept[0][0]] += probability
                else:
                    after[kept] += probability
        states = after
    return result


def test_samples_come_with_the_exact_probabilities_of_the_beam(gpt2):
    k, longest, n = 2, 2, 3000

    def logs_of(tokens):
        with torch.inference_mode():
            return gpt2(torch.tensor([[0, *tokens]])).logits[0, -1].double().log_softmax(-1).numpy()

    exact = enumerate_samples(logs_of, k, longest)
    assert sum(exact.values()) == pytest.approx(1)
    counts = Counter(
        tuple(d.tokens.tolist()) + (() if d.cut else (0,))
        for d in generate(gpt2, k, range(n), max_tokens=longest, batch_size=128).values()
    )
    assert set(counts) <= set(exact)
    common = [tokens for tokens, p in exact.items() if p * n >= 5]
    observed, expected = [counts[tokens] for tokens in common], [exact[tokens] * n for tokens in common]
    observed.append(n - sum(observed))
    expected.append(n - sum(expected))
    assert len(common) >= 5
    assert chisquare(observed, expected).pvalue > 1e-4
