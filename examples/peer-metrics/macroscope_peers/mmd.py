"""Squared maximum mean discrepancy between embeddings, by a Gaussian kernel of median width.

Gretton, Borgwardt, Rasch, Schölkopf and Smola (2012), *A kernel two-sample test*.
"""

from pathlib import Path

import pandas as pd

from macroscope.options import Resampling
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.vectors import compare_by_kernel as statistic
from macroscope_peers.embeddings import compare_collections
from macroscope_peers.options import EmbeddingPeerOptions

__all__ = ["STATISTICS", "compare", "statistic"]
STATISTICS = (
    Statistic(
        "mmd_squared",
        "squared maximum mean discrepancy of the two collections",
        "the same distribution of embeddings on both sides",
    ),
)


def compare(
    control_latents: Path, latents: Path, *, options: EmbeddingPeerOptions, resampling: Resampling
) -> pd.DataFrame:
    """Compare the embeddings of a system with the control's."""
    return compare_collections("mmd_squared", statistic, control_latents, latents, options.permutations, resampling)
