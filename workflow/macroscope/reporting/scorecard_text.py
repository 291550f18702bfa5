"""The scorecard as text for a terminal, with a legend of its signs."""

from collections.abc import Sequence

import pandas as pd

from macroscope.missing import Missing
from macroscope.options import READABLE_NAMES
from macroscope.reporting.scorecard import INCONCLUSIVE, LIKE, SIGNS, UNLIKE, WARNING, build_scorecards, format_cell

AT_MATCHED_LENGTH = "at matched length"
"""Title of the row below a system's with its numbers at matched length."""


def render_scorecard(table: pd.DataFrame, missing: Sequence[Missing] = ()) -> str:
    """Render the scorecard as text for a terminal, a block per corpus; see `render_legend` for the signs.

    Critics that failed have a column of their own. Below a system stand its numbers at matched length, if it has any.
    """
    blocks = []
    several = table["corpus"].nunique() > 1
    for scorecard in build_scorecards(table, missing):
        heads = {
            critic: f"{critic} {WARNING}" if critic in scorecard.warned else critic for critic in scorecard.critics
        }
        rows = []
        for heading, systems in scorecard.groups:
            rows += [{"": heading.partition(":")[0] + ":"}] if heading else []
            failed = dict.fromkeys(scorecard.failed, "failed")
            for system in systems:
                rows.append(_render_row(readable_name(system), scorecard.rows[system], heads) | failed)
                if matched := scorecard.at_matched_length(system):
                    rows.append(_render_row(AT_MATCHED_LENGTH, matched, heads))
        block = pd.DataFrame(rows, columns=["", *heads.values(), *scorecard.failed]).fillna("")
        blocks.append((f"{scorecard.corpus}\n" if several else "") + block.to_string(index=False))
    return "\n\n".join(blocks)


def _render_row(title: str, cells: dict[str, pd.Series], heads: dict[str, str]) -> dict[str, str]:
    return {"": title, **{head: format_cell(cells[critic]) for critic, head in heads.items() if critic in cells}}


def readable_name(system: str) -> str:
    """Return the name of a system for readers."""
    return READABLE_NAMES.get(system, system)


def render_legend(margin: float) -> str:
    """Explain the numbers and signs of the scorecard in a terminal."""
    return (
        "Detectability: how often a classifier with the critic's features tells the system's text from a real one;\n"
        f"50 % is chance. {SIGNS[UNLIKE]} unlike real text; {SIGNS[LIKE]} like real text, at most {100 * margin:g}"
        f" points above chance; {SIGNS[INCONCLUSIVE]} inconclusive: too few texts; {WARNING} the critic has a warning."
    )
