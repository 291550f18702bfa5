"""Decoding rules against their definitions, row by row, and through the sampler against enumeration."""

import math
from collections import Counter, deque

import numpy as np
import pytest
import torch
from pydantic import TypeAdapter
from scipy.stats import chisquare

from macroscope.config.schema import parse_config
from macroscope.errors import MacroscopeError
from macroscope.systems.language_model.decoding import distribution
from macroscope.systems.language_model.options import Decoding
from macroscope.systems.language_model.sampler import Request, TokenSampler

from ..conftest import CONTEXT

LOGITS = torch.tensor([[2.0, 1.0, 0.5, -1.0, 1.0], [0.0, 0.0, 0.0, 0.0, 3.0], [0.3, -2.0, 5.0, 4.9, 0.0]])
FULL = LOGITS.double().softmax(-1)


def rule(name, **options):
    return TypeAdapter(Decoding).validate_python({"rule": name, **options})


def test_ancestral_sampling_leaves_the_distribution_alone():
    torch.testing.assert_close(distribution(LOGITS, rule("ancestral")), FULL)


@pytest.mark.parametrize("name", ["temperature", "top_k", "nucleus", "typical", "min_p"])
def test_temperature_divides_the_logits_of_every_rule(name):
    everything = {"temperature": {}, "top_k": {"k": 9}, "nucleus": {"p": 1}, "typical": {"p": 1}, "min_p": {"p": 0}}
    probabilities = distribution(LOGITS, rule(name, temperature=0.5, **everything[name]))
    torch.testing.assert_close(probabilities, (LOGITS.double() * 2).softmax(-1))


def renormalised(full, kept):
    return {token: p / sum(full[i] for i in kept) if token in kept else 0.0 for token, p in enumerate(full)}


def kept_by_top_k(full, k):
    smallest = sorted(full, reverse=True)[min(k, len(full)) - 1]
    return {token for token, p in enumerate(full) if p >= smallest}


def kept_by_nucleus(full, p):
    return until(full, sorted(range(len(full)), key=lambda token: -full[token]), p)


def kept_by_typical(full, p):
    entropy = -sum(q * math.log(q) for q in full)
    return until(full, sorted(range(len(full)), key=lambda token: abs(-math.log(full[token]) - entropy)), p)


def kept_by_min_p(full, p):
    return {token for token, q in enumerate(full) if q >= p * max(full)}


def until(full, order, mass):
    kept, total = set(), 0.0
    for token in order:
        if total >= mass:
            break
        kept.add(token)
        total += full[token]
    return kept


CASES = [
    *(("top_k", kept_by_top_k, {"k": k}) for k in (1, 2, 3, 5, 50)),
    *(("nucleus", kept_by_nucleus, {"p": p}) for p in (0.01, 0.3, 0.6, 0.9, 0.999)),
    *(("typical", kept_by_typical, {"p": p}) for p in (0.01, 0.2, 0.5, 0.9, 0.999)),
    *(("min_p", kept_by_min_p, {"p": p}) for p in (0.0, 0.05, 0.3, 0.95, 1.0)),
]


@pytest.mark.parametrize(("name", "kept", "options"), CASES)
def test_rules_keep_what_their_definitions_say(name, kept, options):
    probabilities = distribution(LOGITS, rule(name, **options))
    for full, row in zip(FULL.tolist(), probabilities.tolist(), strict=True):
        expected = renormalised(full, kept(full, *options.values()))
        np.testing.assert_allclose(row, list(expected.values()), atol=1e-12)


@pytest.mark.parametrize("kind", ["peaked", "flat", "tied", "equal"])
def test_a_truncation_of_a_large_vocabulary_is_that_of_a_whole_sort(kind):
    """Few tokens are sorted if they are enough; of equal ones, the first are kept."""
    values = torch.randn(20, 9000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    logits = {"peaked": 5 * values, "flat": values / 10, "tied": values.round(), "equal": 0 * values}[kind]
    probabilities = logits.softmax(-1)
    order = probabilities.argsort(dim=-1, stable=True, descending=True)
    ordered = probabilities.gather(-1, order)
    expected = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, ordered.cumsum(-1) - ordered < 0.9)
    assert torch.equal(distribution(logits, rule("nucleus", p=0.9)) > 0, expected)


@pytest.mark.parametrize(
    "decoding",
    [rule("nucleus", p=0.7), rule("top_k", k=3, temperature=2.0), rule("typical", p=0.6), rule("min_p", p=0.2)],
    ids=lambda decoding: decoding.rule,
)
def test_first_tokens_come_with_the_probabilities_of_the_rule(gpt2, decoding):
    n = 2000
    sampler = TokenSampler(
        gpt2, 0, context=CONTEXT, stride=4, batch_size=64, max_tokens=1, decoding=decoding, seed=2, stream="test"
    )
    results = sampler.run(deque(Request(index) for index in range(n)))
    counts = Counter(int(result.tokens[0]) if len(result.tokens) else 0 for result in results)
    with torch.inference_mode():
        exact = distribution(gpt2(torch.tensor([[0]])).logits[0, -1:], decoding)[0].numpy()
    assert set(counts) <= set(np.flatnonzero(exact))
    possible = exact > 0
    assert chisquare([counts[token] for token in np.flatnonzero(possible)], exact[possible] * n).pvalue > 1e-4


@pytest.mark.parametrize(
    ("decoding", "message"),
    [
        ({"rule": "nuclues", "p": 0.9}, "systems.lm.decoding.rule: 'nuclues' is not one of .*did you mean 'nucleus'"),
        ({"p": 0.9}, "systems.lm.decoding: the key 'rule' is required"),
        ({"rule": "nucleus", "q": 0.9}, "systems.lm.decoding.q: there is no such key"),
        ({"rule": "nucleus"}, "systems.lm.decoding.p: this key is required"),
        ({"rule": "top_k", "k": 0}, "systems.lm.decoding.k: input should be greater than or equal to 1"),
    ],
)
def test_wrong_rules_are_one_sentence(decoding, message):
    lm = {"kind": "language_model", "base": "tiny-gpt2", "titles": True, "decoding": decoding}
    config = {
        "corpora": {"wiki": {"source": "simulated"}},
        "systems": {"lm": lm},
        "comparisons": [{"corpus": "wiki", "critics": ["coherence"]}],
    }
    with pytest.raises(MacroscopeError, match=message):
        parse_config(config)
