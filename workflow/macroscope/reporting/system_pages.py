"""A page per system: its differences from real text, the largest first, and texts that show them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from macroscope.critics.findings import ReportItem
from macroscope.gaps import UNUSABLE, Gap
from macroscope.options import CONTROL, SPLIT_HALF
from macroscope.reporting.chapters import Contribution, critic_page
from macroscope.reporting.course import course_figure, course_table, describe_courses, find_course_gaps
from macroscope.reporting.differences import (
    Difference,
    differences_table,
    find_clearest,
    find_differences,
    sort_critics,
)
from macroscope.reporting.examples import Example, find_example
from macroscope.reporting.flags import Flags, flag_texts, read_keys
from macroscope.reporting.headline import SETTING, display_headline
from macroscope.reporting.html_blocks import Block, Captions, item_block, system_page
from macroscope.reporting.pages import html_table, inline_svg
from macroscope.reporting.scorecard import UNLIKE, Scorecard, Verdict
from macroscope.runs.results import Results
from macroscope.systems import kinds
from macroscope.systems.options import Description

MOST_DIFFERENCES = 8
"""Maximum number of differences per critic on a system's page; statistics.csv has all."""


@dataclass(frozen=True)
class Evaluation:
    """Evaluation of a system by a critic.

    Attributes
    ----------
    critic
        Name of the critic.
    page
        Name of the critic's page.
    cell
        Row of the scorecard table.
    differences
        Significant differences, the clearest first.
    numbers
        Critic's columns of the headline, as HTML.
    blocks
        Critic's blocks about the system's texts.
    """

    critic: str
    page: str
    cell: pd.Series
    differences: list[Difference]
    numbers: str
    blocks: list[Block]

    @property
    def differences_html(self) -> str:
        return html_table(differences_table(self.differences[:MOST_DIFFERENCES])) if self.differences else ""

    @property
    def clearest(self) -> Difference | None:
        """Return the clearest difference that two halves of real text do not have as well; None without any."""
        return find_clearest(self.differences)

    @property
    def n_hidden(self) -> int:
        return max(0, len(self.differences) - MOST_DIFFERENCES)


@dataclass(frozen=True)
class SystemPage:
    """The page of a system.

    Attributes
    ----------
    page
        Name of the file, without suffix.
    corpus, system
        Names of the corpus and the system.
    description
        Description of the system.
    evaluations
        Evaluations by the critics, the one with the highest detectability first.
    flags
        Critic -> flags of the system's texts.
    example
        Example document; None if no critic flags a text.
    course
        Curves of the critics along the texts; None if no critic has any.
    course_sentences
        Sentences about the curves that differ from those of real text.
    without_course
        Critics for which the texts are too short or too few to have curves.
    """

    page: str
    corpus: str
    system: str
    description: str
    evaluations: list[Evaluation]
    flags: Mapping[str, Flags]
    example: Example | None
    course: Block | None
    course_sentences: list[str]
    without_course: list[Gap]

    def critics_with_verdict(self, verdict: Verdict) -> list[str]:
        return [evaluation.critic for evaluation in self.evaluations if evaluation.cell["verdict"] == verdict]

    @property
    def with_differences(self) -> list[Evaluation]:
        """Return the evaluations of usable critics with a clear difference, the clearest first."""
        usable = {each.critic: each for each in self.evaluations if each.cell["verdict"] != UNUSABLE}
        clearest = {critic: each.clearest for critic, each in usable.items() if each.clearest is not None}
        return [usable[critic] for critic in sort_critics(clearest)]


def system_pages(
    results: Results,
    scorecard: Scorecard,
    contributions: Sequence[Contribution],
    statistics: pd.DataFrame,
    headline: pd.DataFrame,
    captions: Captions,
) -> Iterator[SystemPage]:
    """Yield the page of every system of a corpus, the worst system first."""
    corpus = scorecard.corpus
    items = {
        contribution.findings.critic: contribution.items
        for contribution in contributions
        if contribution.findings.corpus == corpus
    }
    real = read_keys(results, corpus, CONTROL)
    courses = course_table(statistics[statistics["corpus"] == corpus])
    for system, cells in scorecard.rows.items():
        if system == SPLIT_HALF:
            continue
        row = headline[(headline["corpus"] == corpus) & (headline["system"] == system)]
        evaluations = [
            Evaluation(
                critic,
                critic_page(critic, corpus),
                cell,
                find_differences(statistics, critic, corpus, system),
                html_table(display_headline(row, critic).drop(columns=["System", SETTING])),
                [*_blocks(items[critic], system, critic, corpus, captions)],
            )
            for critic, cell in sorted(cells.items(), key=_detectability_key)
        ]
        flags = flag_texts(results, corpus, system, real)
        usable = courses[~courses["critic"].isin(scorecard.critics_with_verdict(system, UNUSABLE))]
        yield SystemPage(
            system_page(corpus, system),
            corpus,
            system,
            describe_system(results.description(corpus, system)),
            evaluations,
            flags,
            choose_example(results, corpus, system, evaluations, flags),
            _show_course(results, corpus, system, captions),
            [each.sentence for each in describe_courses(usable, corpus, system)],
            find_course_gaps(statistics, corpus, system),
        )


def _show_course(results: Results, corpus: str, system: str, captions: Captions) -> Block | None:
    """Return the figure of the system's curves; None if no critic has any."""
    path = results.folder / "figures" / f"{course_figure(corpus, system)}.svg"
    if not path.exists():
        return None
    return Block("curves", "By tenth of the text", captions.html("course"), figure=inline_svg(path))


def describe_system(description: Description) -> str:
    """Describe a system in words: "language model, tiny-gpt2, W/ Title, ancestral"."""
    setting = "" if description.setting == description.kind else description.setting
    base = "" if setting.startswith(description.base) else description.base
    return ", ".join(filter(None, (kinds()[description.kind].data.label, base, setting, description.decoding)))


def choose_example(
    results: Results, corpus: str, system: str, evaluations: Sequence[Evaluation], flags: Mapping[str, Flags]
) -> Example | None:
    """Choose the example: by critics that find the system unlike real text, or else by other usable critics."""
    usable = [evaluation for evaluation in evaluations if evaluation.cell["verdict"] != UNUSABLE]
    unlike = [evaluation.critic for evaluation in usable if evaluation.cell["verdict"] == UNLIKE]
    others = [evaluation.critic for evaluation in usable if evaluation.cell["verdict"] != UNLIKE]
    return next(
        filter(None, (find_example(results, corpus, system, critics, flags) for critics in (unlike, others))), None
    )


def _detectability_key(item: tuple[str, pd.Series]) -> float:
    auc = item[1]["c2st_auc"]
    return -auc if np.isfinite(auc) else 0.0


def _blocks(items: Sequence[ReportItem], system: str, critic: str, corpus: str, captions: Captions) -> Iterator[Block]:
    """Yield the items with texts, words or marks of the system: those about it alone, and its rows of the others."""
    for item in items:
        if item.system == system:
            yield item_block(item, critic, corpus, captions, item.shown)
        elif item.shows_texts and item.shown is not None and "system" in item.shown:
            rows = item.shown[item.shown["system"] == system].drop(columns="system")
            if len(rows):
                yield item_block(item, critic, corpus, captions, rows)
