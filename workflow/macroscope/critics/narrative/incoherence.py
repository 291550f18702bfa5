"""Incoherence of a narrative: one number of its order and of its sentences that are missing or out of place.

The components are the log odds that the sentences do not stand in their author's order, and for each task the mean log
odds that a place is damaged. Each is standardised by whole validation narratives, from which neither the detectors nor
the order were fitted. The incoherence is their mean: 0 for the mean real text, larger for less coherent ones. All have
the same weight, because the validation narratives of small corpora are too few to learn weights from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from macroscope.critics.narrative.latents import ORDER
from macroscope.critics.narrative.options import Task
from macroscope.files import read_json, write_json

FILE = "incoherence.json"
"""File of the scales in the folder of the judges."""
FEWEST = 2
"""Fewest validation narratives with a value of a component, for it to be standardised."""
_EXTREME = 1e-6
"""Distance from 0 and 1 at which probabilities are limited: stored with single precision, they may be 0 or 1."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """Mean and standard deviation of a component over validation narratives."""

    mean: float
    deviation: float


def describe_incoherence(
    probabilities: Mapping[Task, Sequence[npt.NDArray[np.floating]]], order: Sequence[float | None] | None
) -> dict[str, Array]:
    """Compute the components of narratives; a larger value is less coherent, NaN is not judged.

    Parameters
    ----------
    probabilities
        Task -> probability of damage at each place of every narrative.
    order
        Log odds of the order of every narrative, None or NaN if there are none; None without a model of the order.

    Returns
    -------
    Name of the component -> its value for every narrative.
    """
    components: dict[str, Array] = {
        task: np.array([_mean_log_odds(places) for places in each]) for task, each in probabilities.items()
    }
    if order is not None:
        components[ORDER] = -np.array(order, dtype=float)
    return components


def fit_scales(components: Mapping[str, Array]) -> dict[str, Scale]:
    """Fit the scale of each component on validation narratives; without components that are few or all the same."""
    judged = {name: values[np.isfinite(values)] for name, values in components.items()}
    scales = {
        name: Scale(float(values.mean()), float(values.std(ddof=1)))
        for name, values in judged.items()
        if len(values) >= FEWEST
    }
    return {name: scale for name, scale in scales.items() if scale.deviation > 0}


def measure_incoherence(components: Mapping[str, Array], scales: Mapping[str, Scale]) -> Array:
    """Compute the incoherence of narratives: the mean of the standardised components that they have.

    NaN for narratives without any: those of one sentence.
    """
    standardised = {name: (components[name] - scale.mean) / scale.deviation for name, scale in scales.items()}
    if not standardised:
        return np.full(len(next(iter(components.values()))), np.nan)
    values = np.stack(list(standardised.values()))
    is_judged = np.isfinite(values)
    sums, counts = np.where(is_judged, values, 0.0).sum(axis=0), is_judged.sum(axis=0)
    return np.divide(sums, counts, out=np.full(values.shape[1], np.nan), where=counts > 0)


def write_scales(scales: Mapping[str, Scale], folder: Path) -> None:
    """Write the scales into the folder of the judges."""
    write_json(folder / FILE, {name: vars(scale) for name, scale in scales.items()})


def read_scales(folder: Path) -> dict[str, Scale]:
    """Read the scales of the folder of the judges."""
    return {name: Scale(**values) for name, values in read_json(folder / FILE).items()}


def _mean_log_odds(probabilities: npt.NDArray[np.floating]) -> float:
    if not len(probabilities):
        return float("nan")
    limited = np.clip(np.asarray(probabilities, dtype=float), _EXTREME, 1 - _EXTREME)
    return float(np.log(limited / (1 - limited)).mean())
