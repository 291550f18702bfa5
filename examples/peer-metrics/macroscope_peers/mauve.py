"""MAUVE: the area under the divergence frontier of clustered embeddings.

Pillutla, Swayamdipta, Zellers, Thickstun, Welleck, Choi and Harchaoui (2021), *MAUVE: Measuring the Gap Between Neural
Text and Human Text Using Divergence Frontiers*; as in their package: principal components up to 90 % of the variance,
a tenth as many clusters as texts per side, scale 5. They embed by gpt2-large (`encoder: gpt2-large`, `pooling: last`);
here it is MiniLM by default.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.clusters.clustering import principal_components
from macroscope.critics.clusters.kmeans import assign_nearest, k_means
from macroscope.options import Resampling
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.divergences import auc_divergence
from macroscope.statistics.document_features import Array, DocumentFeatures
from macroscope.statistics.joint_test import Comparison
from macroscope_peers.embeddings import compare_collections
from macroscope_peers.options import EmbeddingPeerOptions

NAME = "one_minus_mauve"
STATISTICS = (Statistic(NAME, "1 - MAUVE of the two collections", "the same distribution of embeddings on both sides"),)
VARIANCE, TEXTS_PER_CLUSTER, STARTS, SEED = 0.9, 10, 5, 25


def statistic(pool: DocumentFeatures) -> Comparison:
    """Return 1 - MAUVE as a statistic of collections of these documents."""
    return lambda divisions: measure_difference(pool.numbers[divisions.documents], divisions.inside)


def measure_difference(vectors: Array, inside: Array) -> Array:
    """Compute 1 - MAUVE for each row of memberships; the clusters are of the vectors of both sides."""
    order = np.lexsort(vectors.T)  # k-means depends on the order of vectors, which must not tell their sides
    values, inside = np.asarray(vectors[order], dtype=np.float32), inside[:, order]
    mean, components = principal_components(values, VARIANCE)
    projected = np.asarray((values - mean) @ components.T, dtype=np.float32)
    per_side = int(min(inside[0].sum(), len(values) - inside[0].sum()))
    wanted = max(2, per_side // TEXTS_PER_CLUSTER)
    clusters = min(wanted, len(np.unique(projected, axis=0)))
    labels = assign_nearest(projected, k_means(projected, clusters, STARTS, SEED))
    is_in = np.eye(clusters)[labels]
    counts = inside @ is_in, (1 - inside) @ is_in
    first, second = (each / each.sum(axis=1, keepdims=True) for each in counts)
    return auc_divergence(first, second)


def compare(
    control_latents: Path, latents: Path, *, options: EmbeddingPeerOptions, resampling: Resampling
) -> pd.DataFrame:
    """Compare the embeddings of a system with the control's."""
    return compare_collections(NAME, statistic, control_latents, latents, options.permutations, resampling)
