"""Two-sample statistics of vectors, normal in a few dimensions."""

from functools import cache, partial

import numpy as np
from scipy.spatial.distance import cdist

from macroscope.resampling import Resampling
from macroscope.statistics.vectors import compare_vectors

from ..setting import MEAN, Case, Run, Setting

DIMENSIONS, NEIGHBOURS, MANY = 4, 3, 4000


def simulate(rng: np.random.Generator, n: int, m: int, shift: float) -> Run:
    """Compare normal vectors; those of the candidate are shifted along one axis."""
    reference, candidate = rng.normal(size=(n, DIMENSIONS)), rng.normal(size=(m, DIMENSIONS))
    candidate[:, 0] += shift
    estimates = compare_vectors(
        reference, candidate, NEIGHBOURS, 199, Resampling(100, 199, 0.95, int(rng.integers(1 << 30)))
    )
    populations = np.random.default_rng([1, int(10 * shift)]).normal(size=(2, MANY // 2, DIMENSIONS))
    populations[1, :, 0] += shift
    truth = {
        "mmd_squared": MEAN,
        "energy_distance": _energy(shift),
        "precision": _within(reference, populations[1]),
        "recall": _within(candidate, populations[0]),
    }
    return estimates, truth


@cache
def _energy(shift: float) -> float:
    """Compute the energy distance of the populations, from many vectors."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(MANY, DIMENSIONS)), rng.normal(size=(MANY, DIMENSIONS))
    y[:, 0] += shift
    within = [cdist(sample, sample).sum() / (MANY * (MANY - 1)) for sample in (x, y)]
    return 0.0 if shift == 0 else float(2 * cdist(x, y).mean() - sum(within))


def _within(vectors: np.ndarray, population: np.ndarray) -> float:
    """Compute the share of the other population within reach of these vectors."""
    reach = np.sort(cdist(vectors, vectors), axis=1)[:, NEIGHBOURS]
    return float((cdist(population, vectors) <= reach).any(axis=1).mean())


CASE = Case(
    "macroscope.statistics.vectors:STATISTICS",
    (
        Setting("40 against 80", partial(simulate, n=40, m=80, shift=0.0), ("*",), runs=1000),
        Setting("40 against 60, shifted", partial(simulate, n=40, m=60, shift=1.0), runs=500),
    ),
    {"*": "few shares are possible, and the test of a share is conservative"},
)
