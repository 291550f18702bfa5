"""The HTML report of a run: offline pages with explanations of what they show."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment

from macroscope.critics import get_critic
from macroscope.critics.features import MAX_DOCUMENTS
from macroscope.critics.findings import ReportItem
from macroscope.files import atomic
from macroscope.gaps import ADVICE, read_missing
from macroscope.options import READABLE_NAMES
from macroscope.reporting.by_label import show_labels
from macroscope.reporting.chapters import (
    Chapter,
    Contribution,
    counts_chapter,
    critic_chapters,
    critic_page,
    human_chapters,
    missing_chapters,
    pair_chapters,
    pairs_page,
    probability_chapters,
    training_chapter,
    truth_chapter,
)
from macroscope.reporting.critic_stages import read_findings, report_items
from macroscope.reporting.differences import describe_difference, judge_difference
from macroscope.reporting.evidence import Evidence, find_evidence
from macroscope.reporting.headline import read_headline
from macroscope.reporting.html_blocks import Captions, system_page
from macroscope.reporting.matched_length import describe_lengths, read_matched_lengths
from macroscope.reporting.pages import html_table, make_environment
from macroscope.reporting.pairs import closer_systems, comparing_critics, pairs_of, read_pairs
from macroscope.reporting.reasons import describe_reasons, read_reasons
from macroscope.reporting.scorecard import (
    EMPTY,
    SIGNS,
    TOO_FEW_TO_SAY,
    UNLIKE,
    WARNING,
    Scorecard,
    build_scorecards,
    read_scorecard,
)
from macroscope.reporting.scorecard_text import shown_verdicts
from macroscope.reporting.sensitivity_summary import cite_sensitivity
from macroscope.reporting.summary import summarise_corpora
from macroscope.reporting.system_pages import system_pages
from macroscope.reporting.tables import is_simulated
from macroscope.runs.results import Results, read_statistics
from macroscope.statistics.by_label import FEWEST
from macroscope.statistics.conformal import FALSE_FLAGS

MOST_NAMED = 12
"""Maximum number of systems named in a sentence; the scorecard lists all."""
PAGES = "pages"
"""Name of the folder of all pages except the first, beside the first page."""


def write_report(
    config: Path,
    contents: Path,
    tables: Path,
    figures: Path,
    output: Path,
    pages: Path,
    logs: Path | None = None,
) -> None:
    """Write the report of a run as HTML without external references.

    Parameters
    ----------
    config, contents
        Effective config and contents of the run.
    tables, figures
        Folders written by `write_tables` and `plot_figures`.
    output
        First page: the scorecard and the main findings.
    pages
        Folder of the other pages: one per system, one per critic and corpus, and the config; beside `output`, called
        `PAGES`.
    logs
        Folder of the run's logs with the benchmarks; None: running times are left out.
    """
    results = Results(config, contents)
    missing = read_missing(tables, figures)
    captions = Captions(results)
    statistics, headline = read_statistics(tables), read_headline(tables)
    contributions = [
        Contribution(findings, [_with_figure(item) for item in report_items(findings)[0]])
        for findings in read_findings(results, statistics, figures)
    ]
    scorecards = list(build_scorecards(read_scorecard(tables)))
    systems = [
        page
        for scorecard in scorecards
        for page in system_pages(results, scorecard, contributions, statistics, headline, captions)
    ]
    chapters = [
        *truth_chapter(tables, captions),
        *critic_chapters(contributions, tables, figures, captions),
        *missing_chapters(missing),
        *pair_chapters(results, tables, captions),
        *probability_chapters(results, figures, captions),
        *human_chapters(results, statistics, tables, figures, captions),
        *training_chapter(results, tables, figures, captions),
        counts_chapter(results, tables, logs, captions),
    ]
    environment = _environment(results, chapters, scorecards)
    environment.globals["reasons"] = describe_reasons(read_reasons(tables))
    environment.globals["labels"] = {
        key: (view, html_table(view.table.rename_axis(view.by).reset_index()))
        for key, view in show_labels(results, statistics, tables).items()
    }
    environment.globals["caption_of_labels"] = captions.html("by_label", fewest=FEWEST)
    with atomic(pages) as folder:
        folder.mkdir()
        for chapter in chapters:
            _write(environment, "chapter", folder / f"{chapter.page}.html", chapter=chapter)
        for page in systems:
            _write(environment, "system", folder / f"{page.page}.html", page=page)
        dumped = yaml.safe_dump(results.config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
        _write(environment, "config", folder / "config.html", config=dumped)
    first_page = {
        **_describe_scorecards(results, scorecards, tables, captions),
        "answers": summarise_corpora(results, read_scorecard(tables), statistics),
        "systems": {(page.corpus, page.system): page for page in systems},
        "headline": headline.set_index(["corpus", "system"]),
        "missing": missing,
        "advice": ADVICE,
    }
    with atomic(output) as temporary:
        _write(environment, "report", temporary, **first_page)


def _describe_scorecards(
    results: Results, scorecards: Sequence[Scorecard], tables: Path, captions: Captions
) -> dict[str, Any]:
    """Return the values of the first page's template that are about the scorecards."""
    pairs = read_pairs(tables)
    corpora = [scorecard.corpus for scorecard in scorecards]
    return {
        "scorecards": scorecards,
        "verdicts": shown_verdicts(scorecards),
        "cut_texts": results.config.cut_texts,
        "simulated_corpora": [corpus for corpus in corpora if is_simulated(results, corpus)],
        "pairs": {corpus: list(pairs_of(pairs, corpus)) for corpus in corpora},
        "caption": captions.html("scorecard", most=MAX_DOCUMENTS),
        "lengths": {corpus: _describe_lengths(results, tables, corpus) for corpus in corpora},
        "caption_of_lengths": captions.html("matched_length"),
        "evidence": {scorecard.corpus: _find_evidence(results, scorecard) for scorecard in scorecards},
        "cited": {corpus: _cite_sensitivity(results, tables, corpus) for corpus in corpora},
        "caption_of_pairs": captions.html("closer_systems"),
    }


