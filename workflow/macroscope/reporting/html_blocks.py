"""Blocks of the report: a heading, how to read it, and a table, a figure or texts; all of it HTML."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from docutils.core import publish_parts
from jinja2 import Environment, StrictUndefined

from macroscope.critics import critic_named
from macroscope.critics.declaration import captions_of
from macroscope.critics.findings import ReportItem
from macroscope.files import CAPTIONS
from macroscope.reporting.results import Results
from macroscope.tables import significant

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
        HTML: how to read it; "" where an earlier block says so.
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


class Captions:
    """Captions from workflow/report/*.rst and the critics' folders, with this run's values filled in."""

    def __init__(self, results: Results) -> None:
        self.config = results.plan.config
        self.values = {
            "confidence": f"{100 * self.config.statistics.confidence:g}",
            "margin": self.config.statistics.margin,
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
            if pd.isna(value):
                return "–"
            return f"{value:,.0f}" if value.is_integer() and abs(value) > 99 else significant(f"{value:.4g}")
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
    return "long" if shown.map(len).max() > LONG_TEXT else ""


def _with_classes(row: str, classes: list[str]) -> str:
    """Give the cells of a table row the classes of their columns."""
    cells = iter(classes)
    return re.sub(r"<t([dh])>", lambda cell: f"<t{cell[1]} class={name}>" if (name := next(cells)) else cell[0], row)


def item_block(item: ReportItem, critic: str, corpus: str, captions: Captions, table: pd.DataFrame | None) -> Shown:
    """What a critic contributes, as a block; its table may be a part of it."""
    return Shown(
        anchor=f"{critic}-{item.name}-{corpus}",
        title=item.title,
        caption=captions.of_critic(critic, item.caption or item.name),
        table=None if table is None else html_table(table),
        figure=None if item.figure is None else inline_svg(item.figure),
        documents=item.documents,
        passages=item.passages,
        warning=item.warning,
    )
