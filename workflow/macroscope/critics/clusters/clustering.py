"""Clusterings of embeddings: principal components, then k-means under several seeds (pimentel2022 §5)."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from macroscope.critics.clusters.blocks import Vectors, blocks, by_blocks, different, taken, threads
from macroscope.critics.clusters.kmeans import Labels, k_means, nearest
from macroscope.critics.clusters.latents import read_embeddings
from macroscope.critics.clusters.options import ClustersOptions
from macroscope.files import atomic

log = logging.getLogger("macroscope")

ROUND_NUMBERS = (2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500)
"""Numbers of clusters that are taken by themselves: few, so that systems of about as many texts have the same."""
TEXTS_PER_CLUSTER = 10
MOST_FITTED, FITTED_PER_CLUSTER = 200_000, 400
"""Vectors, and vectors a cluster, that a clustering is learnt on; of more, a random part of them.

What is learnt on n vectors a cluster is about one n-th worse for others than what is learnt on those."""


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

        def profile(part: slice) -> None:
            projected = self.project(vectors[part])
            for seed, centroids in enumerate(self.centroids):
                labels[part, seed] = nearest(projected, centroids)

        with threads() as many:
            many.each(profile, len(vectors), self.clusters)
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
    centroids = [k_means(projected, clusters, options.restarts, seed + number) for number in range(options.seeds)]
    return Clustering(mean, components, np.stack(centroids), len(vectors))


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


def principal_components(vectors: Vectors, share: float) -> tuple[Vectors, Vectors]:
    """Mean, and the fewest principal components that hold a share of the variance (at least one)."""
    mean = vectors.mean(axis=0, dtype=float).astype(np.float32)
    variances, components = _spectrum(vectors, mean)
    with np.errstate(invalid="ignore"):  # all vectors are equal: any component will do
        reached = np.cumsum(variances / variances.sum()) >= share - 1e-7
    kept = int(np.argmax(reached)) + 1 if reached.any() else len(reached)
    return mean, np.ascontiguousarray(components[:kept], dtype=np.float32)


def _spectrum(vectors: Vectors, mean: Vectors) -> tuple[Vectors, Vectors]:
    """Variances along all principal components, up to a factor, and these; the largest first."""
    width = vectors.shape[1]
    if len(vectors) <= width:
        _, lengths, components = np.linalg.svd(vectors - mean, full_matrices=False)
        return lengths**2, components
    scatter = np.zeros((width, width))
    for some in blocks(len(vectors)):
        centred = vectors[some] - mean
        scatter += centred.T @ centred
    with threadpool_limits(1, "blas"):  # in its many small steps threads would only wait for each other
        variances, components = np.linalg.eigh(scatter.astype(np.float32))
    return np.maximum(variances[::-1], 0), components.T[::-1]


def learn_shared(all_latents: Sequence[Path], *, options: ClustersOptions, seed: int, output: Path) -> None:
    """Cluster the embeddings of all systems together, as many texts of each as the smallest has.

    Parameters
    ----------
    all_latents
        Embeddings of every system, the control among them.
    output
        Folder to write.
    """
    sides = []
    for path in all_latents:
        texts = read_embeddings(path)
        sides.append(prepared(texts.some(texts.known()).vectors, options))
    size = min(map(len, sides))
    rng = np.random.default_rng(seed)
    # A system with ten times the texts must not have ten times the clusters.
    chosen = [taken(side, np.sort(rng.choice(len(side), size, replace=False))) for side in sides]
    log.info("shared clustering: %d texts of each of %d systems", size, len(sides))
    clusters = number_of_clusters(options.number_of_clusters, (size, size), different(chosen))
    fit(chosen, clusters, options, seed).save(output)
