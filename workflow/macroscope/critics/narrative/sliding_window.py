"""Reading of narratives of any length by a detector, in overlapping windows."""

import numpy as np
import numpy.typing as npt

from macroscope.critics.narrative.detector import Detector, split_windows
from macroscope.critics.narrative.examples import NONE
from macroscope.critics.narrative.narratives import Narratives

FEWEST = 2
"""Fewest sentences of a narrative that can be read: a single sentence has no context."""


def read_narratives(detector: Detector, narratives: Narratives) -> list[npt.NDArray[np.float32]]:
    """Return the probability of damage at each slot, or sentence, of every narrative: the mean over its windows.

    Returns
    -------
    list of array
        For a narrative with n sentences, n - 1 slots or n sentences; empty if n is less than `FEWEST`.
    """
    windows = [
        (number, first, size)
        for number, length in enumerate(narratives.lengths.tolist())
        if length >= FEWEST
        for first, size in split_windows(length, detector.window, detector.spare)
    ]
    inputs = np.full((len(windows), detector.window), NONE, dtype=np.int64)
    for row, (number, first, size) in enumerate(windows):
        inputs[row, :size] = narratives.starts[number] + first + np.arange(size)
    probabilities = detector.probabilities(narratives, inputs)
    sums = np.zeros(len(narratives.sentences))
    counts = np.zeros(len(narratives.sentences))
    is_place = ~np.isnan(probabilities)
    np.add.at(sums, inputs[is_place], probabilities[is_place])
    np.add.at(counts, inputs[is_place], 1)
    slices = [slice(start, end) for start, end in zip(narratives.starts[:-1], narratives.starts[1:], strict=True)]
    last = 1 if detector.task == "missing" else 0
    # In the precision of stored latents, so that thresholds mean the same before and after storing.
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0).astype(np.float32)
    return [
        means[part.start : part.stop - last] if part.stop - part.start >= FEWEST else np.empty(0, dtype=np.float32)
        for part in slices
    ]
