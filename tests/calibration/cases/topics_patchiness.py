"""Patchiness of topics, which short texts lack."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.options import Resampling
from macroscope.statistics.latent import compare_numbers

from ..setting import Case, Run, Setting, list_estimates

SHORT = 0.19
"""Share of texts without a pair of words in a sentence."""
MEAN = 0.1


def sample_patchiness(rng: np.random.Generator, n: int, start: int = 0, rise: float = 0.0) -> pd.DataFrame:
    """Sample the patchiness of texts, which is skewed, as that of real text is.

    Parameters
    ----------
    rise
        Rise of its mean.
    """
    patchiness = rng.gamma(1.0, MEAN, n) + rise
    patchiness[rng.random(n) < SHORT] = np.nan
    return pd.DataFrame({"id": np.arange(start, start + n), "opening": "", "patchiness": patchiness})


def simulate(rng: np.random.Generator, n: int, m: int, rise: float = 0.0) -> Run:
    """Compare the patchiness of m texts with that of n real ones."""
    resampling = Resampling(200, 199, 0.95, int(rng.integers(1 << 30)))
    table = compare_numbers(sample_patchiness(rng, n), sample_patchiness(rng, m, n, rise), resampling)
    truth = {"patchiness_mean": MEAN + rise, "patchiness_mean_difference": rise}
    if not rise:
        truth |= {f"patchiness_{name}": 0.0 for name in ("ks", "cliffs_delta", "hedges_g")}
    return list_estimates(table), truth


CASE = Case(
    "macroscope.critics.topics.latents:STATISTICS",
    (
        Setting("60 against 150 texts", partial(simulate, n=60, m=150), ("*",), runs=500),
        Setting("200 against 60 texts", partial(simulate, n=200, m=60), ("*",), runs=500),
        Setting(
            "more patchiness, 100 against 100 texts",
            partial(simulate, n=100, m=100, rise=0.06),
            power={"patchiness_mean_difference": 0.8},
            runs=500,
        ),
    ),
    {"patchiness_ks": "the distance of two samples is above 0 if that of their populations is 0"},
)
