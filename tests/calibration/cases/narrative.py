"""Rates of detection, corrected by what is found in real text and in known damage; the worst place of a narrative."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.critics.narrative.comparison import compare
from macroscope.statistics.latent import Resampling

from ..setting import Case, Drawn, Setting

TASKS = {"missing": (0.05, 0.4), "discordant": (0.04, 0.7)}
"""Task -> share of the places of real text, and of damaged places, at which something is found."""
FEWEST, MOST = 3, 30
CLUSTERING = 0.1


def found(rng: np.random.Generator, places: np.ndarray, rate: float) -> np.ndarray:
    """Number of finds in narratives, some of which have more of them than others; of that share on average."""
    scale = (1 - CLUSTERING) / CLUSTERING
    return rng.binomial(places, rng.beta(scale * rate, scale * (1 - rate), len(places))).astype(float)


def narratives(rng: np.random.Generator, n: int, start: int, damage: float, rise: float) -> pd.DataFrame:
    """Narratives a share of whose places is damaged; their worst place has a probability that rises with that."""
    table = pd.DataFrame({"id": np.arange(start, start + n), "opening": ""})
    for task, (false, true) in TASKS.items():
        places = rng.integers(FEWEST, MOST, n)
        rate = false + damage * (true - false)
        worst = rng.beta(2, 5, n) + rise
        table = table.assign(
            **{f"count_{task}": found(rng, places, rate), f"of_{task}": places.astype(float), f"worst_{task}": worst}
        )
    return table


def known_damage(rng: np.random.Generator, n: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Held-out narratives with one or two damaged places each."""
    places = {task: rng.integers(1, 3, n) for task in TASKS}
    return {task: (found(rng, places[task], true), places[task].astype(float)) for task, (_, true) in TASKS.items()}


def draw(rng: np.random.Generator, n: int, m: int, damage: float = 0.0, rise: float = 0.0) -> Drawn:
    """Reference of n, candidate of m narratives; 80 with known damage."""
    resampling = Resampling(200, 199, 0.95, int(rng.integers(1 << 30)))
    sides = narratives(rng, n, 0, 0.0, 0.0), narratives(rng, m, n, damage, rise)
    table = compare(*sides, known_damage(rng, 80), resampling).rows
    rows = list(table[["statistic", "value", "ci_low", "ci_high", "p_value"]].itertuples(index=False, name=None))
    mean = 2 / 7 + rise
    truth = {f"{task}_corrected": damage for task in TASKS}
    truth |= {f"worst_{task}_mean": mean for task in TASKS}
    truth |= {f"worst_{task}_mean_difference": rise for task in TASKS}
    if not rise:
        truth |= {f"worst_{task}_{name}": 0.0 for task in TASKS for name in ("ks", "cliffs_delta", "hedges_g")}
    return rows, truth


CASE = Case(
    "macroscope.critics.narrative.comparison:STATISTICS",
    (
        Setting("60 against 150", partial(draw, n=60, m=150), ("*",), runs=500),
        Setting("200 against 40", partial(draw, n=200, m=40), ("*",), runs=500),
        Setting(
            "a fifth of the places damaged, 200 against 60",
            partial(draw, n=200, m=60, damage=0.2, rise=0.15),
            power={"worst_*_mean_difference": 0.8},
            runs=500,
        ),
    ),
    {
        "*_corrected": "the intervals of three rates are put together, each wide enough for few finds",
        "worst_*_ks": "the distance of two samples is above 0 where that of their populations is 0",
    },
)
