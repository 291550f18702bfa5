"""Detection rates, corrected by the rates in real text and in known damage; worst place and incoherence."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.critics.narrative.comparison import compare, describe
from macroscope.options import Resampling

from ..setting import Case, Run, Setting, list_estimates

TASKS = {"missing": (0.05, 0.4), "discordant": (0.04, 0.7)}
"""Task -> share of marked places in real text, and of marked damaged places."""
FEWEST, MOST = 3, 30
CLUSTERING = 0.1


def sample_marks(rng: np.random.Generator, places: np.ndarray, rate: float) -> np.ndarray:
    """Sample the number of marked places of narratives, whose rates vary around `rate`."""
    scale = (1 - CLUSTERING) / CLUSTERING
    return rng.binomial(places, rng.beta(scale * rate, scale * (1 - rate), len(places))).astype(float)


def narratives(rng: np.random.Generator, n: int, start: int, damage: float, rise: float) -> pd.DataFrame:
    """Sample narratives with a share of damaged places.

    Parameters
    ----------
    rise
        Rise of the worst place's probability; six times as much of the incoherence.
    """
    table = pd.DataFrame({"id": np.arange(start, start + n), "opening": ""})
    table["incoherence"] = rng.normal(1 + 6 * rise, 1, n)
    for task, (false, true) in TASKS.items():
        places = rng.integers(FEWEST, MOST, n)
        rate = false + damage * (true - false)
        worst = rng.beta(2, 5, n) + rise
        table = table.assign(
            **{
                f"count_{task}": sample_marks(rng, places, rate),
                f"of_{task}": places.astype(float),
                f"worst_{task}": worst,
            }
        )
    return table


def known_damage(rng: np.random.Generator, n: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Sample held-out narratives with one or two damaged places each."""
    places = {task: rng.integers(1, 3, n) for task in TASKS}
    return {
        task: (sample_marks(rng, places[task], true), places[task].astype(float)) for task, (_, true) in TASKS.items()
    }


def simulate(rng: np.random.Generator, n: int, m: int, damage: float = 0.0, rise: float = 0.0) -> Run:
    """Compare a reference of n and a candidate of m narratives; 80 have known damage."""
    resampling = Resampling(200, 199, 0.95, int(rng.integers(1 << 30)))
    samples = narratives(rng, n, 0, 0.0, 0.0), narratives(rng, m, n, damage, rise)
    compared = compare(*samples, known_damage(rng, 80), resampling).rows
    table = pd.concat([compared, describe(samples[1], list(TASKS), resampling)], ignore_index=True)
    mean = 2 / 7 + rise
    truth = {f"{task}_corrected": damage for task in TASKS}
    truth |= {f"worst_{task}_mean": mean for task in TASKS}
    truth |= {f"worst_{task}_mean_difference": rise for task in TASKS}
    truth |= {"incoherence_mean": 1 + 6 * rise, "incoherence_mean_difference": 6 * rise}
    if not rise:
        numbers = ["incoherence", *(f"worst_{task}" for task in TASKS)]
        truth |= {f"{number}_{name}": 0.0 for number in numbers for name in ("ks", "cliffs_delta", "hedges_g")}
    return list_estimates(table), truth


CASE = Case(
    "macroscope.critics.narrative.comparison:STATISTICS",
    (
        Setting("60 against 150", partial(simulate, n=60, m=150), ("*",), runs=500),
        Setting("200 against 40", partial(simulate, n=200, m=40), ("*",), runs=500),
        Setting(
            "a fifth of the places damaged, 200 against 60",
            partial(simulate, n=200, m=60, damage=0.2, rise=0.15),
            power={f"{name}_mean_difference": 0.8 for name in ("worst_*", "incoherence")},
            runs=500,
        ),
    ),
    {
        "*_corrected": "the intervals of three rates are combined, each wide enough for few marked places",
        "incoherence_ks": "the distance of two samples is above 0 if that of their populations is 0",
        "worst_*_ks": "the distance of two samples is above 0 if that of their populations is 0",
    },
)
