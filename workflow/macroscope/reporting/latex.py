"""Tables as LaTeX (booktabs)."""

import re

import pandas as pd

ESCAPES = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "×": r"$\times$",
    "–": "--",
}
SPECIAL = re.compile("|".join(re.escape(character) for character in ESCAPES))


def to_latex(table: pd.DataFrame) -> str:
    """Return a `tabular` of the booktabs package; text is escaped, the first three columns are left-aligned."""
    columns = "l" * min(3, table.shape[1]) + "r" * max(0, table.shape[1] - 3)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _row(table.columns), r"\midrule"]
    lines += [_row(row) for row in table.itertuples(index=False)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def escape(text: str) -> str:
    """Escape what LaTeX would read as a command."""
    return SPECIAL.sub(lambda match: ESCAPES[match.group()], text)


def _row(cells: object) -> str:
    return " & ".join(escape(str(cell)) for cell in cells) + r" \\"  # type: ignore[attr-defined]
