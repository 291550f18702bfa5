"""Latent NLL of clusters under real text's distribution, and shares of texts."""

from functools import partial

import numpy as np

from macroscope.critics.clusters.options import ClustersOptions
from macroscope.critics.clusters.scoring import latent_nll_rows, score
from macroscope.options import Resampling
from macroscope.statistics.permutation_groups import Permutation
from macroscope.statistics.tidy import shares_table

from ..setting import Case, Run, Setting, list_estimates

OPTIONS = ClustersOptions(permutations=199)


def simulate(rng: np.random.Generator, clusters: int, n: int, m: int, strength: float, evenness: float = 2.0) -> Run:
    """Compare clusters of texts under two seeds that mostly agree; with larger evenness, sizes are more equal."""
    fixed = np.random.default_rng([clusters, int(10 * strength)])
    p = fixed.dirichlet(np.full(clusters, evenness))
    q = p * np.exp(fixed.normal(0, strength, clusters))
    q /= q.sum()
    labels = []
    for size, shares in ((n, p), (m, q)):
        labels_first = rng.choice(clusters, size, p=shares)
        labels_second = np.where(rng.random(size) < 0.8, labels_first, rng.choice(clusters, size, p=shares))
        labels.append(np.column_stack([labels_first, labels_second]))
    samples = (labels[0], labels[1])
    resampling = Resampling(200, 199, 0.95, int(rng.integers(1 << 30)))
    scores = score(*samples, clusters, OPTIONS.smoothing)
    estimates = latent_nll_rows(samples, clusters, scores, OPTIONS, resampling, Permutation((n, m)))
    logs = np.log(
        (np.stack([np.bincount(labels[0][:, s], minlength=clusters) for s in range(2)]) + OPTIONS.smoothing)
        / (n + OPTIONS.smoothing * clusters)
    ).mean(axis=0)
    candidate_nll, reference_nll = float(-(q @ logs)), float(-(p @ logs))
    truth = {
        "latent_nll": candidate_nll,
        "latent_ppl": float(np.exp(candidate_nll)),
        "reference_latent_ppl": float(np.exp(reference_nll)),
        "latent_nll_difference": candidate_nll - reference_nll,
        "latent_ppl_ratio": float(np.exp(candidate_nll - reference_nll)),
        "some_share": 0.1,
    }
    shares = shares_table({"some_share": int(rng.binomial(m, 0.1))}, m, 0.95)
    return [*estimates, *list_estimates(shares)], truth


CASE = Case(
    "macroscope.critics.clusters.comparison:STATISTICS",
    (
        Setting("8 clusters, 60 against 150", partial(simulate, clusters=8, n=60, m=150, strength=0.0), ("*",)),
        Setting("8 clusters, 150 against 60", partial(simulate, clusters=8, n=150, m=60, strength=0.0), ("*",)),
        Setting(
            "8 clusters, 100 against 100, some difference", partial(simulate, clusters=8, n=100, m=100, strength=0.7)
        ),
        # All T(x) are nearly equal, so the variance is mostly that of the prior, which is counted on the same texts.
        Setting(
            "10 clusters of about one size, 100 against 100",
            partial(simulate, clusters=10, n=100, m=100, strength=0.0, evenness=1000.0),
            ("*",),
        ),
    ),
)
