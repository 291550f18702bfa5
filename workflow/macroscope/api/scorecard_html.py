"""The scorecard as HTML for notebooks: a table with coloured verdicts, its legend, and remarks."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

import pandas as pd

from macroscope.colours import BLUE, GREEN, GREY, VERMILION
from macroscope.options import SPLIT_HALF
from macroscope.phrases import format_count
from macroscope.reporting.scorecard import EMPTY, INCONCLUSIVE, LIKE, UNLIKE, WARNING, Scorecard
from macroscope.reporting.scorecard_text import (
    AT_MATCHED_LENGTH,
    describe_empty_cells,
    format_noted_cell,
    readable_name,
    render_legend,
)

_COLOURS: dict[str, str] = {UNLIKE: VERMILION, LIKE: GREEN, INCONCLUSIVE: BLUE}
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
    tables = "".join(
        _table(scorecard, len(scorecards) > 1) + _paragraphs(describe_empty_cells(scorecard))
        for scorecard in scorecards
    )
    return tables + _paragraphs([render_legend(scorecards, margin), *remarks])


def _paragraphs(texts: Sequence[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def _table(scorecard: Scorecard, is_named: bool) -> str:
    heads = [f"{critic} {WARNING}" if critic in scorecard.warned else critic for critic in scorecard.critics]
    caption = f"<caption>{escape(scorecard.corpus)}</caption>" if is_named else ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("", *heads))
    rows = "".join(_rows(scorecard, system) for system in scorecard.rows)
    return f'<table class="macroscope">{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _rows(scorecard: Scorecard, system: str) -> str:
    """Return the row of a system, and below it the one at matched length if there is one."""
    colours = dict.fromkeys(_COLOURS, GREY) if system == SPLIT_HALF else _COLOURS
    named: dict[str, Mapping[str, pd.Series]] = {readable_name(system): scorecard.cells(system)}
    if matched := scorecard.at_matched_length(system):
        named[AT_MATCHED_LENGTH] = matched
    return "".join(f"<tr>{''.join(_row(scorecard, name, cells, colours))}</tr>" for name, cells in named.items())


def _row(scorecard: Scorecard, name: str, cells: Mapping[str, pd.Series], colours: Mapping[str, str]) -> Iterator[str]:
    yield f'<th scope="row">{escape(name)}</th>'
    for critic in scorecard.critics:
        if critic not in cells:
            yield "<td></td>"
            continue
        cell = cells[critic]
        colour, text = colours.get(cell["verdict"], GREY), escape(format_noted_cell(scorecard, cell))
        if cell["verdict"] in EMPTY:
            yield f'<td style="color: {colour}">{text}</td>'
            continue
        numbers = f"{format_count(round(cell['n_candidate']), 'text')} against {cell['n_reference']:,.0f}"
        yield f'<td title="{escape(numbers)}" style="color: {colour}">{text}</td>'
