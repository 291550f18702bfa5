"""Incoherence of a narrative: one number of its order and of its sentences that are missing or out of place.

The components are the log odds that the sentences do not stand in their author's order, and for each task the log odds
that a place is damaged: their mean, and the logarithm of the mean odds, which is about the worst places. Each is
standardised by whole validation narratives, from which neither the detectors nor the order were fitted.

A narrative is as incoherent as its most incoherent component: the incoherence is their smooth maximum. In a mean, one
that is more coherent than in real text would outweigh the others. Two texts in one have neighbours that are clearly
about the same matter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from macroscope.critics.narrative.latents import ORDER
from macroscope.critics.narrative.options import Task
from macroscope.files import read_json, write_json

FILE = "incoherence.json"
"""File of the scales in the folder of the judges."""
FEWEST = 2
"""Fewest validation narratives with a value of a component, for it to be standardised."""
WORST = "worst_"
"""Prefix of the component about the worst places."""
_EXTREME = 1e-4
"""Distance from 0 and 1 at which probabilities are limited: a detector is never surer than that."""

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
    components: dict[str, Array] = {}
    for task, each in probabilities.items():
        odds = [_log_odds(places) for places in each]
        components[task] = np.array([values.mean() if len(values) else np.nan for values in odds])
        components[f"{WORST}{task}"] = np.array(
            [logsumexp(values) - np.log(len(values)) if len(values) else np.nan for values in odds]
        )
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
    """Compute the incoherence of narratives, in standard deviations of real text.

    It is the smooth maximum of the standardised components that a narrative has: the logarithm of the mean of their
    exponentials. NaN for narratives without any: those of one sentence.
    """
    standardised = {name: (components[name] - scale.mean) / scale.deviation for name, scale in scales.items()}
    if not standardised:
        return np.full(len(next(iter(components.values()))), np.nan)
    values = np.stack(list(standardised.values()))
    counts = np.isfinite(values).sum(axis=0)
    largest: Array = logsumexp(np.where(np.isfinite(values), values, -np.inf), axis=0)
    return np.subtract(largest, np.log(np.maximum(counts, 1)), out=np.full(len(counts), np.nan), where=counts > 0)


def write_scales(scales: Mapping[str, Scale], folder: Path) -> None:
    write_json(folder / FILE, {name: vars(scale) for name, scale in scales.items()})


def read_scales(folder: Path) -> dict[str, Scale]:
    return {name: Scale(**values) for name, values in read_json(folder / FILE).items()}


def _log_odds(probabilities: npt.NDArray[np.floating]) -> Array:
    limited = np.clip(np.asarray(probabilities, dtype=float), _EXTREME, 1 - _EXTREME)
    odds: Array = np.log(limited / (1 - limited))
    return odds
