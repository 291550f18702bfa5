"""The report: one page that opens offline and explains how to read what it shows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import yaml
from docutils.core import publish_parts
from jinja2 import Environment, StrictUndefined

from macroscope import __version__
from macroscope.critics import critic_named
from macroscope.critics.declaration import captions_of
from macroscope.critics.findings import ReportItem
from macroscope.files import atomic
from macroscope.paths import CAPTIONS
from macroscope.reporting.headline import display_headline, latent_measure, read_headline
from macroscope.reporting.human import (
    correlations_of,
    display_correlations,
    display_scores,
    display_undefined,
    judged_by_people,
    only,
    quality_measures,
    read_correlations,
)
from macroscope.reporting.results import Results, report_items
from macroscope.reporting.tables import display_known_truth, read_statistics
from macroscope.reporting.times import times_by_rule
from macroscope.tables import read_csv

TEMPLATE = CAPTIONS / "report.html.jinja"
LONG_TEXT = 80
"""Characters beyond which a cell's text may take several lines."""


@dataclass(frozen=True)
class Shown:
    """A block of the report.

    Attributes
    ----------
    anchor, title
        Place and heading.
    caption
        HTML: how to read it.
    table, figure
        HTML of a table, SVG of a figure, or None.
    documents, passages
        Documents or passages to read, or None.
    warning
        Why the numbers cannot be trusted, or None.
    """

    anchor: str
    title: str
    caption: str
    table: str | None = None
    figure: str | None = None
    documents: list[dict[str, object]] | None = None
    passages: list[dict[str, object]] | None = None
    warning: str | None = None


def write_report(
    config: Path, tables: Path, figures: Path, output: Path, times: Path | None = None, older: Sequence[str] = ()
) -> None:
    """Write the report of a run as one HTML file without references to anything outside it.

    Parameters
    ----------
    config
        The effective config.
    tables, figures
        Folders that `write_tables` and `draw_figures` made.
    times
        Folder of the run's logs, where the benchmarks are; None: what took the time is not told.
    older
        "rule=number" of results that older code made, and that were accepted.
    """
    results = Results(config)
    captions = Captions(results)
    statistics = read_statistics(tables)
    chapters = _chapters(results, statistics, figures, captions)
    chapters += _probability_chapters(results, figures, captions)
    chapters += _human_chapters(results, statistics, tables, figures, captions)
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page = environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        run=results.plan.config.run,
        version=__version__,
        headline=_headline(tables, captions),
        chapters=chapters,
        warnings=[(title, block) for title, blocks in chapters for block in blocks if block.warning],
        training=_training(results, tables, figures, captions),
        look=_look(results.plan.config.look, captions),
        corpora=_table("corpora", "The corpora", tables / "corpora.csv", captions),
        older=[tuple(entry.rsplit("=", 1)) for entry in older],
        times=_times(times, captions),
        dropped=_table("dropped", "What was dropped, and why", tables / "dropped.csv", captions),
        known_truth=_known_truth(tables, captions),
        config=yaml.safe_dump(results.plan.config.model_dump(mode="json"), sort_keys=False, allow_unicode=True),
    )
    with atomic(output) as temporary:
        temporary.write_text(page, encoding="utf-8")


class Captions:
    """Captions from workflow/report/*.rst and the critics' folders, with this run's values filled in."""

    def __init__(self, results: Results) -> None:
        self.config = results.plan.config
        self.values = {
            "confidence": f"{100 * self.config.statistics.confidence:g}",
        }
        self.environment = Environment(undefined=StrictUndefined)

    def html(self, name: str, **values: object) -> str:
        """Caption `name` as HTML, with further values of the block that it stands at."""
        return self._html(CAPTIONS / f"{name}.rst", values)

    def of_critic(self, critic: str, name: str) -> str:
        """Caption `name` of a critic as HTML; it knows the critic's `options`."""
        return self._html(
            captions_of(critic_named(critic).package) / f"{name}.rst", {"options": self.config.critic(critic)}
        )

    def _html(self, path: Path, values: Mapping[str, object]) -> str:
        text = self.environment.from_string(path.read_text(encoding="utf-8")).render({**self.values, **values})
        settings = {"halt_level": 2, "report_level": 2, "raw_enabled": False, "file_insertion_enabled": False}
        return publish_parts(text, writer="html5", settings_overrides=settings)["body"]


