"""Attention of one new token per row that reads only the columns of the cache which the row sees.

The cost of a step on a CPU is mostly that of reading keys and values. PyTorch's kernels also read masked columns, which
are half of the cache and more if documents differ in length. And because only a row's own columns enter its sums, these
do not depend on the other rows.

The cached tokens of each row are right-aligned in the same C columns, and an attention mask hides the columns to their
left. So rows can begin and end independently of one another, and each step writes one column. If all steps read all
columns, they have the same shapes, and the arithmetic of a row does not depend on the other rows. `generate` aligns
batches in the same way (left padding), so every causal model of transformers supports it.
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
from transformers.cache_utils import Cache, CacheLayerMixin, DynamicCache
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "macroscope_step"
"""Name under which it is registered with transformers."""
THREAD_WORK = 1 << 22
"""Size of the cache, in numbers, above which a step uses several threads; below it, waking them takes longer."""
HIDDEN = np.finfo(np.float32).min
"""Largest value of a mask for a column that a row does not see."""

Singles = NDArray[np.float32]


def use_row_attention(model: Any) -> None:
    """Make a model use `attend` if that is equivalent to its own attention.

    This is the case on a CPU, in single precision, if the model uses PyTorch's attention ("sdpa").
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
    """Compute attention like "sdpa" of transformers: with a fast path for one query per row with an additive mask.

    All other cases are passed on to "sdpa".

    Parameters
    ----------
    query
        rows x heads x queries x size.
    key, value
        rows x heads (or a divisor of their number) x columns x size.
    attention_mask
        Mask that is added to the scores: rows x 1 x queries x columns.

    Returns
    -------
    tensor, rows x queries x heads x size; None for the weights.
    """
    rows, heads, queries, size = query.shape
    if (
        attention_mask is None
        or attention_mask.shape != (rows, 1, 1, key.shape[2])
        or not _is_supported(query, key, value, attention_mask)
        or options.get("position_bias") is not None
    ):
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **options)
    output = torch.empty(rows, queries, heads, value.shape[-1])
    attend_rows = partial(
        _attend, query[:, :, 0].contiguous().numpy(),
        _flatten_storage(key), _layout(key), _flatten_storage(value), _layout(value),
        attention_mask[:, 0, 0].numpy(), np.float32(size**-0.5 if scaling is None else scaling), output[:, 0].numpy(),
    )  # fmt: skip
    threads = torch.get_num_threads() if key.numel() > THREAD_WORK else 1
    bounds = [rows * i // threads for i in range(threads + 1)]
    futures = [_pool(threads).submit(attend_rows, *span) for span in pairwise(bounds[1:])]
    attend_rows(*bounds[:2])
    for future in futures:
        future.result()
    return output, None


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, sdpa_mask)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads - 1)


def _is_supported(*tensors: torch.Tensor) -> bool:
    return all(
        tensor.device.type == "cpu" and tensor.dtype == torch.float32 and tensor.stride(-1) == 1 for tensor in tensors
    )


def _flatten_storage(tensor: torch.Tensor) -> Singles:
    """Return all numbers of a tensor's storage as a contiguous array, on which compiled code is fast."""
    return tensor.as_strided((tensor.untyped_storage().nbytes() // tensor.itemsize,), (1,), 0).numpy()


def _layout(tensor: torch.Tensor) -> tuple[int, ...]:
    return (*tensor.shape[1:3], tensor.storage_offset(), *tensor.stride()[:3])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _attend(
    queries: Singles,
    keys: Singles,
    key_layout: tuple[int, ...],
    values: Singles,
    value_layout: tuple[int, ...],
    mask: Singles,
    scale: np.float32,
    means: Singles,
    start: int,
    stop: int,
) -> None:  # pragma: no cover - compiled
    """Write the weighted averages of the values into `means`, for the rows from `start` to `stop`."""
    size, values_size = queries.shape[2], means.shape[2]
    key_heads, columns, key_begin, key_row, key_head, key_column = key_layout
    _, _, value_begin, value_row, value_head, value_column = value_layout
    shared = queries.shape[1] // key_heads
    weights = np.empty(columns, np.float32)
    for row in range(start, stop):
        first = 0
        while first < columns - 1 and mask[row, first] <= HIDDEN:
            first += 1
        for head in range(queries.shape[1]):
            query, mean = queries[row, head], means[row, head]
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


class RollingLayer(CacheLayerMixin):
    """Keys and values of one layer: the last C columns of a buffer twice as long, which is moved back when full.

    Parameters
    ----------
    columns
        C, the largest number of tokens that a step attends to, including the new one.

    Attributes
    ----------
    read
        Number of last columns that a step reads: C, or fewer if no row fills the others.
    """

    is_sliding = False
    keys: torch.Tensor
    values: torch.Tensor

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.columns = self.read = columns
        self.end = columns - 1

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor | None = None) -> None:
        """Allocate the buffers: rows x heads x 2C x size of a head."""
        values = key_states if value_states is None else value_states
        self.dtype, self.device = key_states.dtype, key_states.device
        self.keys, self.values = (
            torch.zeros((*states.shape[:2], 2 * self.columns, states.shape[-1]), dtype=self.dtype, device=self.device)
            for states in (key_states, values)
        )
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Add one column for all rows; return views of the last columns that are read."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        if self.end == 2 * self.columns:
            self._move_back()
        for buffer, states in ((self.keys, key_states), (self.values, value_states)):
            buffer[:, :, self.end : self.end + 1] = states
        self.end += 1
        window = slice(self.end - self.read, self.end)
        return self.keys[:, :, window], self.values[:, :, window]

    def write_row(self, row: int, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Replace the last columns of a row by keys and values (heads x tokens x size)."""
        self.keys[row, :, self.end - keys.shape[1] : self.end] = keys
        self.values[row, :, self.end - values.shape[1] : self.end] = values

    def copy_row(self, source: int, target: int, length: int) -> None:
        """Copy a row to another one; its last `length` columns are in use."""
        window = slice(self.end - length, self.end)
        for buffer in (self.keys, self.values):
            buffer[target, :, window] = buffer[source, :, window]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.read, 0

    def get_seq_length(self) -> int:
        """Return the number of columns before the new one that a step reads, as if all of them were in use."""
        return self.read - 1

    def get_max_length(self) -> int:
        return self.columns

    def get_max_cache_shape(self) -> int:
        return self.columns

    def _move_back(self) -> None:
        kept = slice(self.columns + 1, 2 * self.columns)
        for buffer in (self.keys, self.values):
            buffer[:, :, : self.columns - 1] = buffer[:, :, kept].clone()
        self.end = self.columns - 1


class RollingCache(Cache):
    """One `RollingLayer` for each layer of a model."""

    def __init__(self, layers: int, columns: int) -> None:
        self.rolling = [RollingLayer(columns) for _ in range(layers)]
        super().__init__(layers=list(self.rolling))

    def read(self, columns: int) -> None:
        """Set the number of last columns that each step reads from now on."""
        for layer in self.rolling:
            layer.read = columns

    def copy_row(self, source: int, target: int, length: int) -> None:
        """Copy the last `length` cached tokens of a row to another row, `target`."""
        for layer in self.rolling:
            layer.copy_row(source, target, length)

    def write_row(self, row: int, encoded: DynamicCache) -> None:
        """Replace the cached tokens of a row by another cache of a single row."""
        for layer, encoded_layer in zip(self.rolling, encoded.layers, strict=True):
            layer.write_row(row, encoded_layer.keys[0], encoded_layer.values[0])  # type: ignore[union-attr,index]
