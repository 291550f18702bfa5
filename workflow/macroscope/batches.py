"""Batches of texts for an encoder: of similar lengths, so that next to nothing is spent on padding."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

TOKENS_PER_BATCH = 4096
"""Padded tokens of one inference batch: wide enough to fill the arithmetic units, small enough for any memory."""
TOKENS_IN_CACHE = 1024
"""The same for an encoder on a CPU. Its units are full from about a hundred tokens on; with four times as many, what a
layer hands to the next no longer stays in a core's cache, and texts of more different lengths are padded."""


def tokens_per_batch(device: str) -> int:
    """Padded tokens of one batch of an encoder on a device, as `torch.device.type` names it."""
    return TOKENS_IN_CACHE if device == "cpu" else TOKENS_PER_BATCH


def length_batches(lengths: NDArray[np.int64], budget: int) -> Iterator[NDArray[np.int64]]:
    """Indices in batches of similar length, longest first; count x longest <= budget, or a single long one."""
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, int(lengths[order[start]])))
        yield order[start : start + size]
        start += size
