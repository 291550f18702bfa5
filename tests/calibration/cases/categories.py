"""Divergences of categorical distributions: one category per document, several correlated ones, and shares of them."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from scipy import sparse

from macroscope.options import Resampling
from macroscope.statistics.categorical import DivergenceOptions, compare_categories, one_hot
from macroscope.statistics.divergences import FRONTIER, divergences
from macroscope.statistics.permutation_groups import build_permutation

from ..setting import MEAN, Case, Run, Setting

OPTIONS = DivergenceOptions(permutations=199)
NAMES = tuple(divergences(FRONTIER))


def populations(categories: int, strength: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return two distributions; `strength` is the standard deviation of their log-ratio."""
    p = rng.dirichlet(np.full(categories, 1.5))
    q = p * np.exp(rng.normal(0, strength, categories))
    return p, q / q.sum()


def single(p: np.ndarray, n: int, rng: np.random.Generator) -> sparse.csr_matrix:
    """Sample documents of one category."""
    return one_hot(rng.choice(len(p), n, p=p), len(p))


def clustered(p: np.ndarray, n: int, rng: np.random.Generator) -> sparse.csr_matrix:
    """Sample documents of several categories, each document with its own favourites."""
    counts = [rng.multinomial(rng.integers(3, 11), rng.dirichlet(5 * p + 1e-9)) for _ in range(n)]
    return sparse.csr_matrix(np.array(counts, dtype=float))


def shared(p: np.ndarray, n: int, rng: np.random.Generator) -> sparse.csr_matrix:
    """Sample documents that are divided among the categories, as a text is among topics."""
    return sparse.csr_matrix(rng.dirichlet(4 * p + 1e-9, n))


def simulate(
    rng: np.random.Generator,
    categories: int,
    n: int,
    m: int,
    strength: float,
    make: Callable[[np.ndarray, int, np.random.Generator], sparse.csr_matrix] = single,
) -> Run:
    """Compare a reference of n and a candidate of m documents; all runs of a setting have the same populations."""
    p, q = populations(categories, strength, np.random.default_rng([categories, n, m, int(10 * strength)]))
    sides = [make(p, n, rng)], [make(q, m, rng)]
    return _compared(sides, p, q, rng)


def paired(rng: np.random.Generator, categories: int, n: int) -> Run:
    """Compare paired documents, whose category mostly is that of their prompt."""
    p, _ = populations(categories, 0.0, np.random.default_rng(categories))
    prompt = rng.choice(categories, n, p=p)
    sides = [
        [one_hot(np.where(rng.random(n) < 0.7, prompt, rng.choice(categories, n, p=p)), categories)] for _ in range(2)
    ]
    names = pd.DataFrame({"id": range(n)})
    permutation = build_permutation(names, names)
    estimates = compare_categories(sides[0], sides[1], OPTIONS, _resampling(rng), permutation)
    return [estimate for estimate in estimates if estimate.statistic in NAMES], {}


def _compared(
    sides: tuple[list[sparse.csr_matrix], list[sparse.csr_matrix]],
    p: np.ndarray,
    q: np.ndarray,
    rng: np.random.Generator,
) -> Run:
    estimates = compare_categories(*sides, OPTIONS, _resampling(rng))
    truth: dict[str, float | str] = {
        f"{name}_corrected": float(function(p, q)) for name, function in divergences(FRONTIER).items()
    }
    return estimates, truth | dict.fromkeys(NAMES, MEAN)


def _resampling(rng: np.random.Generator) -> Resampling:
    return Resampling(650, 199, 0.95, int(rng.integers(1 << 30)))


_SOME = "some difference"
_OF_ONE = (
    (5, 200, 0.6, _SOME, 1000),
    (5, 800, 0.6, _SOME, 4000),  # so near to the limit that a thousand runs hold or not by chance
    (20, 400, 0.5, _SOME, 1000),
    (20, 400, 1.5, "a large one", 1000),
    (50, 400, 0.6, _SOME, 1000),
)
SETTINGS = (
    Setting("20 categories, 60 against 150", partial(simulate, categories=20, n=60, m=150, strength=0.0), ("*",)),
    Setting("5 categories, 12 against 20", partial(simulate, categories=5, n=12, m=20, strength=0.0), ("*",)),
    Setting(
        "40 categories, several per document, 60 against 100",
        partial(simulate, categories=40, n=60, m=100, strength=0.0, make=clustered),
        ("*",),
    ),
    Setting(
        "10 categories, shares of a document, 60 against 150",
        partial(simulate, categories=10, n=60, m=150, strength=0.0, make=shared),
        ("*",),
    ),
    Setting("10 categories, 60 pairs", partial(paired, categories=10, n=60), ("*",)),
    *(
        Setting(
            f"{categories} categories, {n} against {n}, {what}",
            partial(simulate, categories=categories, n=n, m=n, strength=strength),
            runs=runs,
        )
        for categories, n, strength, what, runs in _OF_ONE
    ),
    Setting(
        "10 categories, shares of a document, 80 against 150, some difference",
        partial(simulate, categories=10, n=80, m=150, strength=0.5, make=shared),
    ),
    Setting(
        "40 categories, several per document, 100 against 200, some difference",
        partial(simulate, categories=40, n=100, m=200, strength=0.5, make=clustered),
    ),
)
CASE = Case(
    "macroscope.statistics.categorical:STATISTICS",
    SETTINGS,
    limits={
        ("5 categories, 800*", "*_corrected"): "with few categories an interval holds in about 94 %",
        ("50 categories*", "*"): "with eight texts per category an interval holds in about 92 %",
    },
)
