"""What a critic found on one corpus, and what it makes of it for the report."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.files import read_json
from macroscope.options import CONTROL
from macroscope.tables import read_csv

MOST_SYSTEMS = 12
"""Systems of which tables show texts, words or clusters; the evidence has them all."""


@dataclass(frozen=True)
class Findings:
    """Everything that the stages `overview` and `report` look at.

    Attributes
    ----------
    critic, corpus
        Names.
    folder
        critics/<critic>/<corpus> of the run; a stage may read there what it declares.
    systems
        Systems that were judged, the control first.
    statistics
        The critic's numbers on the corpus, with p_adjusted.
    options
        Of the critic.
    confidence
        Level of all intervals, between 0 and 1.
    figures
        Folder of the run's figures.
    perplexities
        Perplexities of the systems' own models on held-out text, where they have any: word_ppl, token_ppl, each with
        _low and _high; index: system.
    """

    critic: str
    corpus: str
    folder: Path
    systems: list[str]
    statistics: pd.DataFrame
    options: Any
    confidence: float
    figures: Path
    perplexities: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def candidates(self) -> list[str]:
        """Systems but for the control."""
        return [system for system in self.systems if system != CONTROL]

    def figure(self, name: str) -> Path:
        """Where a figure of this critic on this corpus is drawn, without suffix."""
        return self.figures / f"{self.critic}_{name}_{self.corpus}"

    def evidence(self, system: str, name: str) -> Path:
        """A file of a system's evidence."""
        return self.folder / "evidence" / system / name

    def latents(self, system: str) -> Path:
        """Latents of a system."""
        return self.folder / "latents" / f"{system}.parquet"

    def tables(
        self, name: str, most: int | None = None, control: bool = False, **options: Any
    ) -> Iterator[tuple[str, pd.DataFrame]]:
        """(system, CSV table of its evidence) of the first systems; of the control only where it is asked for.

        Parameters
        ----------
        name
            Of the file.
        most
            Number of systems besides the control; None: all.
        options
            Of `pandas.read_csv`.
        """
        for system in [*([CONTROL] if control else []), *self.candidates[:most]]:
            yield system, read_csv(self.evidence(system, name), **options)


@dataclass(frozen=True)
class ReportItem:
    """One thing that a critic contributes to the report.

    Attributes
    ----------
    name
        Name of its table and its place in the report; unique in the critic.
    title
        Heading.
    table
        A table, or None.
    figure
        Path of an SVG file, or None.
    documents
        Documents to read, with the probability of every transition, or None.
    passages
        Passages to read, each {title, pieces}, with groups of words in colours; a piece is {text, group (a number, or
        None), note, marked (whether it stands out), numbered (whether the group's number is shown, as it is by
        default)}; or None.
    caption
        Name of its caption in the critic's folder `captions`, without suffix: how to read it. Default: `name`.
    hidden
        Columns that stand in the table's CSV file alone, such as signatures.
    said
        Names in the table's CSV file -> what a reader of the page sees in their place.
    warning
        A sentence that says why the critic's numbers cannot be trusted here, or None; it also stands by the headline.
    unusable
        Whether, for that, the critic's numbers on the corpus are not in the headline.
    system
        The system that it is about alone; it stands on that system's page. "": about several, or none.
    shows_texts
        Whether its table, with a column `system`, shows texts, words or places in texts; a system's page has its rows.
    """

    name: str
    title: str
    table: pd.DataFrame | None = None
    figure: Path | None = None
    documents: list[dict[str, Any]] | None = None
    passages: list[dict[str, Any]] | None = None
    caption: str = ""
    hidden: tuple[str, ...] = ()
    said: Mapping[str, str] = field(default_factory=dict)
    warning: str | None = None
    unusable: bool = False
    system: str = ""
    shows_texts: bool = False

    @property
    def shown(self) -> pd.DataFrame | None:
        """The table without what is hidden, and in words."""
        return None if self.table is None else self.table.drop(columns=list(self.hidden)).replace(dict(self.said))


Report = Callable[[Findings], list[ReportItem]]
"""The stage `report`."""
Overview = Callable[[Findings], None]
"""The stage `overview`: draws all systems side by side, each figure where `Findings.figure` says."""


def passage_items(findings: Findings, title: str) -> list[ReportItem]:
    """Passages of each system that has any, as items of the report; their caption is "passages".

    Parameters
    ----------
    title
        With "{system}".
    """
    found = []
    for system in findings.systems[: MOST_SYSTEMS + 1]:
        passages = read_json(findings.evidence(system, "passages.json"))
        if passages:
            heading = title.format(system=system)
            found.append(ReportItem(f"passages_{system}", heading, passages=passages, caption="passages"))
    return found
