"""Clustering of embeddings: principal components, then k-means under several seeds (pimentel2022 §5)."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from macroscope.critics.clusters.kmeans import (
    Labels,
    Vectors,
    assign_nearest,
    blocks,
    count_unique_rows,
    k_means,
    map_blocks,
    take_rows,
    threads,
)
from macroscope.critics.clusters.latents import read_embeddings
from macroscope.critics.clusters.options import ClustersOptions
from macroscope.files import atomic

log = logging.getLogger("macroscope")

ROUND_NUMBERS = (2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500)
"""Default numbers of clusters: few, so that systems with similar numbers of texts have the same number of clusters."""
TEXTS_PER_CLUSTER = 10
MOST_FITTED, FITTED_PER_CLUSTER = 200_000, 400
"""Number of vectors, and of vectors per cluster, above which a clustering is fitted to a random subset.

For other vectors, a clustering that is fitted to n vectors per cluster is worse by a factor of about 1 + 1/n."""


@dataclass(frozen=True)
class Clustering:
    """A projection, and centroids under several seeds.

    Attributes
    ----------
    mean
        Mean of the embeddings (dimensions).
    components
        Principal components (kept x dimensions).
    centroids
        Centroids (seeds x clusters x kept).
    learnt_on
        Number of embeddings that the clustering was fitted to.
    """

    mean: Vectors
    components: Vectors
    centroids: NDArray[np.float32]
    learnt_on: int

    @property
    def clusters(self) -> int:
        return self.centroids.shape[1]

    def assign(self, vectors: Vectors) -> Labels:
        """Return the nearest centroid of each vector under each seed (vectors x seeds)."""
        labels = np.empty((len(vectors), len(self.centroids)), np.int32)

        def assign_part(part: slice) -> None:
            projected = self.project(vectors[part])
            for seed, centroids in enumerate(self.centroids):
                labels[part, seed] = assign_nearest(projected, centroids)

        with threads() as pool:
            pool.map_parts(assign_part, len(vectors), self.clusters)
        return labels

    def project(self, vectors: Vectors) -> Vectors:
        """Project vectors to the principal components (vectors x kept)."""
        return np.asarray((vectors - self.mean) @ self.components.T, dtype=np.float32)

    def save(self, folder: Path) -> None:
        """Write the clustering into a folder."""
        with atomic(folder) as temporary:
            temporary.mkdir()
            np.savez(temporary / "clustering.npz", **vars(self))

    @classmethod
    def load(cls, folder: Path) -> "Clustering":
        """Read a clustering that `save` wrote."""
        with np.load(folder / "clustering.npz", allow_pickle=False) as arrays:
            return cls(arrays["mean"], arrays["components"], arrays["centroids"], int(arrays["learnt_on"]))


def prepare(vectors: Vectors, options: ClustersOptions) -> Vectors:
    """Scale embeddings to length 1 if the options say so; vectors of zeros stay unchanged."""
    return map_blocks(_normalised, vectors) if options.normalise else vectors


def _normalised(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def choose_number_of_clusters(requested: int | None, sides: tuple[int, int], unique: int) -> int:
    """Return the number of clusters K.

    Parameters
    ----------
    requested
        K of the options; None: the default for the smaller collection.
    sides
        Numbers of texts of reference and candidate.
    unique
        Number of unique embeddings, which K cannot exceed.
    """
    most = min(sides) / TEXTS_PER_CLUSTER
    clusters = (
        max([number for number in ROUND_NUMBERS if number <= most], default=2) if requested is None else requested
    )
    if clusters > unique:
        log.warning(
            "number of clusters: %d are requested, but there are only %d different embeddings; using that number",
            clusters,
            unique,
        )
    return min(clusters, unique)


def fit(collections: Sequence[Vectors], clusters: int, options: ClustersOptions, seed: int) -> Clustering:
    """Cluster prepared embeddings under each seed.

    The fewest principal components that reach `explained_variance` are kept. k-means starts from k-means++ and stops
    if no vector changes its cluster, or after 500 iterations. If there are more than `MOST_FITTED` vectors and
    `FITTED_PER_CLUSTER` per cluster, a random subset is used.

    Parameters
    ----------
    collections
        All embeddings that share the clustering, per collection vectors x dimensions.
    clusters
        Number of clusters K, at most the number of unique vectors.
    """
    vectors = _subsample(collections, max(MOST_FITTED, FITTED_PER_CLUSTER * clusters), seed)
    mean, components = principal_components(vectors, options.explained_variance)
    projected = np.asarray((vectors - mean) @ components.T, dtype=np.float32)
    centroids = [k_means(projected, clusters, options.restarts, seed + number) for number in range(options.seeds)]
    return Clustering(mean, components, np.stack(centroids), len(vectors))


def _subsample(collections: Sequence[Vectors], most: int, seed: int) -> Vectors:
    """Concatenate all vectors, or `most` random ones if there are more."""
    size = sum(map(len, collections))
    if size <= most:
        return np.concatenate(collections)
    log.info("clustering: fitted to a random subset of %s of %s embeddings", f"{most:,}", f"{size:,}")
    sampled = np.sort(np.random.default_rng(seed).choice(size, most, replace=False))
    starts = np.cumsum([0, *map(len, collections)])
    parts = np.split(sampled, np.searchsorted(sampled, starts[1:-1]))
    return np.concatenate(
        [vectors[indices - start] for vectors, indices, start in zip(collections, parts, starts, strict=False)]
    )


def principal_components(vectors: Vectors, share: float) -> tuple[Vectors, Vectors]:
    """Return the mean, and the fewest principal components that explain a share of the variance (at least one)."""
    mean = vectors.mean(axis=0, dtype=float).astype(np.float32)
    variances, components = _spectrum(vectors, mean)
    with np.errstate(invalid="ignore"):  # if all vectors are equal, any component is right
        is_reached = np.cumsum(variances / variances.sum()) >= share - 1e-7
    kept = int(np.argmax(is_reached)) + 1 if is_reached.any() else len(is_reached)
    return mean, np.ascontiguousarray(components[:kept], dtype=np.float32)


def _spectrum(vectors: Vectors, mean: Vectors) -> tuple[Vectors, Vectors]:
    """Return variances along all principal components, up to a factor, and the components; the largest first."""
    width = vectors.shape[1]
    if len(vectors) <= width:
        _, lengths, components = np.linalg.svd(vectors - mean, full_matrices=False)
        return lengths**2, components
    scatter = np.zeros((width, width))
    for block in blocks(len(vectors)):
        centred = vectors[block] - mean
        scatter += centred.T @ centred
    with threadpool_limits(1, "blas"):  # its many small steps are slower with several threads
        variances, components = np.linalg.eigh(scatter.astype(np.float32))
    return np.maximum(variances[::-1], 0), components.T[::-1]


def learn_shared(all_latents: Sequence[Path], *, options: ClustersOptions, seed: int, output: Path) -> None:
    """Cluster the embeddings of all systems together, with equally many texts per system.

    Parameters
    ----------
    all_latents
        Embeddings of all systems, including the control.
    output
        Folder of the clustering.
    """
    systems = []
    for path in all_latents:
        texts = read_embeddings(path)
        systems.append(prepare(texts.select(texts.has_embedding()).vectors, options))
    size = min(map(len, systems))
    rng = np.random.default_rng(seed)
    # A system with ten times the texts must not determine ten times the clusters.
    samples = [take_rows(vectors, np.sort(rng.choice(len(vectors), size, replace=False))) for vectors in systems]
    log.info("shared clustering: %d texts of each of %d systems", size, len(systems))
    clusters = choose_number_of_clusters(options.number_of_clusters, (size, size), count_unique_rows(samples))
    fit(samples, clusters, options, seed).save(output)
