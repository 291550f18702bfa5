"""Embeddings of texts: pooling, batches, precision, and a last layer that computes only what is read."""

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification

from macroscope.corpora.simulated.articles import simulate_documents
from macroscope.corpora.simulated.process import wiki_process
from macroscope.critics.text_encoder import TextEncoder, compute_first_token_only, pool
from macroscope.errors import MacroscopeError
from macroscope.options import Resampling
from macroscope.statistics.vectors import compare_vectors

from ...tiny import write_encoder

RESAMPLING = Resampling(resamples=200, permutations=99)
IDS = torch.tensor([[2, 7, 8, 9, 3], [2, 9, 3, 1, 1]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])


@pytest.fixture(scope="module")
def encoder_folder(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("encoder"))


def test_pooling():
    layer = torch.arange(12.0).reshape(2, 3, 2)
    mask = torch.tensor([[1, 1, 1], [1, 1, 0]])
    np.testing.assert_allclose(pool(layer, mask, "first"), [[0, 1], [6, 7]])
    np.testing.assert_allclose(pool(layer, mask, "last"), [[4, 5], [8, 9]])
    np.testing.assert_allclose(pool(layer, mask, "mean"), [[2, 3], [7, 8]])


@pytest.mark.parametrize("pooling", ["mean", "last", "first"])
def test_embedding_does_not_depend_on_the_batch(encoder_folder, pooling):
    encoder = TextEncoder(str(encoder_folder), pooling, 16)
    texts = ["he was born", "", "the war " * 40, "career"]
    together, cut = encoder.embed(texts)
    np.testing.assert_allclose(together, np.vstack([encoder.embed([text])[0] for text in texts]), atol=1e-5)
    assert cut.tolist() == [False, False, True, False]


def test_what_bfloat16_does_to_embeddings_and_to_distances_between_collections():
    documents = list(simulate_documents(wiki_process(), "process", 120, 1))
    texts = [document.text[:400] for document in documents]
    exact, coarse = (
        TextEncoder("minilm", "mean", 64, precision).embed(texts)[0] for precision in ("float32", "bfloat16")
    )
    assert coarse.dtype == np.float32
    assert (exact != coarse).any()
    cosines = (exact * coarse).sum(axis=1) / np.linalg.norm(exact, axis=1) / np.linalg.norm(coarse, axis=1)
    np.testing.assert_allclose(cosines, 1, atol=5e-4)
    # Two random halves, and all texts against a subset: neither changes by a detectable amount.
    for first, second in ((slice(60), slice(60, None)), (slice(None), slice(None, None, 4))):
        estimates = [
            compare_vectors(precision[first], precision[second][:60], 3, 99, RESAMPLING)
            for precision in (exact, coarse)
        ]
        for full, rounded in zip(*estimates, strict=True):
            assert abs(rounded.value - full.value) < 0.05 * (full.ci_high - full.ci_low), full.statistic
            assert abs(rounded.p_value - full.p_value) < 0.05, full.statistic


def test_causal_language_model_embeds_by_its_last_token(tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2Model, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel({"<eos>": 0, "a": 1, "b": 2, "c": 3}, unk_token="<eos>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>", bos_token="<eos>").save_pretrained(tmp_path)
    torch.manual_seed(0)
    model = GPT2Model(GPT2Config(vocab_size=4, n_positions=8, n_embd=8, n_layer=1, n_head=2)).eval()
    model.save_pretrained(tmp_path)
    vectors, cut = TextEncoder(str(tmp_path), "last", 8).embed(["a b c", "", "a " * 9])
    with torch.no_grad():
        last = model(torch.tensor([[1, 2, 3]])).last_hidden_state[0, -1]
        beginning = model(torch.tensor([[0]])).last_hidden_state[0, -1]
    np.testing.assert_allclose(vectors[0], last, atol=1e-5)
    np.testing.assert_allclose(vectors[1], beginning, atol=1e-5)  # an empty text
    assert cut.tolist() == [False, False, True]
    with pytest.raises(MacroscopeError, match="accepts at most 8 tokens, not 9"):
        TextEncoder(str(tmp_path), "last", 9)


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
