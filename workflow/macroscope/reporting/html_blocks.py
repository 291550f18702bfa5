"""HTML blocks of the report: a heading, a caption, and a table, a figure or texts."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib import import_module
from pathlib import Path
from urllib.parse import quote

import pandas as pd
from docutils.core import publish_parts
from jinja2 import Environment, StrictUndefined

from macroscope.critics import get_critic
from macroscope.critics.findings import ReportItem
from macroscope.errors import MacroscopeError, describe, is_own
from macroscope.files import CAPTIONS
from macroscope.reporting.pages import html_table, inline_svg
from macroscope.runs.results import Results

log = logging.getLogger("macroscope")


@dataclass(frozen=True)
class Block:
    """A block of the report.

    Attributes
    ----------
    anchor, title
        Anchor on the page and heading.
    caption
        Explanation in HTML; "" if an earlier block has it.
    table, figure
        Table in HTML and figure in SVG, or None.
    documents, passages
        Documents and passages to read, or None.
    warning
        Reason not to trust the numbers, or None.
    """

    anchor: str
    title: str
    caption: str
    table: str | None = None
    figure: str | None = None
    documents: list[dict[str, object]] | None = None
    passages: list[dict[str, object]] | None = None
    warning: str | None = None


def captions_of(package: str) -> Path:
    """Return the folder of a critic's captions."""
    folders = list(getattr(import_module(package), "__path__", ()))
    if len(folders) != 1:
        raise MacroscopeError(f"{package}: a critic is a package, whose folder has its captions; make it a folder")
    return Path(folders[0]) / "captions"


class Captions:
    """Captions from workflow/report/*.rst and the critics' folders, with the values of this run."""

    def __init__(self, results: Results) -> None:
        self.config = results.config
        self.values = {
            "confidence": f"{100 * self.config.statistics.confidence:g}",
            "margin": self.config.statistics.margin,
        }
        self.environment = Environment(undefined=StrictUndefined)

    def html(self, name: str, **values: object) -> str:
        """Render the caption `name` as HTML, with further values for its template."""
        return self._html(CAPTIONS / f"{name}.rst", values)

    def critic_html(self, critic: str, name: str) -> str:
        """Render the caption `name` of a critic as HTML, with the critic's `options`.

        A caption of another package that cannot be rendered is shown as it is written: it must not end a report.
        """
        package = get_critic(critic).package
        path, values = captions_of(package) / f"{name}.rst", {"options": self.config.critic(critic)}
        if is_own(package):
            return self._html(path, values)
        try:
            return self._html(path, values)
        except Exception as error:  # whatever another package's template may raise
            log.warning("%s: the caption is shown as it is written (%s)", path, describe(error))
            written = path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
            return f"<pre>{escape(written)}</pre>" if written else ""

    def _html(self, path: Path, values: Mapping[str, object]) -> str:
        text = self.environment.from_string(path.read_text(encoding="utf-8")).render({**self.values, **values})
        settings = {"halt_level": 2, "report_level": 2, "raw_enabled": False, "file_insertion_enabled": False}
        return publish_parts(text, writer="html5", settings_overrides=settings)["body"]


def item_block(item: ReportItem, critic: str, corpus: str, captions: Captions, table: pd.DataFrame | None) -> Block:
    """Return a critic's report item as a block; `table` may be a part of the item's table."""
    caption = item.caption or item.name
    return Block(
        anchor=f"{critic}-{item.name}-{corpus}",
        title=item.title,
        caption=captions.html(caption) if item.is_general else captions.critic_html(critic, caption),
        table=None if table is None else html_table(table),
        figure=None if item.figure is None else inline_svg(item.figure),
        documents=item.documents,
        passages=item.passages,
        warning=item.warning,
    )


def system_page(corpus: str, system: str) -> str:
    """Return the name of the page of a system on a corpus, in the folder of pages."""
    return f"system.{corpus.replace('.', '~')}.{system}"  # no name has "~"


def reader_address(corpus: str, system: str, document: str, critic: str, *, rising: bool) -> str:
    """Return the link to a document in the reader with a critic's marks, relative to the folder of the run.

    Parameters
    ----------
    corpus, system, document
        Names of the corpus and the system, and id of the document.
    critic
        Critic whose marks are shown and whose scores sort the list of documents.
    rising
        Whether documents with the smallest scores come first.
    """
    parts = "/".join(quote(part, safe="") for part in (corpus, system, document))
    return f"reader/index.html#{parts}?by={'-' if rising else ''}{quote(critic, safe='')}"
