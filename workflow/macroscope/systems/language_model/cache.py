"""A key-value cache of fixed shape for rows of different lengths.

The cached tokens of each row are right-aligned in the same C columns, and an attention mask hides the columns to their
left. So rows can begin and end independently of one another, and each step writes one column. If all steps read all
columns, they have the same shapes, and the arithmetic of a row does not depend on the other rows. `generate` aligns
batches in the same way (left padding), so every causal model of transformers supports it.
"""

from typing import Any

import torch
from transformers.cache_utils import Cache, CacheLayerMixin, DynamicCache


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
        """Return the number of columns that a step attends to, and their offset."""
        return self.read, 0

    def get_seq_length(self) -> int:
        """Return the number of columns before the new one that a step reads, as if all of them were in use."""
        return self.read - 1

    def get_max_length(self) -> int:
        """Return the number of columns."""
        return self.columns

    def get_max_cache_shape(self) -> int:
        """Return the number of columns, under its name in older transformers."""
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
