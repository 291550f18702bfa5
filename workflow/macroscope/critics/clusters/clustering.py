"""Clusterings of embeddings: principal components, then k-means under several seeds (pimentel2022 §5)."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.decomposition import PCA

from macroscope.critics.clusters.blocks import Vectors, blocks, by_blocks
from macroscope.critics.clusters.options import ClustersOptions
from macroscope.files import atomic

log = logging.getLogger("macroscope")

ROUND_NUMBERS = (2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500)
"""Numbers of clusters that are taken by themselves: few, so that systems of about as many texts have the same."""
TEXTS_PER_CLUSTER = 10
ITERATIONS = 500
MOST_FITTED, FITTED_PER_CLUSTER = 200_000, 400
"""Vectors, and vectors a cluster, that a clustering is learnt on; of more, a random part of them.

What is learnt on n vectors a cluster is about one n-th worse for others than what is learnt on those."""
_MOST_SEEDING, _FEWEST_SEEDING = 8, 1000
"""Vectors a cluster, and vectors at least, among which k-means++ looks for its centres."""
Labels = NDArray[np.int32]


@dataclass(frozen=True)
class Clustering:
    """A projection and centroids under several seeds.

    Attributes
    ----------
    mean
        Of the embeddings: dimensions.
    components
        Kept x dimensions.
    centroids
        Seeds x clusters x kept.
    learnt_on
        Number of embeddings that it was learnt on; of very many, a part.
    """

    mean: Vectors
    components: Vectors
    centroids: NDArray[np.float32]
    learnt_on: int

    @property
    def clusters(self) -> int:
        """K."""
        return self.centroids.shape[1]

    def assign(self, vectors: Vectors) -> Labels:
        """Nearest centroid of each vector under each seed: vectors x seeds."""
        labels = np.empty((len(vectors), len(self.centroids)), np.int32)
        for some in blocks(len(vectors)):
            projected = self.project(vectors[some])
            labels[some] = np.stack([_nearest(projected, centroids) for centroids in self.centroids], axis=1)
        return labels

    def project(self, vectors: Vectors) -> Vectors:
        """Principal components of vectors: vectors x kept."""
        return np.asarray((vectors - self.mean) @ self.components.T, dtype=np.float32)

    def save(self, folder: Path) -> None:
        """Write the clustering into a folder."""
        with atomic(folder) as temporary:
            temporary.mkdir()
            np.savez(temporary / "clustering.npz", **vars(self))

    @classmethod
    def load(cls, folder: Path) -> "Clustering":
        """Read what `save` wrote."""
        with np.load(folder / "clustering.npz", allow_pickle=False) as arrays:
            return cls(arrays["mean"], arrays["components"], arrays["centroids"], int(arrays["learnt_on"]))


def prepared(vectors: Vectors, options: ClustersOptions) -> Vectors:
    """Embeddings as they are clustered: of length 1 if so asked; a vector of zeros stays one."""
    return by_blocks(_normalised, vectors) if options.normalise else vectors


def _normalised(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def number_of_clusters(asked: int | None, sides: tuple[int, int], different: int) -> int:
    """K for two sides of so many texts with so many different embeddings."""
    enough = min(sides) / TEXTS_PER_CLUSTER
    wanted = max([number for number in ROUND_NUMBERS if number <= enough], default=2) if asked is None else asked
    if wanted > different:
        log.warning("%d clusters were asked for, but there are only %d different embeddings", wanted, different)
    return min(wanted, different)


def fit(sides: Sequence[Vectors], clusters: int, options: ClustersOptions, seed: int) -> Clustering:
    """Cluster prepared embeddings under each seed.

    The principal components are those that first reach `explained_variance`; k-means starts from k-means++ and stops
    where nothing moves any more, or after 500 iterations. Of more than `MOST_FITTED` vectors and `FITTED_PER_CLUSTER`
    a cluster, a random part is looked at.

    Parameters
    ----------
    sides
        All embeddings that share the clustering, of each side vectors x dimensions.
    clusters
        K, no more than there are different vectors.
    """
    vectors = _some_of(sides, max(MOST_FITTED, FITTED_PER_CLUSTER * clusters), seed)
    mean, components = principal_components(vectors, options.explained_variance)
    projected = np.asarray((vectors - mean) @ components.T, dtype=np.float32)
    centroids = [_k_means(projected, clusters, options.restarts, seed + number) for number in range(options.seeds)]
    return Clustering(mean, components, np.stack(centroids).astype(np.float32), len(vectors))


def _some_of(sides: Sequence[Vectors], most: int, seed: int) -> Vectors:
    """All vectors, one side after the other; of more than `most` so many at random."""
    size = sum(map(len, sides))
    if size <= most:
        return np.concatenate(sides)
    log.info("clusters are learnt on %s of %s embeddings, drawn at random", f"{most:,}", f"{size:,}")
    chosen = np.sort(np.random.default_rng(seed).choice(size, most, replace=False))
    starts = np.cumsum([0, *map(len, sides)])
    parts = np.split(chosen, np.searchsorted(chosen, starts[1:-1]))
    return np.concatenate([side[some - start] for side, some, start in zip(sides, parts, starts, strict=False)])


def _k_means(vectors: Vectors, clusters: int, restarts: int, seed: int) -> Vectors:
    """Centroids of the best of some starts from k-means++.

    One trial for each centre, as in Arthur and Vassilvitskii (2007), and where there are many vectors, among some of
    them: the several trials that scikit-learn makes by default, among all, take most of the time and change next to
    nothing.
    """
    best: KMeans | None = None
    for start in range(restarts):
        random = np.random.RandomState([seed, start])
        most = min(len(vectors), max(_MOST_SEEDING * clusters, _FEWEST_SEEDING))
        some = vectors if most == len(vectors) else vectors[random.choice(len(vectors), most, replace=False)]
        centres, _ = kmeans_plusplus(some, clusters, random_state=random, n_local_trials=1)
        found = KMeans(clusters, init=centres, n_init=1, max_iter=ITERATIONS, random_state=random).fit(vectors)
        best = found if best is None or found.inertia_ < best.inertia_ else best
    assert best is not None
    return np.asarray(best.cluster_centers_, dtype=np.float32)


def principal_components(vectors: Vectors, share: float) -> tuple[Vectors, Vectors]:
    """Mean, and the fewest principal components that hold a share of the variance (at least one)."""
    solver = "covariance_eigh" if len(vectors) > vectors.shape[1] else "full"
    with np.errstate(invalid="ignore"):  # all vectors are equal: any component will do
        pca = PCA(svd_solver=solver).fit(vectors)
        reached = np.cumsum(pca.explained_variance_ / pca.explained_variance_.sum()) >= share - 1e-7
    kept = int(np.argmax(reached)) + 1 if reached.any() else len(reached)
    return pca.mean_.astype(np.float32), pca.components_[:kept].astype(np.float32)


def _nearest(vectors: Vectors, centroids: Vectors) -> Labels:
    """Nearest centroid of each vector: |x - c|^2 up to |x|^2."""
    scores = vectors @ centroids.T
    scores -= (centroids**2).sum(axis=1) / 2
    return scores.argmax(axis=1).astype(np.int32)
