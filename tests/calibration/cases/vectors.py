"""Two-sample statistics of vectors, normal in a few dimensions."""

from functools import cache, partial

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from macroscope.options import Resampling
from macroscope.statistics.permutation_groups import Permutation, build_permutation
from macroscope.statistics.vectors import compare_vectors

from ..setting import MEAN, Case, Run, Setting

DIMENSIONS, NEIGHBOURS, MANY = 4, 3, 4000


def simulate(rng: np.random.Generator, n: int, m: int, shift: float) -> Run:
    """Compare normal vectors; those of the candidate are shifted along one axis."""
    return _compare(rng.normal(size=(n, DIMENSIONS)), rng.normal(size=(m, DIMENSIONS)), shift, rng)


def paired(rng: np.random.Generator, prompts: int, texts: int, shift: float) -> Run:
    """Compare vectors of two systems on the same prompts, most of each of which is that of its prompt."""
    of_prompts = np.repeat(rng.normal(size=(prompts, DIMENSIONS)), texts, axis=0)
    reference, candidate = (0.8 * of_prompts + 0.6 * rng.normal(size=of_prompts.shape) for _ in range(2))
    names = pd.DataFrame({"id": np.repeat(np.arange(prompts), texts)})
    return _compare(reference, candidate, shift, rng, build_permutation(names, names))


def _compare(
    reference: np.ndarray,
    candidate: np.ndarray,
    shift: float,
    rng: np.random.Generator,
    permutation: Permutation | None = None,
) -> Run:
    candidate[:, 0] += shift
    resampling = Resampling(100, 199, 0.95, int(rng.integers(1 << 30)))
    estimates = compare_vectors(reference, candidate, NEIGHBOURS, 199, resampling, permutation)
    populations = np.random.default_rng([1, int(10 * shift)]).normal(size=(2, MANY // 2, DIMENSIONS))
    populations[1, :, 0] += shift
    truth: dict[str, float | str] = {
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
        Setting("60 pairs", partial(paired, prompts=60, texts=1, shift=0.0), ("*",), runs=500),
        Setting("60 pairs, shifted", partial(paired, prompts=60, texts=1, shift=1.0), runs=500),
        Setting("40 prompts with three texts each", partial(paired, prompts=40, texts=3, shift=0.0), ("*",), runs=500),
    ),
    {"*": "few shares are possible, and the test of a share is conservative"},
    {
        (
            "60 pairs, shifted",
            name,
        ): "an interval given the other sample's vectors, which pairs vary with; the docs say 90 %"
        for name in ("precision", "recall")
    },
)
