"""A page for every system: what is wrong with it, worst first, and the texts that show it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from macroscope.critics.findings import ReportItem
from macroscope.options import SPLIT_HALF
from macroscope.reporting.chapters import Contributed, critic_page
from macroscope.reporting.differences import Difference, differences_table, surest_differences
from macroscope.reporting.examples import WorstDocument, worst_document
from macroscope.reporting.headline import display_headline
from macroscope.reporting.html_blocks import Captions, Shown, html_table, item_block
from macroscope.reporting.links import system_page
from macroscope.reporting.results import Results
from macroscope.reporting.scorecard import NOT_USABLE, UNLIKE, Scorecard, Verdict
from macroscope.systems import kinds

MOST_DIFFERENCES = 8
"""Of a critic on a system's page; statistics.csv has them all."""


@dataclass(frozen=True)
class Judgement:
    """What a critic says of a system.

    Attributes
    ----------
    critic
        Name.
    page
        Name of the critic's page.
    cell
        Row of the picture.
    differences
        Tests that differ, the surest first.
    numbers
        The critic's columns of the headline, HTML.
    blocks
        What it shows of the system's texts.
    """

    critic: str
    page: str
    cell: pd.Series
    differences: list[Difference]
    numbers: str
    blocks: list[Shown]

    @property
    def differences_html(self) -> str:
        """The surest differences as a table."""
        return html_table(differences_table(self.differences[:MOST_DIFFERENCES])) if self.differences else ""

    @property
    def more(self) -> int:
        """How many differences are not shown."""
        return max(0, len(self.differences) - MOST_DIFFERENCES)


@dataclass(frozen=True)
class SystemPage:
    """A page.

    Attributes
    ----------
    page
        Name of its file, without suffix.
    corpus, system
        Names.
    about
        What the system is.
    judgements
        By critic, the one that tells its texts apart best first.
    worst
        The document to begin with; None where no critic blames any.
    """

    page: str
    corpus: str
    system: str
    about: str
    judgements: list[Judgement]
    worst: WorstDocument | None

    def judged(self, verdict: Verdict) -> list[str]:
        """Critics with a verdict."""
        return [some.critic for some in self.judgements if some.cell["verdict"] == verdict]

    @property
    def surest(self) -> list[Judgement]:
        """Critics that say in which respect the system differs."""
        return [some for some in self.judgements if some.differences and some.cell["verdict"] != NOT_USABLE]


def system_pages(
    results: Results,
    matrix: Scorecard,
    contributed: Sequence[Contributed],
    statistics: pd.DataFrame,
    headline: pd.DataFrame,
    captions: Captions,
) -> Iterator[SystemPage]:
    """A page for every system of a corpus, worst system first."""
    corpus = matrix.corpus
    items = {some.findings.critic: some.items for some in contributed if some.findings.corpus == corpus}
    for system, cells in matrix.rows.items():
        if system == SPLIT_HALF:
            continue
        row = headline[(headline["corpus"] == corpus) & (headline["system"] == system)]
        judgements = [
            Judgement(
                critic,
                critic_page(critic, corpus),
                cell,
                surest_differences(statistics, critic, corpus, system),
                html_table(display_headline(row, critic).drop(columns=["System", "Setting"])),
                [*_blocks(items[critic], system, critic, corpus, captions)],
            )
            for critic, cell in sorted(cells.items(), key=_worst_first)
        ]
        yield SystemPage(
            system_page(corpus, system),
            corpus,
            system,
            about(results, system),
            judgements,
            document_to_begin_with(results, corpus, system, judgements),
        )


def about(results: Results, system: str) -> str:
    """What a system is: "language model, tiny-gpt2, W/ Title, ancestral"."""
    found = results.plan.systems.all[system].description(results.plan.config)
    setting = "" if found.setting == found.kind else found.setting
    base = "" if setting.startswith(found.base) else found.base
    return ", ".join(filter(None, (kinds()[found.kind].data.label, base, setting, found.decoding)))


def document_to_begin_with(
    results: Results, corpus: str, system: str, judgements: Sequence[Judgement]
) -> WorstDocument | None:
    """The worst document: by critics that find the system unlike real text; by others where these have none."""
    usable = [some for some in judgements if some.cell["verdict"] != NOT_USABLE]
    unlike = [some.critic for some in usable if some.cell["verdict"] == UNLIKE]
    others = [some.critic for some in usable if some.cell["verdict"] != UNLIKE]
    return worst_document(results, corpus, system, unlike) or worst_document(results, corpus, system, others)


def _worst_first(judged: tuple[str, pd.Series]) -> float:
    apart = judged[1]["c2st_auc"]
    return -apart if np.isfinite(apart) else 0.0


def _blocks(items: Sequence[ReportItem], system: str, critic: str, corpus: str, captions: Captions) -> Iterator[Shown]:
    """Items that show texts, words or places of the system: those about it alone, and its rows of the others."""
    for item in items:
        if item.system == system:
            yield item_block(item, critic, corpus, captions, item.shown)
        elif item.shows_texts and item.shown is not None and "system" in item.shown:
            rows = item.shown[item.shown["system"] == system].drop(columns="system")
            if len(rows):
                yield item_block(item, critic, corpus, captions, rows)