def inline_svg(path: Path) -> str:
    """Return the <svg> element of a file, its ids made unique so that several can stand on one page."""
    svg = path.read_text(encoding="utf-8")
    svg = svg[svg.index("<svg") :]
    prefix = re.sub(r"[^A-Za-z0-9]+", "-", path.stem + "-" + path.parent.name)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    svg = re.sub(r'(href="#|url\(#)([^")]+)', rf"\1{prefix}-\2", svg)
    return re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)


def html_table(table: pd.DataFrame) -> str:
    """Return a table as HTML: numbers right-aligned, with four significant digits; long texts in several lines."""

    def cell(value: object) -> str:
        if isinstance(value, float):
            return (
                "–" if pd.isna(value) else f"{value:,.0f}" if value.is_integer() and abs(value) > 99 else f"{value:.4g}"
            )
        return str(value)

    shown = table.copy()
    for column in shown:
        shown[column] = [cell(value) for value in table[column].tolist()]
    classes = [_cell_class(table[column], shown[column]) for column in table]
    shown.columns = [str(name).replace("_", " ") for name in shown.columns]
    html = shown.to_html(index=False, border=0, classes="data", escape=True, na_rep="")
    rows = html.split("<tr")
    return "<tr".join([rows[0], *(_with_classes(row, classes) for row in rows[1:])])


def _cell_class(values: pd.Series, shown: pd.Series) -> str:
    """CSS class of a column."""
    if pd.api.types.is_numeric_dtype(values):
        return "num"
    return "long" if shown.str.len().max() > LONG_TEXT else ""


def _with_classes(row: str, classes: list[str]) -> str:
    """Give the cells of a table row the classes of their columns."""
    cells = iter(classes)
    return re.sub(r"<t([dh])>", lambda cell: f"<t{cell[1]} class={name}>" if (name := next(cells)) else cell[0], row)


def _headline(tables: Path, captions: Captions) -> Shown:
    table = display_headline(read_headline(tables))
    columns = {str(name).partition(" (")[0] for name in table}
    return Shown("headline", "Headline", captions.html("headline", columns=columns), html_table(table))


def _chapters(
    results: Results, statistics: pd.DataFrame, figures: Path, captions: Captions
) -> list[tuple[str, list[Shown]]]:
    """Return (title, blocks) of every critic on every corpus: the general figures first, then the critic's own."""
    chapters = []
    for findings in results.findings(statistics, figures):
        critic, corpus = findings.critic, findings.corpus
        general = [
            Shown(f"{name}-{critic}-{corpus}", title, captions.html(name), figure=inline_svg(path))
            for name, title in (
                ("latent", f"{latent_measure(critic).title} of every system"),
                ("perplexity", "Good words, good structure?"),
            )
            if (path := figures / f"{name}_{critic}_{corpus}.svg").exists()
        ]
        own = [_shown(item, critic, corpus, captions) for item in report_items(findings)]
        chapters.append((f"{critic} on {corpus}", [*general, *own]))
    return chapters


def _probability_chapters(results: Results, figures: Path, captions: Captions) -> list[tuple[str, list[Shown]]]:
    """Return (title, blocks) of every corpus with systems whose own probabilities are known."""
    title, caption = "Estimated against true probabilities", captions.html("probabilities")
    chapters = []
    for corpus in dict.fromkeys(corpus for corpus, _ in results.plan.critics.known_log_q()):
        name = f"probabilities_{corpus}"
        figure = inline_svg(figures / f"{name}.svg")
        chapters.append((f"probabilities on {corpus}", [Shown(name, title, caption, figure=figure)]))
    return chapters


