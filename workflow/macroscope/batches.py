"""Batches of texts for an encoder: of similar lengths, so that next to nothing is spent on padding."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

TOKENS_PER_BATCH = 4096
"""Padded tokens of one inference batch: wide enough to fill the arithmetic units, small enough for any memory."""


def length_batches(lengths: NDArray[np.int64], budget: int) -> Iterator[NDArray[np.int64]]:
    """Indices in batches of similar length, longest first; count x longest <= budget, or a single long one."""
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, int(lengths[order[start]])))
        yield order[start : start + size]
        start += size
