"""Probing of clusters: accuracy and R^2 on held-out texts."""

from functools import partial

import numpy as np

from macroscope.critics.clusters.probing import SHARES, ProbedTexts, predict_from_clusters
from macroscope.options import Resampling
from macroscope.statistics.tidy import Estimate

from ..setting import Case, Run, Setting

MANY = 20_000


def sample_texts(n: int, rng: np.random.Generator) -> tuple[ProbedTexts, np.ndarray]:
    """Sample texts in five clusters, with a label and shares that partly follow them."""
    cluster = rng.integers(0, 5, n)
    label = np.where(rng.random(n) < 0.6, cluster, rng.integers(0, 5, n)).astype(str)
    shares = {name: cluster / 5 + rng.exponential(0.3, n) for name in SHARES}
    return ProbedTexts(np.zeros((n, 1)), label, shares), cluster[:, None]


def simulate(rng: np.random.Generator, n: int, m: int) -> Run:
    """Compute scores of one clustering, and their truth on a very large test set."""
    (train, of_train), (test, of_test), (many, of_many) = (
        sample_texts(n, rng),
        sample_texts(m, rng),
        sample_texts(MANY, rng),
    )
    resampling = Resampling(400, 100, 0.95, int(rng.integers(1 << 30)))
    scores = {row[1]: row[2:5] for row in predict_from_clusters(train, test, of_train, of_test, resampling)}
    truth = {row[1]: float(row[2]) for row in predict_from_clusters(train, many, of_train, of_many, Resampling(10, 10))}
    return [Estimate(name, *values) for name, values in scores.items()], truth


CASE = Case(
    "macroscope.critics.clusters.probing:STATISTICS",
    (
        Setting("200 texts, 60 to predict", partial(simulate, n=200, m=60), runs=500),
        Setting("200 texts, 300 to predict", partial(simulate, n=200, m=300), runs=500),
    ),
)