def _with_figure(item: ReportItem) -> ReportItem:
    """Return an item without its figure, and with a warning, if the figure was not plotted."""
    if item.figure is None or item.figure.exists():
        return item
    return replace(item, figure=None, warning=item.warning or "The figure was not plotted.")


def _describe_lengths(results: Results, tables: Path, corpus: str) -> list[str]:
    """Return sentences about comparisons at matched length on a corpus; none if there are none."""
    table = read_matched_lengths(tables)
    table = table[table["corpus"] == corpus]
    config, gaps = results.config, results.unmatched
    unmatched = [gap for gap in gaps if gap.corpus == corpus and not config.lacks(corpus, critic=gap.critic)]
    return describe_lengths(table, read_scorecard(tables), unmatched)


def _find_evidence(results: Results, scorecard: Scorecard) -> tuple[str, Evidence] | None:
    """Return the candidate that is least like real text, and marked sentences of it; None without them."""
    system = next((name for name in scorecard.candidates if scorecard.overall_verdict(name) == UNLIKE), None)
    if system is None:
        return None
    evidence = find_evidence(results, scorecard.corpus, system, scorecard.critics_with_verdict(system, UNLIKE))
    return None if evidence is None else (system, evidence)


def _cite_sensitivity(results: Results, tables: Path, corpus: str) -> list[str]:
    """Return sentences about what critics would have found on a corpus; none if the config cites no matrix."""
    cells = read_scorecard(tables)
    return cite_sensitivity(results.config.cited_sensitivity, cells[cells["corpus"] == corpus])


def _environment(results: Results, chapters: Sequence[Chapter], scorecards: Sequence[Scorecard]) -> Environment:
    environment = make_environment()
    environment.filters |= {
        "describe": describe_difference,
        "judge": judge_difference,
        "unbroken": lambda text: text.replace(" %", "\u00a0%"),
        "place": lambda auc: max(0.0, 2 * auc - 1),
    }
    environment.globals |= {
        "run": results.config.run,
        "chapters": chapters,
        "systems_of": {scorecard.corpus: scorecard.systems for scorecard in scorecards},
        "scorecard_of": {scorecard.corpus: scorecard for scorecard in scorecards},
        "several_corpora": len(results.contents.corpora) > 1,
        "most_named": MOST_NAMED,
        "false_flags": FALSE_FLAGS,
        "confidence": f"{100 * results.config.statistics.confidence:g}",
        "margin": results.config.statistics.margin,
        "signs": SIGNS,
        "empty": EMPTY,
        "too_few_to_say": TOO_FEW_TO_SAY,
        "warning_sign": WARNING,
        "names": READABLE_NAMES,
        "system_page": system_page,
        "critic_page": critic_page,
        "pairs_page": pairs_page,
        "comparing_critics": comparing_critics,
        "closer_systems": closer_systems,
        "observes": lambda critic: get_critic(critic).data.observes,
        "folds": results.contents.folds.__getitem__,
    }
    return environment


def _write(environment: Environment, template: str, path: Path, **values: object) -> None:
    up = "" if template == "report" else "../"
    page = environment.get_template(f"{template}.html.jinja").render(
        up=up, pages=f"{PAGES}/" if template == "report" else "", **values
    )
    path.write_text(page, encoding="utf-8")
