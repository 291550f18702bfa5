"""The strings critic: how likely is each text where the other side comes from (pimentel2022 §3).

Latents: the text itself. Prior: a distribution over strings, estimated from the control's texts. A text is scored by
estimates that have not seen it, so the estimates depend on both sides of a comparison; the functions are those of
`critics.critic.EmpiricalCritic`.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from macroscope.critics.critic import Pair, ReportItem
from macroscope.critics.strings.options import StringsOptions
from macroscope.critics.strings.options import signature as signature

if TYPE_CHECKING:
    import pandas as pd

    from macroscope.statistics.latent import Resampling


def project(documents: Path, inference: Path | None, output: Path, options: StringsOptions) -> None:
    """Write the texts; see `texts.project`. Nothing is learnt before."""
    from macroscope.critics.strings import texts

    texts.project(documents, output)


def compare(pair: Pair, statistics: Path, evidence: Path, options: StringsOptions, resampling: "Resampling") -> None:
    """Estimate both distributions and compare; see `comparison_files.compare_files`."""
    from macroscope.critics.strings.comparison_files import compare_files

    compare_files(pair, statistics, evidence, options, resampling)


def difference_tests(statistics: "pd.DataFrame") -> "pd.DataFrame":
    """Tests of a difference to real text; see `divergence_report.difference_tests`."""
    from macroscope.critics.divergence_report import difference_tests

    return difference_tests(statistics)


def overview(folder: Path, systems: list[str], statistics: "pd.DataFrame", output: Path) -> None:
    """Draw all systems side by side; see `report.draw`."""
    from macroscope.critics.strings.report import draw

    draw(folder, systems, statistics, output)


def report_items(folder: Path, systems: list[str], statistics: "pd.DataFrame", figures: Path) -> list[ReportItem]:
    """List what the report shows; see `report.items`."""
    from macroscope.critics.strings.report import items

    return items(folder, systems, statistics, figures)
