"""Attention that reads only a row's own columns, against PyTorch's over all columns."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from macroscope.systems.language_model import attention
from macroscope.systems.language_model.attention import attend, use_row_attention

from ..conftest import tiny_model

ROWS, COLUMNS, SIZE = 5, 23, 8
LENGTHS = torch.tensor([1, 4, 16, 22, 23])


def inputs(heads=4, key_heads=4, rows=ROWS):
    """Return random inputs; keys and values are windows of longer buffers, as in the cache."""
    torch.manual_seed(1)
    query = torch.randn(rows, 1, heads, SIZE).transpose(1, 2)
    key, value = (torch.randn(rows, key_heads, 2 * COLUMNS, SIZE)[:, :, 7 : 7 + COLUMNS] for _ in range(2))
    hidden = torch.arange(COLUMNS) < COLUMNS - LENGTHS[:rows, None]
    mask = torch.zeros(rows, COLUMNS).masked_fill(hidden, torch.finfo(torch.float32).min)
    return query, key, value, mask[:, None, None]


@pytest.mark.parametrize("scaling", [None, 0.3])
@pytest.mark.parametrize("key_heads", [4, 2, 1])
def test_it_is_pytorchs_attention(key_heads, scaling):
    query, key, value, mask = inputs(key_heads=key_heads)
    output, weights = attend(torch.nn.Module(), query, key, value, mask, scaling=scaling)
    expected = scaled_dot_product_attention(query, key, value, mask, scale=scaling, enable_gqa=True)
    torch.testing.assert_close(output, expected.transpose(1, 2), rtol=1e-5, atol=1e-6)
    assert weights is None


def test_any_additive_mask():
    query, key, value, _ = inputs()
    mask = torch.randn(ROWS, 1, 1, COLUMNS)
    mask[0], mask[1, ..., :3], mask[2, ..., 5:9] = torch.finfo(torch.float32).min, -torch.inf, -torch.inf
    output, _ = attend(torch.nn.Module(), query, key, value, mask)
    expected = scaled_dot_product_attention(query, key, value, mask)
    # For a row that sees nothing, PyTorch weights all columns equally; here it may be any average of the values.
    torch.testing.assert_close(output[1:], expected.transpose(1, 2)[1:], rtol=1e-5, atol=1e-6)
    assert output[0].isfinite().all()


def test_a_row_does_not_depend_on_others_to_the_bit():
    query, key, value, mask = inputs()
    together, _ = attend(torch.nn.Module(), query, key, value, mask)
    for row in range(ROWS):
        span = slice(row, row + 1)
        alone, _ = attend(torch.nn.Module(), query[span], key[span], value[span], mask[span])
        assert torch.equal(alone, together[span])
    key[:, :, :4], value[:, :, :4] = torch.nan, torch.inf
    again, _ = attend(torch.nn.Module(), query, key, value, mask)
    assert torch.equal(again[:3], together[:3]), "columns that a row does not see do not enter"


@pytest.fixture
def restored_threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("restored_threads")
@pytest.mark.parametrize("threads", [2, 3, 7])
def test_threads_change_nothing(threads, monkeypatch):
    arguments = inputs()
    torch.set_num_threads(1)
    expected, _ = attend(torch.nn.Module(), *arguments)
    monkeypatch.setattr(attention, "THREAD_WORK", 0)
    torch.set_num_threads(threads)
    output, _ = attend(torch.nn.Module(), *arguments)
    assert torch.equal(output, expected)


def test_several_queries_boolean_masks_and_other_types_are_passed_on():
    query, key, value, mask = inputs()
    for arguments in (
        (key, key, value, None),
        (query, key, value, mask == 0),
        tuple(part.double() for part in (query, key, value, mask)),
    ):
        output, _ = attend(torch.nn.Module(), *arguments)
        expected = scaled_dot_product_attention(*arguments, is_causal=arguments[3] is None)
        torch.testing.assert_close(output, expected.transpose(1, 2))


@pytest.mark.parametrize(
    ("kind", "used"),
    [("gpt2", True), ("macroscope-adaptive-gpt2", True), ("llama", True), ("gpt_neo", False)],
)
def test_models_whose_attention_can_be_replaced_use_it(kind, used):
    model = tiny_model(kind)
    backbone = getattr(model, model.base_model_prefix)
    use_row_attention(backbone)
    assert (model.config._attn_implementation == attention.NAME) == used
    double = tiny_model("gpt2").double()
    use_row_attention(double.transformer)
    assert double.config._attn_implementation == "sdpa"


def test_a_model_that_uses_it_generates_as_before():
    model = tiny_model("gpt2")
    prompts = torch.tensor([[0, 0, 3], [0, 4, 5]])
    seen = torch.tensor([[0, 0, 1], [0, 1, 1]])
    options = {"attention_mask": seen, "do_sample": False, "max_new_tokens": 8, "pad_token_id": 0}
    expected = model.generate(prompts, **options)
    use_row_attention(model.transformer)
    assert torch.equal(model.generate(prompts, **options), expected)
