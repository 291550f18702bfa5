"""One clustering for all systems of a corpus."""

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from macroscope.critics.clusters.blocks import different, taken
from macroscope.critics.clusters.clustering import fit, number_of_clusters, prepared
from macroscope.critics.clusters.latents import read_embeddings
from macroscope.critics.clusters.options import ClustersOptions

log = logging.getLogger("macroscope")


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
