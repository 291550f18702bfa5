"""Encoders whose last layer is restricted to the first token: the same vectors with less work."""

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification

from macroscope.critics.text_encoder import compute_first_token_only

IDS = torch.tensor([[2, 7, 8, 9, 3], [2, 9, 3, 1, 1]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])


def small(kind, model_type):
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        model_type, vocab_size=16, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=16, embedding_size=16, pad_token_id=1, num_labels=3,
    )  # fmt: skip
    return kind.from_config(config).eval()


def tokens_of_last_feed_forward(model):
    """Return a list that records the number of tokens in each call of the last layer's feed-forward network."""
    counts = []
    last = model.base_model.encoder.layer[-1]
    last.intermediate.register_forward_hook(lambda module, inputs, output: counts.append(inputs[0].shape[1]))
    return counts


@torch.inference_mode()
@pytest.mark.parametrize("model_type", ["bert", "roberta", "xlm-roberta", "camembert", "electra"])
def test_a_classifier_gives_the_same_logits(model_type):
    model = small(AutoModelForSequenceClassification, model_type)
    counts = tokens_of_last_feed_forward(model)
    before = model(input_ids=IDS, attention_mask=MASK).logits
    compute_first_token_only(model)
    after = model(input_ids=IDS, attention_mask=MASK).logits
    assert counts == [5, 1]
    np.testing.assert_allclose(after, before, atol=1e-6)


@torch.inference_mode()
def test_an_encoder_gives_the_same_first_vector():
    model = small(AutoModel, "bert")
    before = model(input_ids=IDS, attention_mask=MASK).last_hidden_state[:, 0]
    compute_first_token_only(model)
    after = model(input_ids=IDS, attention_mask=MASK).last_hidden_state
    assert after.shape == (2, 1, 16)
    np.testing.assert_allclose(after[:, 0], before, atol=1e-6)


@torch.inference_mode()
def test_other_models_are_unchanged():
    model = AutoModel.from_config(AutoConfig.for_model("gpt2", vocab_size=16, n_embd=16, n_layer=1, n_head=2)).eval()
    compute_first_token_only(model)
    assert model(input_ids=IDS).last_hidden_state.shape == (2, 5, 16)
