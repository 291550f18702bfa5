"""The coherence critic: does a text go through its section types as real text does (deng2022 §4, App. E).

Latents: the sequence of section types z_1 ... z_M. Projection: a fine-tuned section classifier, independent over
sections. Prior: a bigram Markov chain with begin and end. The functions are those of `critics.critic.ScoringCritic`.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from macroscope.critics.coherence.options import CoherenceOptions
from macroscope.critics.coherence.options import signature as signature
from macroscope.critics.critic import Evidence, ReportItem

if TYPE_CHECKING:
    import pandas as pd


def train(documents: Path, output: Path, options: CoherenceOptions, seed: int, checkpoints: Path) -> None:
    """Fine-tune the section classifier; see `training.train_section_classifier`."""
    from macroscope.critics.coherence.training import train_section_classifier

    train_section_classifier(documents, output, options, seed, checkpoints)


def fit_prior(documents: Path, inference: Path, output: Path, options: CoherenceOptions) -> None:
    """Fit the bigram prior; see `scoring.fit_prior`."""
    from macroscope.critics.coherence import scoring

    scoring.fit_prior(documents, inference, output, options)


def project(documents: Path, inference: Path, output: Path, options: CoherenceOptions) -> None:
    """Infer section types; see `projection.project`."""
    from macroscope.critics.coherence import projection

    projection.project(documents, inference, output, options)


def score(latents: Path, prior: Path, output: Path, options: CoherenceOptions) -> None:
    """Score section types; see `scoring.score`."""
    from macroscope.critics.coherence import scoring

    scoring.score(latents, prior, output, options)


def explain(evidence: Evidence, output: Path, options: CoherenceOptions) -> None:
    """Tabulate transitions and the most unlikely documents; see `explanation.explain`."""
    from macroscope.critics.coherence import explanation

    explanation.explain(evidence, output, options)


def calibrate(process: Path, prior: Path, order: str, output: Path, seed: int) -> None:
    """Write what theory gives for a simulated system; see `theory.calibrate`."""
    from macroscope.critics.coherence import theory

    theory.calibrate(process, prior, order, output, seed)


def report_items(folder: Path, systems: list[str], statistics: "pd.DataFrame", figures: Path) -> list[ReportItem]:
    """List what the report shows; see `report.items`."""
    from macroscope.critics.coherence.report import items

    return items(folder, systems, statistics)
