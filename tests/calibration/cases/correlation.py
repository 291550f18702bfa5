"""Correlations over few systems, with scores of normal data."""

from functools import partial

import numpy as np

from macroscope.statistics.correlation import COEFFICIENTS, correlate
from macroscope.statistics.latent import Resampling

from ..setting import Case, Drawn, Setting


def draw(rng: np.random.Generator, systems: int, correlation: float) -> Drawn:
    """Both coefficients of normal values and scores."""
    scores = rng.normal(size=systems)
    values = correlation * scores + np.sqrt(1 - correlation**2) * rng.normal(size=systems)
    rows = []
    for coefficient in COEFFICIENTS:
        found = correlate(
            values[None, None], scores, coefficient, Resampling(100, 199, 0.95, int(rng.integers(1 << 30)))
        )
        rows.append((coefficient, found.value[0], found.low[0], found.high[0], found.p_value[0]))
    return rows, {"pearson": correlation, "spearman": 6 / np.pi * np.arcsin(correlation / 2)}


CASE = Case(
    "macroscope.statistics.correlation:STATISTICS",
    (
        Setting("6 systems", partial(draw, systems=6, correlation=0.0), ("*",)),
        Setting("12 systems", partial(draw, systems=12, correlation=0.0), ("*",)),
        Setting("12 systems, correlated", partial(draw, systems=12, correlation=0.7)),
    ),
    {"*": "six systems have few orders, and the exact test is below its level"},
)
