"""Energy distance between embeddings.

Székely and Rizzo (2013), *Energy statistics: a class of statistics based on distances*.
"""

from pathlib import Path

import pandas as pd

from macroscope.options import Resampling
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.vectors import compare_by_energy as statistic
from macroscope_peers.embeddings import compare_collections
from macroscope_peers.options import EmbeddingPeerOptions

__all__ = ["STATISTICS", "compare", "statistic"]
STATISTICS = (
    Statistic(
        "energy_distance", "energy distance of the two collections", "the same distribution of embeddings on both sides"
    ),
)


def compare(
    control_latents: Path, latents: Path, *, options: EmbeddingPeerOptions, resampling: Resampling
) -> pd.DataFrame:
    """Compare the embeddings of a system with the control's."""
    return compare_collections("energy_distance", statistic, control_latents, latents, options.permutations, resampling)
