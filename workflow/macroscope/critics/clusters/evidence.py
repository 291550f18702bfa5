"""Evidence of the clusters critic: texts, contributing clusters, and divergences by number of clusters."""

from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.clusters.blocks import blocks
from macroscope.critics.clusters.clustering import prepare
from macroscope.critics.clusters.comparison import Comparison
from macroscope.critics.clusters.options import ClustersOptions
from macroscope.files import atomic
from macroscope.statistics.divergences import Frontier, contributions, smooth_counts
from macroscope.tables import write_csv

SIDES = ("reference", "candidate")
CLUSTERS_SHOWN = 10


def write_evidence(output: Path, comparison: Comparison, curve: pd.DataFrame, options: ClustersOptions) -> None:
    """Write the evidence of a system into the folder `output`.

    texts.parquet
        id, side, nll (T(x)), log_p, log_q (nats; means over the seeds), and cluster_<seed>.
    contributions.csv
        Clusters that contribute most to each divergence, with an example of the reference and of the candidate; first
        seed only.
    by_clusters.csv
        Divergences by number of clusters.
    """
    with atomic(output) as folder:
        folder.mkdir(parents=True)
        texts_table(comparison).to_parquet(folder / "texts.parquet", index=False)
        write_csv(list_contributing_clusters(comparison, options), folder / "contributions.csv")
        write_csv(curve, folder / "by_clusters.csv")


def texts_table(comparison: Comparison) -> pd.DataFrame:
    """Return clusters and log-probabilities of all texts of reference and candidate."""
    tables = []
    for number, side in enumerate(SIDES):
        table = pd.DataFrame({"id": comparison.sides[number].keys["id"].to_numpy(), "side": side})
        for name in ("nll", "log_p", "log_q"):
            table[name] = getattr(comparison.scores, name)[number].mean(axis=1)
        for seed, column in enumerate(comparison.labels[number].T):
            table[f"cluster_{seed}"] = column
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def list_contributing_clusters(comparison: Comparison, options: ClustersOptions) -> pd.DataFrame:
    """Return the clusters that contribute most to each divergence, under the first seed.

    Returns
    -------
    data frame
        divergence, cluster, contribution (nats, or the divergence's unit), share (of the positive contributions),
        reference_texts, candidate_texts (counts), reference_example, candidate_example: the texts nearest to the
        cluster's centroid; empty if there is none.
    """
    counts = [np.bincount(labels[:, 0], minlength=comparison.clustering.clusters) for labels in comparison.labels]
    p, q = (smooth_counts(side_counts, options.smoothing) for side_counts in counts)
    examples = [_examples(comparison, number, options) for number in range(2)]
    rows = []
    for name, values in contributions(p, q, Frontier(options.scale, options.weights)).items():
        total = np.maximum(values, 0).sum()
        for cluster in np.argsort(-values, kind="stable")[:CLUSTERS_SHOWN]:
            if not values[cluster] > 0:
                break
            texts = (counts[0][cluster], counts[1][cluster])
            cluster_examples = [side_counts.get(int(cluster), "") for side_counts in examples]
            rows.append((name, int(cluster), values[cluster], values[cluster] / total, *texts, *cluster_examples))
    names = ["divergence", "cluster", "contribution", "share", "reference_texts", "candidate_texts"]
    return pd.DataFrame(rows, columns=[*names, "reference_example", "candidate_example"])


def _examples(comparison: Comparison, number: int, options: ClustersOptions) -> dict[int, str]:
    """Return, by cluster, the text of the reference (0) or candidate (1) nearest to the cluster's centroid."""
    texts, labels, clustering = comparison.sides[number], comparison.labels[number][:, 0], comparison.clustering
    distances = np.empty(len(texts), np.float32)
    for block in blocks(len(texts)):
        projected = clustering.project(prepare(texts.vectors[block], options))
        distances[block] = ((projected - clustering.centroids[0][labels[block]]) ** 2).sum(axis=1)
    best = pd.DataFrame({"cluster": labels, "distance": distances}).groupby("cluster")["distance"].idxmin()
    return {int(cluster): texts.excerpts[text] for cluster, text in best.items()}
