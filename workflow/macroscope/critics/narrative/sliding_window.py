"""Whole narratives of any length, read by a detector window by window."""

import numpy as np
import numpy.typing as npt

from macroscope.critics.narrative.detector import Detector, windows_of
from macroscope.critics.narrative.examples import NONE
from macroscope.critics.narrative.narratives import Narratives

FEWEST = 2
"""Sentences of a narrative that can be read: one by itself follows from nothing."""


def read_narratives(detector: Detector, narratives: Narratives) -> list[npt.NDArray[np.float32]]:
    """Probability at each slot, or of each sentence, of every narrative: the mean over the windows that show it.

    Returns
    -------
    list of array
        Of a narrative with n sentences n - 1 slots or n sentences; nothing of one with fewer than `FEWEST`.
    """
    places = [
        (number, first, size)
        for number, length in enumerate(narratives.lengths.tolist())
        if length >= FEWEST
        for first, size in windows_of(length, detector.window, detector.spare)
    ]
    inputs = np.full((len(places), detector.window), NONE, dtype=np.int64)
    for row, (number, first, size) in enumerate(places):
        inputs[row, :size] = narratives.starts[number] + first + np.arange(size)
    found = detector.probabilities(narratives, inputs)
    sums = np.zeros(len(narratives.sentences))
    shown = np.zeros(len(narratives.sentences))
    there = ~np.isnan(found)
    np.add.at(sums, inputs[there], found[there])
    np.add.at(shown, inputs[there], 1)
    read = [slice(start, end) for start, end in zip(narratives.starts[:-1], narratives.starts[1:], strict=True)]
    last = 1 if detector.task == "missing" else 0
    # In the precision that latents are stored in: a threshold must mean the same before and after.
    means = np.divide(sums, shown, out=np.zeros_like(sums), where=shown > 0).astype(np.float32)
    return [
        means[some.start : some.stop - last] if some.stop - some.start >= FEWEST else np.empty(0, dtype=np.float32)
        for some in read
    ]
