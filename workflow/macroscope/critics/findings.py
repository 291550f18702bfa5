"""Findings of a critic on one corpus, and the items of the report that it makes of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.files import read_json
from macroscope.natural_language.languages import ENGLISH
from macroscope.options import CONTROL, READABLE_NAMES
from macroscope.tables import read_csv

MAX_SYSTEMS = 12
"""Largest number of systems whose texts, words or clusters are shown in tables; the evidence covers all."""


@dataclass(frozen=True)
class Findings:
    """Input of the stages `overview` and `report`.

    Attributes
    ----------
    critic, corpus
        Names of the critic and the corpus.
    folder
        Folder critics/<critic>/<corpus> of the run; a stage may read there the inputs that it declares.
    systems
        Names of the judged systems, the control first.
    statistics
        Tidy statistics of the critic on the corpus, with p_adjusted.
    options
        Options of the critic.
    confidence
        Level of all intervals, between 0 and 1.
    figures
        Folder of the run's figures.
    perplexities
        Perplexities of the systems' language models on held-out text, if they have one: word_ppl, token_ppl, each with
        _low and _high; index: system.
    language
        Language of the corpus.
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
    language: str = ENGLISH

    @property
    def candidates(self) -> list[str]:
        """Return the systems without the control."""
        return [system for system in self.systems if system != CONTROL]

    def figure(self, name: str) -> Path:
        """Return the path, without suffix, of a figure of this critic on this corpus."""
        return self.figures / f"{self.critic}_{name}_{self.corpus}"

    def svg(self, name: str) -> Path:
        """Return the path of a figure of this critic on this corpus."""
        return self.figures / f"{self.critic}_{name}_{self.corpus}.svg"

    def evidence(self, system: str, name: str) -> Path:
        """Return the path of a file of a system's evidence."""
        return self.folder / "evidence" / system / name

    def latents(self, system: str) -> Path:
        """Return the path of a system's latents."""
        return self.folder / "latents" / f"{system}.parquet"

    def tables(
        self, name: str, most: int | None = None, control: bool = False, **options: Any
    ) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield (system, CSV table of its evidence) for the first systems.

        Parameters
        ----------
        name
            Name of the file.
        most
            Largest number of systems besides the control; None: all.
        control
            Whether the control is included.
        options
            Keyword arguments of `pandas.read_csv`.
        """
        for system in [*([CONTROL] if control else []), *self.candidates[:most]]:
            yield system, read_csv(self.evidence(system, name), **options)

    def stack(
        self, name: str, show: Callable[[pd.DataFrame], pd.DataFrame], control: bool = False, **options: Any
    ) -> pd.DataFrame:
        """Stack what `show` makes of a table of each system's evidence, with the column `system` first; see `tables`.

        At most `MAX_SYSTEMS` are shown. Without systems, the table is empty.
        """
        tables = [
            show(table).assign(system=system) for system, table in self.tables(name, MAX_SYSTEMS, control, **options)
        ]
        if not tables:
            return pd.DataFrame()
        stacked = pd.concat(tables, ignore_index=True)
        return stacked[["system", *stacked.columns.drop("system")]]


@dataclass(frozen=True)
class ReportItem:
    """Item of the report: a table, a figure, or texts, with a caption.

    Attributes
    ----------
    name
        Name of the item's table and of its anchor in the report; unique in the critic.
    title
        Heading of the item.
    table
        Table, or None.
    figure
        Path of an SVG file, or None.
    documents
        Documents to read, with the probability of every transition, or None.
    passages
        Passages to read, each {title, pieces}, with groups of words in colours; a piece is {text, group (a number, or
        None), note, marked (whether it is highlighted), numbered (whether the group's number is shown; default: yes)};
        or None.
    caption
        Name of the caption in the critic's folder `captions`, without suffix. Default: `name`.
    hidden
        Names of the columns that only the table's CSV file has, such as signatures.
    labels
        Values in the table's CSV file -> their labels on the page.
    warning
        Sentence with the reason why the critic's numbers are not reliable here, or None; also shown in the headline.
    unusable
        Whether the critic's numbers on the corpus are left out of the headline for that reason.
    unusable_systems
        System whose numbers are left out of the headline -> the reason, as a sentence.
    system
        Name of the system whose page shows the item, if it is about a single system; otherwise "".
    is_general
        Whether the caption is one of workflow/report/, and not the critic's own.
    shows_texts
        Whether the table, with a column `system`, shows texts, words or spans of texts; a system's page has its rows.
    """

    name: str
    title: str
    table: pd.DataFrame | None = None
    figure: Path | None = None
    documents: list[dict[str, Any]] | None = None
    passages: list[dict[str, Any]] | None = None
    caption: str = ""
    hidden: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    warning: str | None = None
    unusable: bool = False
    unusable_systems: Mapping[str, str] = field(default_factory=dict)
    system: str = ""
    is_general: bool = False
    shows_texts: bool = False

    @property
    def shown(self) -> pd.DataFrame | None:
        """Return the table without hidden columns and with labels in place of values and of kept names of systems."""
        if self.table is None:
            return None
        shown = self.table.drop(columns=list(self.hidden)).replace(dict(self.labels))
        return shown.assign(system=shown["system"].replace(READABLE_NAMES)) if "system" in shown else shown


def passage_items(findings: Findings, title: str) -> list[ReportItem]:
    """Return the passages of each system that has any, as items of the report with the caption "passages".

    Parameters
    ----------
    title
        Heading of an item, with the placeholder "{system}".
    """
    items = []
    for system in findings.systems[: MAX_SYSTEMS + 1]:
        passages = read_json(findings.evidence(system, "passages.json"))
        if passages:
            heading = title.format(system=READABLE_NAMES.get(system, system))
            items.append(ReportItem(f"passages_{system}", heading, passages=passages, caption="passages"))
    return items
