"""The scorecard as HTML for notebooks: a table with coloured verdicts, its legend, and remarks."""

from collections.abc import Iterator, Sequence
from html import escape

from macroscope.colours import BLUE, GREEN, GREY, VERMILION
from macroscope.options import READABLE_NAMES, SPLIT_HALF
from macroscope.reporting.scorecard import INCONCLUSIVE, LIKE, UNLIKE, WARNING, Scorecard, format_cell
from macroscope.reporting.scorecard_text import render_legend

_COLOURS = {UNLIKE: VERMILION, LIKE: GREEN, INCONCLUSIVE: BLUE}
"""Verdict -> colour; the sign in the cell says the same."""


def render_html(scorecards: Sequence[Scorecard], margin: float, remarks: Sequence[str]) -> str:
    """Render scorecards as HTML, without scripts or external files.

    Parameters
    ----------
    margin
        Largest detectability above chance at which a text is like real text, for the legend.
    remarks
        Sentences below the table.
    """
    tables = "".join(_table(scorecard, len(scorecards) > 1) for scorecard in scorecards)
    return tables + "".join(f"<p>{escape(text)}</p>" for text in (render_legend(margin), *remarks))


def _table(scorecard: Scorecard, is_named: bool) -> str:
    heads = [f"{critic} {WARNING}" if critic in scorecard.warned else critic for critic in scorecard.critics]
    caption = f"<caption>{escape(scorecard.corpus)}</caption>" if is_named else ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("", *heads, *scorecard.failed))
    rows = "".join(f"<tr>{''.join(_row(scorecard, system))}</tr>" for system in scorecard.rows)
    return f'<table class="macroscope">{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _row(scorecard: Scorecard, system: str) -> Iterator[str]:
    yield f'<th scope="row">{escape(READABLE_NAMES.get(system, system))}</th>'
    cells = scorecard.rows[system]
    for critic in scorecard.critics:
        if critic not in cells:
            yield "<td></td>"
            continue
        cell = cells[critic]
        numbers = f"{cell['n_candidate']:.0f} texts against {cell['n_reference']:.0f}"
        colour = GREY if system == SPLIT_HALF else _COLOURS.get(cell["verdict"], GREY)
        yield f'<td title="{escape(numbers)}" style="color: {colour}">{escape(format_cell(cell))}</td>'
    for explanation in scorecard.failed.values():
        yield f'<td title="{escape(explanation)}" style="color: {GREY}">failed</td>'
