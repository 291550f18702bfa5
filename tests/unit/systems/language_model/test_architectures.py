"""Models that carry a state: stepwise results against those for whole windows, and samples against a plain loop."""

from collections import deque

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

import macroscope.systems.language_model.architectures  # noqa: F401 - registers them with transformers
from macroscope.models import resolve
from macroscope.systems.language_model.architectures.recurrent import NormedWeight
from macroscope.systems.language_model.beam_sampler import BeamSampler
from macroscope.systems.language_model.options import Ancestral, BeamSampling
from macroscope.systems.language_model.sampler import Request, TokenSampler

from ..conftest import RECURRENT, VOCABULARY, tiny_model

OPTIONS = {"context": 16, "stride": 4, "batch_size": 6, "max_tokens": 40, "seed": 5, "stream": "test"}


@pytest.fixture(params=list(RECURRENT))
def recurrent(request):
    return tiny_model(request.param, 2.5)


@torch.inference_mode()
def test_token_by_token_is_as_over_the_window(recurrent):
    tokens = torch.randint(0, VOCABULARY, (3, 20), generator=torch.Generator().manual_seed(0))
    whole = recurrent(input_ids=tokens).logits
    state = recurrent.initial_state(3)
    for place in range(20):
        logits, state = recurrent.advance(tokens[:, place], state)
        torch.testing.assert_close(logits, whole[:, place], rtol=1e-4, atol=1e-5)


@torch.inference_mode()
def test_no_token_sees_later_ones(recurrent):
    tokens = torch.randint(0, VOCABULARY, (1, 12), generator=torch.Generator().manual_seed(0))
    changed = tokens.clone()
    changed[0, 7:] = (changed[0, 7:] + 1) % VOCABULARY
    first, second = (recurrent(input_ids=ids).logits[0] for ids in (tokens, changed))
    torch.testing.assert_close(first[:7], second[:7])
    assert not torch.allclose(first[7:], second[7:])


@torch.inference_mode()
def test_a_gated_cnn_sees_as_far_as_its_kernels_reach():
    model = tiny_model("macroscope-gated-cnn", 2.5)  # three layers of kernels of three: seven tokens
    tokens = torch.randint(0, VOCABULARY, (1, 20), generator=torch.Generator().manual_seed(0))
    for place, is_seen in ((12, False), (13, True)):
        changed = tokens.clone()
        changed[0, place] = (changed[0, place] + 1) % VOCABULARY
        same = torch.allclose(model(input_ids=tokens).logits[0, 19], model(input_ids=changed).logits[0, 19], atol=1e-7)
        assert same is not is_seen


@pytest.mark.parametrize("normalisation", ["weight", "layer"])
def test_weights_of_a_gated_cnn_have_the_lengths_that_are_learnt(normalisation):
    sizes = {"vocab_size": VOCABULARY, "hidden_size": 12, "num_hidden_layers": 2, "kernel_size": 3}
    config = AutoConfig.for_model("macroscope-gated-cnn", normalisation=normalisation, **sizes)
    model = AutoModelForCausalLM.from_config(config).eval()
    tokens = torch.randint(0, VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(0))
    before = model(input_ids=tokens).logits
    weights = [module for module in model.modules() if isinstance(module, NormedWeight)]
    assert len(weights) == (3 if normalisation == "weight" else 0)
    for weight in weights:
        torch.testing.assert_close(weight(), weight.direction)  # initially
        peer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(weight.direction[0].numel(), 1))
        peer.parametrizations.weight.original0.data[:] = weight.length[:1].flatten(1)
        peer.parametrizations.weight.original1.data[:] = 3 * weight.direction[:1].flatten(1)
        torch.testing.assert_close(peer.weight, weight()[:1].flatten(1))
        weight.direction.data *= 3.0
    torch.testing.assert_close(model(input_ids=tokens).logits, before)


def test_loss_is_the_cross_entropy_of_the_next_token(recurrent):
    tokens = torch.randint(0, VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(0))
    labels = tokens.clone()
    labels[0, 4:] = -100
    output = recurrent(input_ids=tokens, labels=labels)
    logs = output.logits[:, :-1].log_softmax(-1).gather(-1, tokens[:, 1:, None])[..., 0]
    assert output.loss.item() == pytest.approx(-logs[labels[:, 1:] != -100].mean().item(), rel=1e-5)


def test_saved_and_loaded_is_the_same_model(recurrent, tmp_path):
    recurrent.save_pretrained(tmp_path)
    again = AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    assert type(again) is type(recurrent)
    for a, b in zip(recurrent.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)


@torch.inference_mode()
def generate_plainly(model, sampler, index):
    """Generate one document, encoding all of it again for every token."""
    generator, tokens = sampler.generator(Request(index)), [0]
    while True:
        logits = model(input_ids=torch.tensor([tokens])).logits[0, -1]
        cumulative = logits.double().softmax(-1).numpy().cumsum()
        tokens.append(int(np.searchsorted(cumulative, generator.random() * cumulative[-1], side="right")))
        if tokens[-1] == 0:
            return tokens[1:-1]
        if len(tokens) > OPTIONS["max_tokens"]:
            return tokens[1:]


def test_samples_equal_those_of_a_plain_loop_beyond_any_window(recurrent):
    sampler = TokenSampler(recurrent, 0, decoding=Ancestral(rule="ancestral"), **OPTIONS)
    samples = {d.request.index: d.tokens.tolist() for d in sampler.run(deque(Request(i) for i in range(15)))}
    assert samples == {i: generate_plainly(recurrent, sampler, i) for i in range(15)}
    assert max(map(len, samples.values())) > OPTIONS["context"]


def test_beams_do_not_depend_on_their_neighbours(recurrent):
    sampler = BeamSampler(recurrent, 0, decoding=BeamSampling(rule="beam_sampling", beams=3), **OPTIONS)
    together = {d.request.index: d.tokens.tolist() for d in sampler.run(deque(Request(i) for i in range(6)))}
    alone = {d.request.index: d.tokens.tolist() for i in reversed(range(6)) for d in sampler.run(deque([Request(i)]))}
    assert together == alone


@torch.inference_mode()
def test_adaptive_softmax_is_a_distribution_and_its_loss_the_cross_entropy():
    model = tiny_model("macroscope-adaptive-gpt2", 2.0)
    tokens = torch.randint(0, VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(0))
    logs = model(input_ids=tokens).logits
    torch.testing.assert_close(logs.exp().sum(-1), torch.ones(2, 9))
    labels = tokens.clone()
    labels[0, 4:] = -100
    expected = -logs[:, :-1].gather(-1, tokens[:, 1:, None])[..., 0][labels[:, 1:] != -100]
    assert model(input_ids=tokens, labels=labels).loss.item() == pytest.approx(expected.mean().item(), rel=1e-5)
    summed = model(input_ids=tokens, labels=labels, num_items_in_batch=5).loss.item()
    assert summed == pytest.approx(expected.sum().item() / 5, rel=1e-5)


@pytest.mark.parametrize(
    ("name", "millions"),
    [("transformer", 205), ("adaptive", 315), ("gated-cnn", 133), ("lstm", 59)],
)
def test_models_of_the_paper_have_its_numbers_of_parameters(name, millions):
    # meister2021, Table 1.
    sizes = dict(resolve(f"meister2021-{name}").configuration)
    words, kind = sizes.pop("vocabulary"), sizes.pop("model_type")
    sizes.pop("tokens", None)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, vocab_size=words, **sizes))
    assert sum(p.numel() for p in model.parameters()) / 1e6 == pytest.approx(millions, rel=0.03)
