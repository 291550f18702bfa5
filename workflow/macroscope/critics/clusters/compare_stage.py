"""Stage `compare`: statistics and evidence from the embeddings of a system and the control."""

from pathlib import Path

import pandas as pd

from macroscope.critics.clusters.clustering import Clustering
from macroscope.critics.clusters.comparison import compare, compute_curve, describe
from macroscope.critics.clusters.evidence import write_evidence
from macroscope.critics.clusters.latents import read_embeddings
from macroscope.critics.clusters.options import ClustersOptions
from macroscope.critics.split_half import compare_with_control
from macroscope.resampling import Resampling


def compare_latents(
    control_latents: Path,
    latents: Path,
    shared: Path | None = None,
    *,
    options: ClustersOptions,
    resampling: Resampling,
    evidence: Path,
) -> pd.DataFrame:
    """Compare the embeddings of a system with the control's, and write the evidence; see `critics.split_half`.

    Parameters
    ----------
    shared
        Folder of a clustering that all systems share; None: each comparison has its own clustering.
    """
    clustering = Clustering.load(shared) if shared is not None else None
    compared = compare_with_control(
        control_latents,
        latents,
        read=read_embeddings,
        describe=lambda texts: describe(texts, resampling.confidence),
        compare=lambda reference, candidate: compare(reference, candidate, clustering, options, resampling),
        halves=lambda texts: (texts.every_other(0), texts.every_other(1)),
    )
    curve = compute_curve(compared.result, options, resampling)
    write_evidence(evidence, compared.result, curve, options)
    return compared.table
