"""Correlations over few systems, with scores of normal data."""

from functools import partial

import numpy as np

from macroscope.options import Resampling
from macroscope.statistics.correlation import COEFFICIENTS, correlate
from macroscope.statistics.tidy import Estimate

from ..setting import Case, Run, Setting


def simulate(rng: np.random.Generator, systems: int, correlation: float) -> Run:
    """Compute both coefficients of normal values and scores."""
    scores = rng.normal(size=systems)
    values = correlation * scores + np.sqrt(1 - correlation**2) * rng.normal(size=systems)
    estimates = []
    for coefficient in COEFFICIENTS:
        correlations = correlate(
            values[None, None], scores, coefficient, Resampling(100, 199, 0.95, int(rng.integers(1 << 30)))
        )
        numbers = (correlations.value, correlations.low, correlations.high, correlations.p_value)
        estimates.append(Estimate(coefficient, *(values[0] for values in numbers)))
    return estimates, {"pearson": correlation, "spearman": 6 / np.pi * np.arcsin(correlation / 2)}


CASE = Case(
    "macroscope.statistics.correlation:STATISTICS",
    (
        Setting("6 systems", partial(simulate, systems=6, correlation=0.0), ("*",)),
        Setting("12 systems", partial(simulate, systems=12, correlation=0.0), ("*",)),
        Setting("12 systems, correlated", partial(simulate, systems=12, correlation=0.7)),
    ),
    {"*": "six systems have few orders, and the exact test is conservative"},
)
