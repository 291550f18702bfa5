"""Covariances of vectors: normal and heavy-tailed ones, pairs, and lost correlations."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.options import Resampling
from macroscope.statistics.covariance import NAME, covariance_discrepancy
from macroscope.statistics.permutation_groups import build_permutation

from ..setting import Case, Run, Setting

CORRELATION = 0.5
"""Correlation of any two dimensions."""
FREEDOM = 7
"""Degrees of freedom of the heavy tails."""


def vectors(n: int, dimensions: int, correlation: float, heavy: bool, rng: np.random.Generator) -> np.ndarray:
    """Sample vectors of variance 1 in each dimension; with heavy tails, each vector has a random scale."""
    covariance = correlation + (1 - correlation) * np.eye(dimensions)
    normal = rng.normal(size=(n, dimensions)) @ np.linalg.cholesky(covariance).T
    return normal * np.sqrt((FREEDOM - 2) / rng.chisquare(FREEDOM, (n, 1))) if heavy else normal


def simulate(
    rng: np.random.Generator, n: int, m: int, dimensions: int, correlation: float = CORRELATION, heavy: bool = False
) -> Run:
    """Compare a reference of n vectors with a candidate of m vectors around another mean."""
    reference = vectors(n, dimensions, CORRELATION, heavy, rng)
    candidate = vectors(m, dimensions, correlation, heavy, rng) + 2.0
    estimate = covariance_discrepancy(reference, candidate, 199, _resampling(rng))
    return [estimate], {NAME: _truth(correlation, dimensions)}


def paired(
    rng: np.random.Generator, prompts: int, dimensions: int, texts: int = 1, correlation: float = CORRELATION
) -> Run:
    """Compare vectors of two systems on the same prompts, most of each of which is that of its prompt."""
    names = pd.DataFrame({"id": np.repeat(np.arange(prompts), texts)})
    state = int(rng.integers(1 << 30))
    samples = []
    for of_sample in (CORRELATION, correlation):
        prompt = vectors(prompts, dimensions, of_sample, False, np.random.default_rng(state))
        of_text = vectors(prompts * texts, dimensions, of_sample, False, rng)
        samples.append(0.8 * np.repeat(prompt, texts, axis=0) + 0.6 * of_text)
    permutation = build_permutation(names, names)
    estimate = covariance_discrepancy(samples[0], samples[1] + 2.0, 199, _resampling(rng), permutation)
    return [estimate], {NAME: _truth(correlation, dimensions)}


def _truth(correlation: float, dimensions: int) -> float:
    return (CORRELATION - correlation) ** 2 * (dimensions - 1) / dimensions


def _resampling(rng: np.random.Generator) -> Resampling:
    return Resampling(100, 199, 0.95, int(rng.integers(1 << 30)))


CASE = Case(
    "macroscope.statistics.covariance:STATISTICS",
    (
        Setting("9 dimensions, 60 against 150", partial(simulate, n=60, m=150, dimensions=9), ("*",)),
        Setting("9 dimensions, 12 against 12", partial(simulate, n=12, m=12, dimensions=9), ("*",)),
        Setting("60 dimensions, 40 against 120", partial(simulate, n=40, m=120, dimensions=60), ("*",), runs=400),
        Setting(
            "9 dimensions, 60 against 150, heavy tails",
            partial(simulate, n=60, m=150, dimensions=9, heavy=True),
            ("*",),
        ),
        Setting("9 dimensions, 60 pairs", partial(paired, prompts=60, dimensions=9), ("*",)),
        Setting(
            "9 dimensions, 60 pairs, without correlations", partial(paired, prompts=60, dimensions=9, correlation=0.0)
        ),
        Setting(
            "9 dimensions, 100 prompts with two texts each", partial(paired, prompts=100, dimensions=9, texts=2), ("*",)
        ),
        Setting(
            "9 dimensions, 150 against 100 without correlations",
            partial(simulate, n=150, m=100, dimensions=9, correlation=0.0),
            power={"*": 0.99},
        ),
        Setting(
            "19 dimensions, 300 against 300 with weaker correlations",
            partial(simulate, n=300, m=300, dimensions=19, correlation=0.3),
            runs=400,
        ),
    ),
    {"*": "vectors are permuted around the means of the samples, which makes the test slightly conservative"},
    {("9 dimensions, 60 pairs, without correlations", "*"): "a large difference between 60 pairs; the docs say 92 %"},
)
