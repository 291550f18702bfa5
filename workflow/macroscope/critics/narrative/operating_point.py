"""Where a detector's probability is called a finding.

The threshold leaves a set share of the places in whole validation narratives above it.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from macroscope.critics.narrative.latents import POINT, TASKS
from macroscope.files import read_json

BINS = 10
"""Classes of probability between which systems are compared; real text has as many places in each."""


@dataclass(frozen=True)
class OperatingPoint:
    """Of one task.

    Attributes
    ----------
    threshold
        Probability from which on a place is called a finding.
    expected
        Mean probability of the places of whole validation narratives: the prior of the latents.
    edges
        Between the classes of probability (`BINS` - 1).
    places
        Places of the validation narratives that this is known from.
    """

    threshold: float
    expected: float
    edges: list[float]
    places: int


def operating_point(whole: np.ndarray, false_positive_rate: float) -> OperatingPoint:
    """Threshold and classes from the probabilities at all places of whole narratives."""
    whole = whole.astype(np.float32)
    # As stored, so that places with equal probabilities are on one side.
    edges = np.quantile(whole, np.linspace(0, 1, BINS + 1)[1:-1], method="higher")
    # A place counts from the threshold on: it must lie above so many, ties included.
    highest = np.quantile(whole, 1 - false_positive_rate, method="higher")
    threshold = np.nextafter(highest, np.float32(2.0), dtype=np.float32)
    return OperatingPoint(float(threshold), float(whole.mean(dtype=float)), edges.tolist(), len(whole))


def read_operating_points(inference: Path) -> dict[str, OperatingPoint]:
    """Operating point of the detector for each task."""
    places = {task: inference / task / POINT for task in TASKS}
    return {task: OperatingPoint(**read_json(place)) for task, place in places.items() if place.exists()}
