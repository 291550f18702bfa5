"""The scorecard as text for a terminal and as HTML for a notebook, with a legend of its signs."""

from collections.abc import Mapping, Sequence
from textwrap import fill

import pandas as pd

from macroscope.colours import BLUE, GREEN, GREY, VERMILION
from macroscope.options import READABLE_NAMES, SPLIT_HALF
from macroscope.phrases import format_count
from macroscope.reporting.pages import render_page
from macroscope.reporting.scorecard import (
    EMPTY,
    INCONCLUSIVE,
    LIKE,
    SIGNS,
    UNLIKE,
    WARNING,
    Scorecard,
    Verdict,
    format_cell,
)

_WIDTH = 110
COLOURS: dict[str, str] = {UNLIKE: VERMILION, LIKE: GREEN, INCONCLUSIVE: BLUE}
"""Verdict -> colour; the sign in the cell says the same."""
AT_MATCHED_LENGTH = "at matched length"
"""Title of the row below a system's with its numbers at matched length."""


def shown_verdicts(scorecards: Sequence[Scorecard]) -> set[Verdict]:
    """Return the verdicts in the cells of systems, those at matched length included."""
    return {
        cell["verdict"]
        for scorecard in scorecards
        for system in scorecard.systems
        for cells in (scorecard.rows[system], scorecard.at_matched_length(system))
        for cell in cells.values()
    }


def render_scorecards(scorecards: Sequence[Scorecard]) -> str:
    """Render scorecards as text for a terminal, a block per corpus; see `render_legend` for the signs.

    Below a system stand its numbers at matched length, if it has any. Critics without any number have no column: a
    terminal is narrow. Below the table they are named, and notes say why cells have no number.
    """
    blocks = []
    for scorecard in scorecards:
        heads = {
            critic: f"{critic} {WARNING}" if critic in scorecard.warned else critic for critic in scorecard.critics
        }
        rows = []
        for heading, systems in scorecard.groups:
            rows += [{"": heading.partition(":")[0] + ":"}] if heading else []
            for system in systems:
                rows.append(_render_row(scorecard, readable_name(system), scorecard.cells(system), heads))
                if matched := scorecard.at_matched_length(system):
                    rows.append(_render_row(scorecard, AT_MATCHED_LENGTH, matched, heads))
        block = pd.DataFrame(rows, columns=["", *heads.values()]).fillna("")
        with pd.option_context("display.unicode.east_asian_width", True):
            text = block.to_string(index=False)
        heading = f"{scorecard.corpus}\n" if len(scorecards) > 1 else ""
        notes = describe_empty_cells(scorecard)
        blocks.append(heading + "\n".join([text, *([""] if notes else []), *notes]))
    return "\n\n".join(blocks)


def _render_row(
    scorecard: Scorecard, title: str, cells: Mapping[str, pd.Series], heads: Mapping[str, str]
) -> dict[str, str]:
    return {"": title} | {
        head: format_noted_cell(scorecard, cells[critic]) for critic, head in heads.items() if critic in cells
    }


def format_noted_cell(scorecard: Scorecard, cell: pd.Series) -> str:
    """Format a cell with the number of the note that explains it, if it has one: "– not usable (2)"."""
    number = scorecard.note(cell)
    return format_cell(cell) if number is None else f"{format_cell(cell)} ({number})"


def describe_empty_cells(scorecard: Scorecard) -> list[str]:
    """Return the notes on cells without a number, and before them a line about the critics that have no number."""
    lines = []
    if critics := scorecard.critics_without_numbers:
        first = [next(cells[critic] for cells in scorecard.empty.values() if critic in cells) for critic in critics]
        named = (f"{cell['critic']}, {format_noted_cell(scorecard, cell)}" for cell in first)
        lines.append(f"Critics without numbers: {'; '.join(named)}.")
    return [*lines, *(f"({number}) {text}" for text, number in scorecard.notes.items())]


def readable_name(system: str) -> str:
    """Return the name of a system for readers."""
    return READABLE_NAMES.get(system, system)


def render_legend(scorecards: Sequence[Scorecard], margin: float) -> str:
    """Explain the numbers of the scorecards, and those signs that they have."""
    verdicts = shown_verdicts(scorecards)
    signs = [
        f"{SIGNS[verdict]} {meaning}"
        for verdict, meaning in (
            (UNLIKE, "unlike real text"),
            (LIKE, f"like real text, at most {100 * margin:g} points above chance"),
            (INCONCLUSIVE, "inconclusive: too few texts"),
        )
        if verdict in verdicts
    ]
    if any(scorecard.warned for scorecard in scorecards):
        signs.append(f"{WARNING} the critic has a warning")
    if any(scorecard.has_wrapped for scorecard in scorecards):
        signs.append(f"{WARNING} after a number: more than structure gives the texts away")
    sentences = [
        "Detectability: how often a classifier with the critic's features tells the system's text from a real one;"
        " 50 % is chance.",
        *([f"{'; '.join(signs)}."] if signs else []),
    ]
    return fill(" ".join(sentences), _WIDTH)


def render_html(scorecards: Sequence[Scorecard], margin: float, remarks: Sequence[str]) -> str:
    """Render scorecards as HTML, without scripts or external files.

    Parameters
    ----------
    margin
        Largest detectability above chance at which a text is like real text, for the legend.
    remarks
        Sentences below the table.
    """
    return render_page(
        "notebook",
        scorecards=scorecards,
        sentences=[render_legend(scorecards, margin), *remarks],
        at_matched_length=AT_MATCHED_LENGTH,
        empty=EMPTY,
        warning_sign=WARNING,
        colour=lambda system, verdict: GREY if system == SPLIT_HALF else COLOURS.get(verdict, GREY),
        format_count=format_count,
        noted=format_noted_cell,
        notes=describe_empty_cells,
        readable_name=readable_name,
    )
