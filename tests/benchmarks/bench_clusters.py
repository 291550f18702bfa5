"""Clusters and MAUVE of 2 x 5,000 embeddings against mauve-text: value, time, quantisation error.

mauve-text is under the GPL, so it is no dependency: install it by hand (mauve-text, faiss-cpu); without it there is
nothing to compare with, and this says so.
"""

import importlib
import sys

import numpy as np
from _report import quiet, say, seconds

from macroscope.critics.clusters.clustering import fit, prepare
from macroscope.critics.clusters.options import ClustersOptions
from macroscope.statistics.divergences import frontier_integral, mauve

TEXTS, WIDTH, CLUSTERS = 5000, 384, 500


def embeddings(rng: np.random.Generator) -> list[np.ndarray]:
    """Two sides that share most of their kinds of text; the spectrum falls as that of a real encoder does."""
    scales = np.arange(1, WIDTH + 1) ** -0.4
    centres = 2 * rng.standard_normal((300, WIDTH)) * scales
    return [
        (centres[rng.integers(low, low + 260, TEXTS)] + rng.standard_normal((TEXTS, WIDTH)) * scales).astype(np.float32)
        for low in (0, 40)
    ]


def main() -> None:
    """Compare."""
    try:
        faiss, peer = importlib.import_module("faiss"), importlib.import_module("mauve")
    except ImportError:
        print("mauve-text and faiss-cpu are not installed: nothing to compare with (pip install mauve-text faiss-cpu)")
        sys.exit(0)
    p, q = embeddings(np.random.default_rng(0))
    errors: list[float] = []

    class Recorded(faiss.Kmeans):  # type: ignore[name-defined,misc]
        def train(self, data: np.ndarray) -> None:
            super().train(data)
            errors.append(float(self.index.search(data, 1)[0].sum() / len(data)))

    original, faiss.Kmeans = faiss.Kmeans, Recorded
    theirs = None

    def run_theirs() -> None:
        nonlocal theirs
        theirs = peer.compute_mauve(p_features=p, q_features=q, num_buckets=CLUSTERS, verbose=False, seed=1)

    options = ClustersOptions(number_of_clusters=CLUSTERS, seeds=1)
    vectors = np.concatenate([prepare(embeddings, options) for embeddings in (p, q)])
    ours = None

    def run_ours() -> None:
        nonlocal ours
        ours = fit([prepare(embeddings, options) for embeddings in (p, q)], CLUSTERS, options, seed=1)
        counts = [
            np.bincount(ours.assign(prepare(embeddings, options))[:, 0], minlength=CLUSTERS) for embeddings in (p, q)
        ]
        mauve(counts[0], counts[1])

    with quiet():
        their_time, our_time = seconds(run_theirs, 3), seconds(run_ours, 3)
    faiss.Kmeans = original
    assert theirs is not None
    assert ours is not None
    projected = ours.project(vectors)
    error = float(((projected - ours.centroids[0][ours.assign(vectors)[:, 0]]) ** 2).sum() / len(vectors))
    difference = abs(float(mauve(theirs.p_hist, theirs.q_hist)) - theirs.mauve)
    integral = abs(float(frontier_integral(theirs.p_hist, theirs.q_hist)) - theirs.frontier_integral)
    print(f"same clusters: MAUVE differs by {difference:.1e}, frontier integral by {integral:.1e}   (goal 1e-6)")
    say("time, 2 x 5,000 embeddings", f"{our_time:.2f} s", f"{their_time:.2f} s", their_time / our_time, ">= 3")
    say("quantisation error", f"{error:.5f}", f"{errors[-1]:.5f}", errors[-1] / error, ">= 1")


if __name__ == "__main__":
    main()
