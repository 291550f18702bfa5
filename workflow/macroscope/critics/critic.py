"""What every critic offers, and the registry's look-up.

A critic is a module (or a sub-package) with the functions of `ScoringCritic` or of `EmpiricalCritic`. Paths come in,
files go out; nothing else passes between them. `macroscope critics <verb> --critic NAME` calls them, and tests/contract
holds all of them to the same promises.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from macroscope.config.options import Options
from macroscope.critics import CRITICS, EMPIRICAL
from macroscope.errors import MacroscopeError, nearest

if TYPE_CHECKING:  # the config imports this module, and must start at once
    import pandas as pd

    from macroscope.statistics.latent import Resampling

SCORES = ("id", "nll", "units", "entropy")
"""Columns that every critic's scores have: T(x) in nats, the number M of latent states, the posterior's entropy in
nats (NaN where undefined). A critic may add `kl`, nll_<variant>, pairs count_<name>, of_<name>, and `categories`."""

SPLIT_HALF = "split_half"
"""System under which an empirical critic judges one half of the control against the other: what no difference is."""


@dataclass(frozen=True)
class Evidence:
    """What `explain` looks at: one system beside the control, with the texts, latents and prior of both.

    Attributes
    ----------
    system
        Name of the candidate system.
    documents, latents, scores
        Files of the candidate system.
    control_latents
        Latents of the control.
    prior
        Folder of the prior.
    """

    system: str
    documents: Path
    latents: Path
    scores: Path
    control_latents: Path
    prior: Path


@dataclass(frozen=True)
class Pair:
    """Two collections that an empirical critic compares.

    Attributes
    ----------
    corpus, system
        Names.
    reference
        Latents of the control.
    candidate
        Latents of the system; for the control itself the same file.
    signature
        Of the critic's options.
    inference
        Folder of what the critic has learnt from all systems together; None where it learns nothing from them.
    """

    corpus: str
    system: str
    reference: Path
    candidate: Path
    signature: str
    inference: Path | None = None


class Critic(Protocol):
    """What all critics have."""

    def project(self, documents: Path, inference: Path | None, output: Path, options: Any) -> None:
        """Project every document (or sample) onto its latents.

        `inference` is what the critic has learnt; None for a critic that learns nothing.
        """

    def report_items(
        self, folder: Path, systems: list[str], statistics: "pd.DataFrame", figures: Path
    ) -> "list[ReportItem]":
        """Tables, figures and texts that the report shows of one corpus.

        `folder` is critics/<critic>/<corpus>; `statistics` the critic's numbers on the corpus, with p_adjusted;
        `figures` the folder of the run's figures.
        """

    def signature(self, options: Any) -> str:
        """Everything in the options that changes a number, as key:value pairs joined by '|'."""


class ScoringCritic(Critic, Protocol):
    """A critic with a prior: it scores every document."""

    def train(self, documents: Path, output: Path, options: Any, seed: int, checkpoints: Path) -> None:
        """Learn the projection P_c(z|x) from the documents' train split, into the folder `output`.

        `checkpoints` is a folder of the critic's own that outlives a killed job; the next run goes on from there.
        """

    def fit_prior(self, documents: Path, inference: Path, output: Path, options: Any) -> None:
        """Fit the prior P_c(z) on the train split, into the folder `output`."""

    def score(self, latents: Path, prior: Path, output: Path, options: Any) -> None:
        """Score latents under the prior: columns of `SCORES`, and the critic's own."""

    def explain(self, evidence: Evidence, output: Path, options: Any) -> None:
        """Write the tables, figures and texts that show *why* the numbers are as they are, into the folder `output`."""

    def calibrate(self, process: Path, prior: Path, order: str, output: Path, seed: int) -> None:
        """Write what theory gives for a system of a simulated corpus: JSON with latent_ppl and basis.

        `process` is truth/process.json, `order` the system's; the control counts as "process".
        """


class EmpiricalCritic(Critic, Protocol):
    """A critic without a prior: it compares collections with each other."""

    def compare(self, pair: Pair, statistics: Path, evidence: Path, options: Any, resampling: "Resampling") -> None:
        """Write tidy statistics of a system against the control, and the folder `evidence` that shows why."""

    def learn_shared(self, latents: Sequence[Path], output: Path, options: Any, seed: int) -> None:
        """Learn what all comparisons share from the latents of all systems, into the folder `output`.

        Only for critics that have such an option; what they learn comes back as `Pair.inference`.
        """

    def difference_tests(self, statistics: "pd.DataFrame") -> "pd.DataFrame":
        """Those rows of its statistics that test whether a system differs from real text."""

    def overview(self, folder: Path, systems: list[str], statistics: "pd.DataFrame", output: Path) -> None:
        """Draw all systems of a corpus side by side, into the folder `output`; arguments as for `report_items`."""


@dataclass(frozen=True)
class ReportItem:
    """One thing that a critic contributes to the report.

    Attributes
    ----------
    name
        Name of its file in the tables or figures of the run, without suffix; unique in the critic.
    title
        Heading.
    caption
        Name of the caption in workflow/report, without suffix: how to read it.
    table
        A table, or None.
    figure
        Path of an SVG file, or None.
    documents
        Documents to read, with the probability of every transition, or None.
    warning
        A sentence that says why the critic's numbers cannot be trusted here, or None; it also stands by the headline.
    """

    name: str
    title: str
    caption: str
    table: "pd.DataFrame | None" = None
    figure: Path | None = None
    documents: list[dict[str, Any]] | None = None
    warning: str | None = None


def load(name: str) -> Any:
    """Import a critic by name: a `ScoringCritic`, or, where its name is in `EMPIRICAL`, an `EmpiricalCritic`."""
    if name not in CRITICS:
        raise MacroscopeError(f"there is no critic '{name}'{nearest(name, CRITICS)}")
    return importlib.import_module(CRITICS[name])


def options_model(name: str) -> type[Options]:
    """Return the options of a critic, without importing what the critic runs."""
    return importlib.import_module(f"{CRITICS[name]}.options").OPTIONS


def is_empirical(name: str) -> bool:
    """Tell whether a critic has no prior and compares collections."""
    return name in EMPIRICAL
