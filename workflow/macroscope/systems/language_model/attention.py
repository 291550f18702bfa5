"""Attention of one new token a row that reads no more of the cache than the row sees.

What a step costs on a CPU is mostly the reading of keys and values. PyTorch's kernels also read what the mask
hides: half of it and more, where documents are of different lengths. And as nothing but its own columns enters the
sums of a row, they are the same whatever its neighbours hold.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "macroscope_step"
"""Under which transformers knows it."""
THREAD_WORK = 1 << 22
"""Numbers of the cache above which a step is shared out among threads: below, waking them takes longer."""
HIDDEN = np.finfo(np.float32).min
"""What a mask holds for a column that a row does not see, or less."""

Singles = NDArray[np.float32]


def use_own_columns(model: Any) -> None:
    """Let a model attend by `attend` from now on, where that does what its own attention does.

    That is on a CPU, in single precision, and where the model would have used PyTorch's.
    """
    if model.device.type == "cpu" and model.dtype == torch.float32 and model.config._attn_implementation == "sdpa":
        model.set_attn_implementation(NAME)


def attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """Attend as transformers' "sdpa" does: by that itself, but for one query a row with a mask of its own.

    Parameters
    ----------
    query
        rows x heads x queries x size.
    key, value
        rows x heads (or a divisor of them) x columns x size.
    attention_mask
        rows x 1 x queries x columns, added to the scores.

    Returns
    -------
    tensor, rows x queries x heads x size; no weights.
    """
    rows, heads, queries, size = query.shape
    if (
        attention_mask is None
        or attention_mask.shape != (rows, 1, 1, key.shape[2])
        or not _readable(query, key, value, attention_mask)
        or options.get("position_bias") is not None
    ):
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **options)
    found = torch.empty(rows, queries, heads, value.shape[-1])
    part = partial(
        _attend, query[:, :, 0].contiguous().numpy(), _flat(key), _layout(key), _flat(value), _layout(value),
        attention_mask[:, 0, 0].numpy(), np.float32(size**-0.5 if scaling is None else scaling), found[:, 0].numpy(),
    )  # fmt: skip
    threads = torch.get_num_threads() if key.numel() > THREAD_WORK else 1
    bounds = [rows * i // threads for i in range(threads + 1)]
    others = [_pool(threads).submit(part, *some) for some in pairwise(bounds[1:])]
    part(*bounds[:2])
    for other in others:
        other.result()
    return found, None


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, sdpa_mask)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads - 1)


def _readable(*parts: torch.Tensor) -> bool:
    return all(part.device.type == "cpu" and part.dtype == torch.float32 and part.stride(-1) == 1 for part in parts)


def _flat(part: torch.Tensor) -> Singles:
    """Return all numbers of a tensor's storage: contiguous, which compiled code is fast on."""
    return part.as_strided((part.untyped_storage().nbytes() // part.itemsize,), (1,), 0).numpy()


def _layout(part: torch.Tensor) -> tuple[int, ...]:
    """Return heads, columns, then where the tensor begins in its storage, and its strides."""
    return (*part.shape[1:3], part.storage_offset(), *part.stride()[:3])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _attend(
    queries: Singles,
    keys: Singles,
    key_layout: tuple[int, ...],
    values: Singles,
    value_layout: tuple[int, ...],
    mask: Singles,
    scale: np.float32,
    found: Singles,
    start: int,
    stop: int,
) -> None:  # pragma: no cover - compiled
    """Write the averages of the values into `found`, for the rows from `start` on up to `stop`."""
    size, values_size = queries.shape[2], found.shape[2]
    key_heads, columns, key_begin, key_row, key_head, key_column = key_layout
    _, _, value_begin, value_row, value_head, value_column = value_layout
    shared = queries.shape[1] // key_heads
    weights = np.empty(columns, np.float32)
    for row in range(start, stop):
        first = 0
        while first < columns - 1 and mask[row, first] <= HIDDEN:
            first += 1
        for head in range(queries.shape[1]):
            query, mean = queries[row, head], found[row, head]
            at = key_begin + row * key_row + head // shared * key_head
            largest = np.float32(-np.inf)
            for column in range(first, columns):
                key = keys[at + column * key_column : at + column * key_column + size]
                weight = np.float32(0)
                for i in range(size):
                    weight += query[i] * key[i]
                weights[column] = weight * scale + mask[row, column]
                largest = max(largest, weights[column])
            total = np.float32(0)
            mean[:] = 0
            at = value_begin + row * value_row + head // shared * value_head
            for column in range(first, columns):
                weight = np.exp(weights[column] - largest)
                total += weight
                value = values[at + column * value_column : at + column * value_column + values_size]
                for i in range(values_size):
                    mean[i] += weight * value[i]
            for i in range(values_size):
                mean[i] /= total
