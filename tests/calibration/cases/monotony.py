"""Monotony of systems whose texts share words to a known extent."""

from functools import partial
from statistics import NormalDist

import numpy as np

from macroscope.statistics.monotony import TextNumbers, rank_systems
from macroscope.statistics.tidy import Estimate

from ..setting import MEAN, Case, Run, Setting

REAL = 40
Z = NormalDist().inv_cdf(0.975)


def _collect(rng: np.random.Generator, texts: int, shift: float) -> TextNumbers:
    """Simulate a collection: each text has a tendency to repeat, which also makes it share more with others."""
    tendency = rng.normal(shift, 0.3, texts)
    noise = rng.normal(0, 0.1, (texts, texts))
    between = 0.02 * np.exp(tendency[:, None] + tendency[None, :] + noise + noise.T)
    within = 0.04 * np.exp(tendency + rng.normal(0, 0.3, texts))
    return TextNumbers(rng.normal(tendency, 0.1), rng.normal(0.8 - tendency, 0.2), within, between)


def simulate(rng: np.random.Generator, texts: int, shift: float) -> Run:
    """Measure a system against the same real texts in every run."""
    real = _collect(np.random.default_rng(1), REAL, 0.0)
    (measured,) = rank_systems(real.values(), [_collect(rng, texts, shift)], Z)
    return [Estimate("monotony", measured.value, measured.low, measured.high, np.nan)], {"monotony": MEAN}


CASE = Case(
    "macroscope.statistics.monotony:STATISTICS",
    (
        Setting("30 texts, as real", partial(simulate, texts=30, shift=0.0)),
        Setting("80 texts, monotonous", partial(simulate, texts=80, shift=0.5)),
    ),
)
