"""The files of a comparison: embeddings in, statistics and evidence out."""

from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.clusters.clustering import Clustering
from macroscope.critics.clusters.comparison import by_number_of_clusters, compare, describe
from macroscope.critics.clusters.embeddings import read_embeddings
from macroscope.critics.clusters.evidence import write_evidence
from macroscope.critics.clusters.options import ClustersOptions
from macroscope.critics.critic import SPLIT_HALF, Pair
from macroscope.statistics.comparison import write_statistics
from macroscope.statistics.latent import Resampling


def compare_files(
    pair: Pair, statistics: Path, evidence: Path, options: ClustersOptions, resampling: Resampling
) -> None:
    """Compare the embeddings of a system with the control's; write tidy statistics and the evidence.

    Of the control, one half is compared with the other, as system `SPLIT_HALF`.
    """
    shared = Clustering.load(pair.inference) if pair.inference is not None else None
    reference = read_embeddings(pair.reference)
    if pair.candidate == pair.reference:
        first, second = (reference.some(np.arange(len(reference)) % 2 == half) for half in (0, 1))
        found = compare(second, first, shared, options, resampling)
        own = describe(reference, resampling.confidence).assign(system=pair.system)
        table = pd.concat([own, found.rows.assign(system=SPLIT_HALF)], ignore_index=True)
    else:
        candidate = read_embeddings(pair.candidate)
        found = compare(reference, candidate, shared, options, resampling)
        table = pd.concat([describe(candidate, resampling.confidence), found.rows], ignore_index=True)
    write_evidence(evidence, found, by_number_of_clusters(found, options, resampling.seed), options)
    write_statistics(table, statistics, pair.corpus, pair.system, "clusters", resampling, pair.signature)
