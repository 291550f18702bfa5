"""Operating point of a detector: the threshold from which a place counts as detected.

The threshold is set so that a given share of the places in whole validation narratives is at or above it.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from macroscope.critics.narrative.latents import OPERATING_POINT, TASKS
from macroscope.files import read_json

BINS = 10
"""Number of classes of probability over which systems are compared; real text has equally many places in each."""


@dataclass(frozen=True)
class OperatingPoint:
    """Operating point of the detector for one task.

    Attributes
    ----------
    threshold
        Probability from which a place counts as detected.
    expected
        Mean probability of the places of whole validation narratives: the prior of the latents.
    edges
        Boundaries between the classes of probability (`BINS` - 1).
    places
        Number of places of the validation narratives.
    """

    threshold: float
    expected: float
    edges: list[float]
    places: int


def choose_operating_point(probabilities: np.ndarray, false_positive_rate: float) -> OperatingPoint:
    """Compute threshold and classes from the probabilities at all places of whole narratives."""
    probabilities = probabilities.astype(np.float32)
    # In the stored precision, so that places with equal probabilities are in the same class.
    edges = np.quantile(probabilities, np.linspace(0, 1, BINS + 1)[1:-1], method="higher")
    # A place at the threshold counts as detected, so the threshold must exceed all probabilities tied at the quantile.
    highest = np.quantile(probabilities, 1 - false_positive_rate, method="higher")
    threshold = np.nextafter(highest, np.float32(2.0), dtype=np.float32)
    return OperatingPoint(float(threshold), float(probabilities.mean(dtype=float)), edges.tolist(), len(probabilities))


def read_operating_points(inference: Path) -> dict[str, OperatingPoint]:
    """Read the operating point of the detector for each task."""
    paths = {task: inference / task / OPERATING_POINT for task in TASKS}
    return {task: OperatingPoint(**read_json(path)) for task, path in paths.items() if path.exists()}
