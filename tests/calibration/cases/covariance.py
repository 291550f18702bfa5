"""Covariances of vectors: normal ones and such of heavy tails, pairs, and correlations that are lost."""

from functools import partial

import numpy as np
import pandas as pd

from macroscope.statistics.covariance import NAME, covariance_discrepancy
from macroscope.statistics.latent import Resampling
from macroscope.statistics.permutation_groups import permutation_of

from ..setting import Case, Drawn, Setting

TOGETHER = 0.5
"""Correlation of any two dimensions."""
FREEDOM = 7
"""Degrees of freedom of the heavy tails."""


def vectors(n: int, dimensions: int, together: float, heavy: bool, rng: np.random.Generator) -> np.ndarray:
    """Vectors of variance 1 in each dimension; of heavy tails, all of a vector's dimensions are large at once."""
    covariance = together + (1 - together) * np.eye(dimensions)
    found = rng.normal(size=(n, dimensions)) @ np.linalg.cholesky(covariance).T
    return found * np.sqrt((FREEDOM - 2) / rng.chisquare(FREEDOM, (n, 1))) if heavy else found


def draw(
    rng: np.random.Generator, n: int, m: int, dimensions: int, together: float = TOGETHER, heavy: bool = False
) -> Drawn:
    """Reference of n vectors, candidate of m around another mean."""
    reference = vectors(n, dimensions, TOGETHER, heavy, rng)
    candidate = vectors(m, dimensions, together, heavy, rng) + 2.0
    row = covariance_discrepancy(reference, candidate, 199, _resampling(rng))
    return [row], {NAME: (TOGETHER - together) ** 2 * (dimensions - 1) / dimensions}


def paired(rng: np.random.Generator, n: int, dimensions: int) -> Drawn:
    """Vectors that mostly are their prompt's."""
    prompt = vectors(n, dimensions, TOGETHER, False, rng)
    sides = [0.8 * prompt + 0.6 * vectors(n, dimensions, TOGETHER, False, rng) for _ in range(2)]
    names = pd.DataFrame({"id": range(n)})
    row = covariance_discrepancy(sides[0], sides[1], 199, _resampling(rng), permutation_of(names, names))
    return [row], {}


def _resampling(rng: np.random.Generator) -> Resampling:
    return Resampling(100, 199, 0.95, int(rng.integers(1 << 30)))


CASE = Case(
    "macroscope.statistics.covariance:STATISTICS",
    (
        Setting("9 dimensions, 60 against 150", partial(draw, n=60, m=150, dimensions=9), ("*",)),
        Setting("9 dimensions, 12 against 12", partial(draw, n=12, m=12, dimensions=9), ("*",)),
        Setting("60 dimensions, 40 against 120", partial(draw, n=40, m=120, dimensions=60), ("*",), runs=400),
        Setting(
            "9 dimensions, 60 against 150, heavy tails", partial(draw, n=60, m=150, dimensions=9, heavy=True), ("*",)
        ),
        Setting("9 dimensions, 60 pairs", partial(paired, n=60, dimensions=9), ("*",)),
        Setting(
            "9 dimensions, 150 against 100 without correlations",
            partial(draw, n=150, m=100, dimensions=9, together=0.0),
            power={"*": 0.99},
        ),
        Setting(
            "19 dimensions, 300 against 300 that go together less",
            partial(draw, n=300, m=300, dimensions=19, together=0.3),
            runs=400,
        ),
    ),
    {"*": "vectors are exchanged around means that the samples gave, which takes some of the test's level"},
)
