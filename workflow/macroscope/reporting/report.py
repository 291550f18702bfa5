"""The report: pages that open offline and explain how to read what they show."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from macroscope import __version__
from macroscope.critics import critic_named
from macroscope.critics.subsampling import MOST
from macroscope.files import CAPTIONS, atomic
from macroscope.reporting.chapters import (
    Chapter,
    Contributed,
    counts_chapter,
    critic_chapters,
    critic_page,
    human_chapters,
    pair_chapters,
    pairs_page,
    probability_chapters,
    training_chapter,
    truth_chapter,
)
from macroscope.reporting.data_sources import is_simulated
from macroscope.reporting.differences import in_words
from macroscope.reporting.headline import read_headline
from macroscope.reporting.html_blocks import Captions
from macroscope.reporting.links import system_page
from macroscope.reporting.pairs import judging_pairs, nearer_systems, pairs_of, read_pairs
from macroscope.reporting.results import Results, report_items
from macroscope.reporting.scorecard import NAMES, SIGNS, WARNING, Scorecard, answer, in_percent, percent, scorecards
from macroscope.reporting.system_pages import system_pages
from macroscope.reporting.tables import read_scorecard, read_statistics
from macroscope.tables import number

MOST_NAMED = 12
"""Systems that a sentence names; the picture has them all."""
PAGES = "pages"
"""Folder of all pages but the first, beside it."""


def write_report(
    config: Path,
    tables: Path,
    figures: Path,
    output: Path,
    pages: Path,
    times: Path | None = None,
    older: Sequence[str] = (),
) -> None:
    """Write the report of a run, HTML without references to anything outside of it.

    Parameters
    ----------
    config
        The effective config.
    tables, figures
        Folders that `write_tables` and `plot_figures` made.
    output
        The first page: the picture, and what stands out.
    pages
        Folder of the others: one a system, one a critic and corpus, and what was run; beside `output`, called `PAGES`.
    times
        Folder of the run's logs, where the benchmarks are; None: what took the time is not told.
    older
        "rule=number" of results that older code made, and that were accepted.
    """
    results = Results(config)
    captions = Captions(results)
    statistics, headline = read_statistics(tables), read_headline(tables)
    pairs = read_pairs(tables)
    contributed = [Contributed(some, report_items(some)) for some in results.findings(statistics, figures)]
    corpora = list(scorecards(read_scorecard(tables)))
    systems = [
        page
        for matrix in corpora
        for page in system_pages(results, matrix, contributed, statistics, headline, captions)
    ]
    chapters = [
        *truth_chapter(tables, captions),
        *critic_chapters(contributed, tables, figures, captions),
        *pair_chapters(results, tables, captions),
        *probability_chapters(results, figures, captions),
        *human_chapters(results, statistics, tables, figures, captions),
        *training_chapter(results, tables, figures, captions),
        counts_chapter(results, tables, times, captions),
    ]
    environment = _environment(results, chapters, corpora)
    with atomic(pages) as folder:
        folder.mkdir()
        for chapter in chapters:
            _write(environment, "chapter", folder / f"{chapter.page}.html", chapter=chapter)
        for page in systems:
            _write(environment, "system", folder / f"{page.page}.html", page=page)
        whole = yaml.safe_dump(results.plan.config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
        _write(environment, "config", folder / "config.html", config=whole)
    with atomic(output) as temporary:
        _write(
            environment,
            "report",
            temporary,
            scorecards=corpora,
            answer=answer(corpora) if corpora else "",
            simulated=[matrix.corpus for matrix in corpora if is_simulated(results, matrix.corpus)],
            pairs={matrix.corpus: list(pairs_of(pairs, matrix.corpus)) for matrix in corpora},
            systems={(page.corpus, page.system): page for page in systems},
            headline=headline.set_index(["corpus", "system"]),
            caption=captions.html("scorecard", most=MOST),
            caption_of_pairs=captions.html("nearer"),
            older=[tuple(entry.rsplit("=", 1)) for entry in older],
        )


def _environment(results: Results, chapters: Sequence[Chapter], corpora: Sequence[Scorecard]) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(CAPTIONS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "in_percent": in_percent, "in_words": in_words, "number": number}
    environment.tests["missing"] = pd.isna
    environment.globals |= {
        "run": results.plan.config.run,
        "version": __version__,
        "chapters": chapters,
        "systems_of": {matrix.corpus: matrix.systems for matrix in corpora},
        "matrix_of": {matrix.corpus: matrix for matrix in corpora},
        "several_corpora": len(results.corpora()) > 1,
        "most_named": MOST_NAMED,
        "margin": results.plan.config.statistics.margin,
        "signs": SIGNS,
        "warning_sign": WARNING,
        "names": NAMES,
        "system_page": system_page,
        "critic_page": critic_page,
        "pairs_page": pairs_page,
        "judging_pairs": judging_pairs,
        "nearer_systems": nearer_systems,
        "observes": lambda critic: critic_named(critic).data.observes,
    }
    return environment


def _write(environment: Environment, template: str, path: Path, **values: object) -> None:
    up = "" if template == "report" else "../"
    page = environment.get_template(f"{template}.html.jinja").render(
        up=up, pages=f"{PAGES}/" if template == "report" else "", **values
    )
    path.write_text(page, encoding="utf-8")