def _human_chapters(
    results: Results, statistics: pd.DataFrame, tables: Path, figures: Path, captions: Captions
) -> list[tuple[str, list[Shown]]]:
    """Return (title, blocks) of every table of human judgements: figure, numbers, who was scored, what is undefined."""
    correlations, measures = read_correlations(tables), quality_measures(statistics)
    chapters = []
    for judged in judged_by_people(results):
        rows, stem = correlations_of(correlations, judged), judged.stem
        shown, undefined = display_correlations(only(rows, measures)), display_undefined(rows)
        about = {"judgements": judged.judgements, "seeds": rows["seeds"].max(), "real_text": judged.options.real_text}
        blocks = []
        if len(shown):
            figure = inline_svg(figures / f"{stem}.svg")
            caption = captions.html("human_figure", **about)
            blocks.append(Shown(f"{stem}-figure", "Which statistics agree with people", caption, figure=figure))
            caption = captions.html("human_correlations", **about)
            blocks.append(Shown(stem, "Correlations, in numbers", caption, html_table(shown)))
        caption = captions.html("human_scores", **about)
        blocks.append(Shown(f"{stem}-scores", "Who was scored", caption, html_table(display_scores(judged))))
        if len(undefined):
            caption = captions.html("human_undefined", **about)
            blocks.append(
                Shown(f"{stem}-undefined", "What has no correlation, and why", caption, html_table(undefined))
            )
        chapters.append((f"human judgement: {judged.title}", blocks))
    return chapters


def _shown(item: ReportItem, critic: str, corpus: str, captions: Captions) -> Shown:
    return Shown(
        anchor=f"{critic}-{item.name}-{corpus}",
        title=item.title,
        caption=captions.of_critic(critic, item.caption or item.name),
        table=None if item.shown is None else html_table(item.shown),
        figure=None if item.figure is None else inline_svg(item.figure),
        documents=item.documents,
        passages=item.passages,
        warning=item.warning,
    )


def _training(results: Results, tables: Path, figures: Path, captions: Captions) -> list[Shown]:
    """Sizes and perplexities of the language models, then their training curves."""
    if not results.language_models() and not results.measured_systems():
        return []
    return [
        _table("models", "The models", tables / "models.csv", captions),
        *(
            Shown(
                f"training-{corpus}-{system}",
                f"Training of {system} on {corpus}",
                captions.html("training"),
                figure=inline_svg(figures / f"training_{corpus}_{system}.svg"),
            )
            for corpus, system in results.trained_models()
        ),
    ]


def _times(logs: Path | None, captions: Captions) -> Shown | None:
    """What took the time, by rule."""
    times = times_by_rule(logs) if logs is not None and logs.exists() else pd.DataFrame()
    if times.empty:
        return None
    names = {"seconds": "seconds in all", "longest": "longest, s", "cpu_seconds": "CPU, s", "megabytes": "memory, MB"}
    shown = times.round().rename(columns=names).rename_axis("rule").reset_index()
    return Shown("times", "What took the time", captions.html("times"), html_table(shown))


def _look(path: str | None, captions: Captions) -> Shown | None:
    return None if path is None else _table("look", "A first look at the texts", Path(path), captions)


def _table(name: str, title: str, path: Path, captions: Captions) -> Shown:
    return Shown(name, title, captions.html(name), html_table(read_csv(path, keep_default_na=False, na_values=["nan"])))


def _known_truth(tables: Path, captions: Captions) -> Shown | None:
    path = tables / "known_truth.csv"
    if not path.exists():
        return None
    table = html_table(display_known_truth(read_csv(path)))
    return Shown("known_truth", "Estimated against known truth", captions.html("known_truth"), table)
