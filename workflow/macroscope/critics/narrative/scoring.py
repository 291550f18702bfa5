"""Scores: how far what the detectors see in a narrative is from what they see in real text.

z says of every place whether something is wrong there. The detectors give its posterior, a probability for each place;
the prior is the share that they expect in whole validation narratives, one number for each task. Then T(x) is the cross
entropy of the two, added up over places, as for every critic: T(x) = -sum_k [p_k log e + (1 - p_k) log (1 - e)].
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import entr, xlogy

from macroscope.critics.latents import write_scores
from macroscope.critics.narrative.latents import read_latents
from macroscope.critics.narrative.operating_point import OperatingPoint, read_operating_points
from macroscope.statistics.declaration import Statistic

STATISTICS = (
    Statistic("too_short_share", "share of the system's texts", "the same share", difference=False),
    Statistic("cut_sentence_share", "share of the system's sentences", "the same share", difference=False),
)
"""Of what was looked at: these shares say nothing of how sentences follow from each other."""
LEAST = 1e-6
"""Smallest expected probability: a detector that never sees anything in real text expects no less."""


def score(latents: Path, inference: Path, *, output: Path) -> None:
    """Score latents.

    Writes id, opening, and, NaN for a narrative of one sentence:
    nll, units, entropy, kl
        T(x) in nats; its places, slots and sentences; the entropy of the posterior and its divergence from the prior.
    nll_<task>, units_<task>
        T(x) and places of one task alone.
    count_<name>, of_<name>
        Of the slots those with a probability from the threshold on (missing), of the sentences likewise (discordant);
        of the sentences those that were cut (cut_sentence); of all narratives those of one sentence (too_short).
    categories
        Each place with the class that its probability is in, from 0 (least) to 9: "missing 3".
    """
    points = read_operating_points(inference)
    write_scores((_scored(table, points) for table in read_latents(latents)), output, latents)


def _scored(latents: pd.DataFrame, points: dict[str, OperatingPoint]) -> pd.DataFrame:
    found: dict[str, Any] = {"id": latents["id"], "opening": latents["opening"]}
    read = latents["sentences"].to_numpy() > 1
    of_tasks = {task: [np.asarray(some, dtype=float) for some in latents[task]] for task in points}
    costs = {task: _sums(of_tasks[task], _cost(point.expected)) for task, point in points.items()}
    units = {task: np.array([len(some) for some in of_tasks[task]], dtype=float) for task in points}
    entropies = sum(_sums(of_tasks[task], lambda p: entr(p) + entr(1 - p)) for task in points)
    total = sum(costs.values())
    found |= {"nll": _where(read, total), "units": _where(read, sum(units.values()))}
    found |= {"entropy": _where(read, entropies), "kl": _where(read, total - entropies)}
    for task, point in points.items():
        found |= {f"nll_{task}": _where(read, costs[task]), f"units_{task}": _where(read, units[task])}
        marked = _sums(of_tasks[task], lambda p, least=point.threshold: p >= least)
        found |= {f"count_{task}": _where(read, marked), f"of_{task}": _where(read, units[task])}
    sentences = latents["sentences"].to_numpy(float)
    some = sentences > 0
    found |= {
        "count_cut_sentence": _where(some, latents["cut"].to_numpy(float)),
        "of_cut_sentence": _where(some, sentences),
    }
    found |= {"count_too_short": (~read).astype(float), "of_too_short": np.ones(len(latents))}
    classes = {
        task: [np.searchsorted(point.edges, p, side="right") for p in of_tasks[task]] for task, point in points.items()
    }
    found["categories"] = [
        [f"{task} {number}" for task in points for number in classes[task][row]] if known else None
        for row, known in enumerate(read)
    ]
    return pd.DataFrame(found)


def _cost(expected: float) -> Any:
    expected = min(max(expected, LEAST), 1 - LEAST)
    return lambda p: -(xlogy(p, expected) + xlogy(1 - p, 1 - expected))


def _sums(probabilities: list[np.ndarray], function: Any) -> np.ndarray:
    return np.array([np.sum(function(some)) for some in probabilities], dtype=float)


def _where(known: np.ndarray, values: Any) -> np.ndarray:
    return np.where(known, values, np.nan)
