"""Columns of numbers: means, distances and effect sizes of normal, skewed and discrete values."""

from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from macroscope.options import Resampling
from macroscope.statistics.columns import compare_numbers
from macroscope.statistics.permutation_groups import build_permutation

from ..setting import Case, Run, Setting

EVERY = ("*",)
_PLACES = np.linspace(-12, 12, 24_001)


def resampling(rng: np.random.Generator) -> Resampling:
    """Return settings with few resamples, and a seed of the run."""
    return Resampling(200, 199, 0.95, int(rng.integers(1 << 30)))


def normal(rng: np.random.Generator, n: int, m: int, shift: float = 0.0, scale: float = 1.0) -> Run:
    """Compare a standard normal reference of n values with a shifted and scaled candidate of m."""
    estimates = compare_numbers(rng.normal(0, 1, n), rng.normal(shift, scale, m), resampling(rng))
    gap = stats.norm.cdf(_PLACES, shift, scale) - stats.norm.cdf(_PLACES)
    pooled = np.sqrt(((n - 1) + (m - 1) * scale**2) / (n + m - 2))
    truth = {
        "mean": shift,
        "mean_difference": shift,
        "ks": float(np.abs(gap).max()) if (shift, scale) != (0, 1) else 0.0,
        "cliffs_delta": 2 * stats.norm.cdf(shift / np.hypot(1, scale)) - 1,
        "hedges_g": shift / pooled,
    }
    return estimates, truth


def skewed(rng: np.random.Generator, n: int, m: int, factor: float = 1.0) -> Run:
    """Compare exponential values; those of the candidate are `factor` times as large."""
    estimates = compare_numbers(rng.exponential(1, n), rng.exponential(factor, m), resampling(rng))
    places = np.linspace(0, 60, 60_001)
    gap = np.exp(-places) - np.exp(-places / factor)
    truth = {
        "mean": factor,
        "mean_difference": factor - 1,
        "ks": float(np.abs(gap).max()) if factor != 1 else 0.0,
        "cliffs_delta": (factor - 1) / (factor + 1),
        "hedges_g": (factor - 1) / np.sqrt(((n - 1) + (m - 1) * factor**2) / (n + m - 2)),
    }
    return estimates, truth


def ties(rng: np.random.Generator, n: int, m: int) -> Run:
    """Compare small counts, most of them equal."""
    estimates = compare_numbers(rng.poisson(1.5, n).astype(float), rng.poisson(1.5, m).astype(float), resampling(rng))
    truth = {"mean": 1.5, "mean_difference": 0.0, "ks": 0.0, "cliffs_delta": 0.0, "hedges_g": 0.0}
    return estimates, truth


def pairs(rng: np.random.Generator, n: int) -> Run:
    """Compare paired values, which share the value of a prompt."""
    prompt = rng.normal(0, 2, n)
    names = pd.DataFrame({"id": range(n)})
    permutation = build_permutation(names, names)
    estimates = compare_numbers(
        prompt + rng.normal(0, 1, n), prompt + rng.normal(0, 1, n), resampling(rng), permutation
    )
    return estimates, {"mean": 0.0, "mean_difference": 0.0}


SETTINGS = (
    Setting("normal, 60 against 150", partial(normal, n=60, m=150), EVERY),
    Setting("normal, 8 against 10", partial(normal, n=8, m=10), EVERY),
    Setting("normal, 200 against 60 of another spread", partial(normal, n=200, m=60, scale=3.0), ("*mean_difference",)),
    Setting("normal, 60 against 100, half a standard deviation apart", partial(normal, n=60, m=100, shift=0.5)),
    Setting("normal, 3 against 5, three standard deviations apart", partial(normal, n=3, m=5, shift=3.0)),
    Setting("normal, 100 against 100, of another spread", partial(normal, n=100, m=100, scale=1.7)),
    Setting("exponential, 60 against 150", partial(skewed, n=60, m=150), EVERY),
    Setting("exponential, 80 against 60, twice as large", partial(skewed, n=80, m=60, factor=2.0)),
    Setting("counts with ties, 30 against 50", partial(ties, n=30, m=50), EVERY),
    Setting("40 pairs", partial(pairs, n=40), EVERY),
)
CONSERVATIVE = {"*ks": "with ties and few values few distances are possible, and the exact test is conservative"}
CASE = Case("macroscope.statistics.columns:NUMBERS", SETTINGS, CONSERVATIVE)
