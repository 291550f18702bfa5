"""What clusters tell of texts: accuracy and R^2 on texts that nobody clustered."""

from functools import partial

import numpy as np

from macroscope.critics.clusters.probing import SHARES, Probed, predictions
from macroscope.statistics.latent import Resampling

from ..setting import Case, Drawn, Setting

MANY = 20_000


def probed(n: int, rng: np.random.Generator) -> tuple[Probed, np.ndarray]:
    """Texts in five clusters, with a label and shares that partly follow them."""
    cluster = rng.integers(0, 5, n)
    label = np.where(rng.random(n) < 0.6, cluster, rng.integers(0, 5, n)).astype(str)
    shares = {name: cluster / 5 + rng.exponential(0.3, n) for name in SHARES}
    return Probed(np.zeros((n, 1)), label, shares), cluster[:, None]


def draw(rng: np.random.Generator, n: int, m: int) -> Drawn:
    """Numbers of one clustering, and what they would be on endlessly many test texts."""
    (train, of_train), (test, of_test), (many, of_many) = probed(n, rng), probed(m, rng), probed(MANY, rng)
    resampling = Resampling(400, 100, 0.95, int(rng.integers(1 << 30)))
    found = {row[1]: row[2:5] for row in predictions(train, test, of_train, of_test, resampling)}
    truth = {row[1]: float(row[2]) for row in predictions(train, many, of_train, of_many, Resampling(10, 10))}
    return [(name, *values, np.nan) for name, values in found.items()], truth


CASE = Case(
    "macroscope.critics.clusters.probing:STATISTICS",
    (
        Setting("200 texts, 60 to predict", partial(draw, n=200, m=60), runs=500),
        Setting("200 texts, 300 to predict", partial(draw, n=200, m=300), runs=500),
    ),
)
