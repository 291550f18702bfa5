"""The clusters critic: are texts of every kind as frequent as in real text (pimentel2022).

Latents: an embedding of each text, and the cluster that it falls into. Prior: the distribution of the control's
clusters. The clustering depends on both sides of a comparison, so collections are compared with each other; the
functions are those of `critics.critic.EmpiricalCritic`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from macroscope.critics.clusters.options import ClustersOptions
from macroscope.critics.clusters.options import signature as signature
from macroscope.critics.critic import Pair, ReportItem

if TYPE_CHECKING:
    import pandas as pd

    from macroscope.statistics.latent import Resampling


def project(documents: Path, inference: Path | None, output: Path, options: ClustersOptions) -> None:
    """Embed every text; see `embeddings.project`. Nothing is learnt before."""
    from macroscope.critics.clusters import embeddings

    embeddings.project(documents, output, options)


def learn_shared(latents: Sequence[Path], output: Path, options: ClustersOptions, seed: int) -> None:
    """Cluster the texts of all systems together; see `shared.learn_shared`."""
    from macroscope.critics.clusters import shared

    shared.learn_shared(latents, output, options, seed)


def compare(pair: Pair, statistics: Path, evidence: Path, options: ClustersOptions, resampling: "Resampling") -> None:
    """Cluster a system's texts with the control's and compare; see `comparison_files.compare_files`."""
    from macroscope.critics.clusters.comparison_files import compare_files

    compare_files(pair, statistics, evidence, options, resampling)


def difference_tests(statistics: "pd.DataFrame") -> "pd.DataFrame":
    """Tests of a difference to real text; see `divergence_report.difference_tests`."""
    from macroscope.critics.divergence_report import difference_tests

    return difference_tests(statistics)


def overview(folder: Path, systems: list[str], statistics: "pd.DataFrame", output: Path) -> None:
    """Draw all systems side by side; see `figures.draw`."""
    from macroscope.critics.clusters import figures

    figures.draw(folder, systems, statistics, output)


def report_items(folder: Path, systems: list[str], statistics: "pd.DataFrame", figures: Path) -> list[ReportItem]:
    """List what the report shows; see `report.items`."""
    from macroscope.critics.clusters.report import items

    return items(folder, systems, statistics, figures)
