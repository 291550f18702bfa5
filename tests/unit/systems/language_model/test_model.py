"""Changes of a decoder to a model affect rounding only."""

import copy

import torch
from transformers.activations import NewGELUActivation

from macroscope.systems.language_model.model import fuse_activations

from ..conftest import CONTEXT, VOCABULARY


@torch.inference_mode()
def test_fused_activations_change_only_the_last_digits(gpt2):
    tokens = torch.randint(VOCABULARY, (4, CONTEXT), generator=torch.Generator().manual_seed(1))
    plain, fused = copy.deepcopy(gpt2), copy.deepcopy(gpt2)
    fuse_activations(fused)
    assert any(isinstance(module, NewGELUActivation) for module in plain.modules())
    assert not any(isinstance(module, NewGELUActivation) for module in fused.modules())
    expected, actual = plain(tokens).logits, fused(tokens).logits
    assert (actual - expected).abs().max() < 1e-5 * expected.abs().max()
    numbers = torch.linspace(-12, 12, 10_001)
    actual = torch.nn.GELU(approximate="tanh")(numbers)
    assert torch.allclose(actual, NewGELUActivation()(numbers), rtol=1e-5, atol=1e-6)
