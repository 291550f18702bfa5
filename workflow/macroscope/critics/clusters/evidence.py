"""What lies beside the numbers of a system, to read and to draw: texts, contributing clusters, curves."""

from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.clusters.blocks import blocks
from macroscope.critics.clusters.clustering import prepared
from macroscope.critics.clusters.comparison import Comparison
from macroscope.critics.clusters.options import ClustersOptions
from macroscope.files import atomic
from macroscope.statistics.divergences import Frontier, contributions, smoothed
from macroscope.tables import write_csv

SIDES = ("reference", "candidate")
CLUSTERS_SHOWN = 10


def write_evidence(output: Path, found: Comparison, curve: pd.DataFrame, options: ClustersOptions) -> None:
    """Write the evidence of a system into the folder `output`.

    texts.parquet
        id, side, nll (T(x)), log_p, log_q (nats; means over the seeds), and cluster_<seed>.
    contributions.csv
        For every divergence the clusters that add most to it, with a text of either side; first seed.
    by_clusters.csv
        Divergences by number of clusters.
    """
    with atomic(output) as folder:
        folder.mkdir(parents=True)
        texts_table(found).to_parquet(folder / "texts.parquet", index=False)
        write_csv(contributing_clusters(found, options), folder / "contributions.csv")
        write_csv(curve, folder / "by_clusters.csv")


def texts_table(found: Comparison) -> pd.DataFrame:
    """Clusters and log-probabilities of every text of both sides."""
    tables = []
    for number, side in enumerate(SIDES):
        table = pd.DataFrame({"id": found.sides[number].keys["id"].to_numpy(), "side": side})
        for name in ("nll", "log_p", "log_q"):
            table[name] = getattr(found.scores, name)[number].mean(axis=1)
        for seed, column in enumerate(found.labels[number].T):
            table[f"cluster_{seed}"] = column
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def contributing_clusters(found: Comparison, options: ClustersOptions) -> pd.DataFrame:
    """Clusters that add most to each divergence, under the first seed.

    Returns
    -------
    data frame
        divergence, cluster, contribution (nats, or the divergence's unit), share (of all that is added),
        reference_texts, candidate_texts (counts), reference_example, candidate_example: the texts of either side that
        are nearest to the centre of the cluster; empty where a side has none.
    """
    counts = [np.bincount(labels[:, 0], minlength=found.clustering.clusters) for labels in found.labels]
    p, q = (smoothed(side, options.smoothing) for side in counts)
    examples = [_examples(found, number, options) for number in range(2)]
    rows = []
    for name, values in contributions(p, q, Frontier(options.scale, options.weights)).items():
        added = np.maximum(values, 0).sum()
        for cluster in np.argsort(-values, kind="stable")[:CLUSTERS_SHOWN]:
            if not values[cluster] > 0:
                break
            texts = (counts[0][cluster], counts[1][cluster])
            shown = [side.get(int(cluster), "") for side in examples]
            rows.append((name, int(cluster), values[cluster], values[cluster] / added, *texts, *shown))
    names = ["divergence", "cluster", "contribution", "share", "reference_texts", "candidate_texts"]
    return pd.DataFrame(rows, columns=[*names, "reference_example", "candidate_example"])


def _examples(found: Comparison, number: int, options: ClustersOptions) -> dict[int, str]:
    """Text of a side that is nearest to the centre of each cluster that it has any in."""
    side, labels, clustering = found.sides[number], found.labels[number][:, 0], found.clustering
    distances = np.empty(len(side), np.float32)
    for some in blocks(len(side)):
        projected = clustering.project(prepared(side.vectors[some], options))
        distances[some] = ((projected - clustering.centroids[0][labels[some]]) ** 2).sum(axis=1)
    best = pd.DataFrame({"cluster": labels, "distance": distances}).groupby("cluster")["distance"].idxmin()
    return {int(cluster): side.excerpts[text] for cluster, text in best.items()}
