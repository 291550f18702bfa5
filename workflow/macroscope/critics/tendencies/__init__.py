"""The tendencies critic: does a text keep the statistics of real text (meister2021).

Latents: counts of tokens, and numbers of every text: its length, types, stop words, symbols, repetitions. No prior:
collections are compared with each other. The functions are those of `critics.critic.EmpiricalCritic`.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from macroscope.critics.critic import Pair, ReportItem
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.options import signature as signature

if TYPE_CHECKING:
    import pandas as pd

    from macroscope.statistics.latent import Resampling


def project(documents: Path, inference: Path | None, output: Path, options: TendenciesOptions) -> None:
    """Count tokens and measure every text; see `projection.project`. There is nothing to infer with."""
    from macroscope.critics.tendencies import projection
    from macroscope.statistics.permutation import usable_cores

    projection.project(documents, output, options, usable_cores())


def compare(pair: Pair, statistics: Path, evidence: Path, options: TendenciesOptions, resampling: "Resampling") -> None:
    """Compare a system with the control; see `comparison.compare_files`."""
    from macroscope.critics.tendencies.comparison import compare_files

    compare_files(pair, statistics, evidence, options, resampling)


def difference_tests(statistics: "pd.DataFrame") -> "pd.DataFrame":
    """Tests of a difference to real text; see `report.difference_tests`."""
    from macroscope.critics.tendencies.report import difference_tests

    return difference_tests(statistics)


def overview(folder: Path, systems: list[str], statistics: "pd.DataFrame", output: Path) -> None:
    """Draw all systems side by side; see `figures.draw`."""
    from macroscope.critics.tendencies import figures

    figures.draw(folder, systems, statistics, output)


def report_items(folder: Path, systems: list[str], statistics: "pd.DataFrame", figures: Path) -> list[ReportItem]:
    """List what the report shows; see `report.items`."""
    from macroscope.critics.tendencies.report import items

    return items(folder, systems, statistics, figures)
